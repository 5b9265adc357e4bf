//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
)

// absolute reports whether a path does not depend on the working directory.
func absolute(path string) bool { return strings.HasPrefix(path, "/") }

var errNoPath = errors.New("none of GRAPNEL_SOCKET, XDG_RUNTIME_DIR, XDG_STATE_HOME and HOME is set")

// unsafeError is about a socket that somebody else could have put there.
type unsafeError struct{ text string }

func (e *unsafeError) Error() string { return e.text }

// connect opens the first socket that answers. An error that is no
// [unsafeError] means that nobody listens.
func connect(paths []string) (io.ReadWriteCloser, error) {
	err := errNoPath
	for _, path := range paths {
		var c socket
		if c, err = dial(path); err == nil {
			return c, nil
		}
		if unsafe := (*unsafeError)(nil); errors.As(err, &unsafe) {
			return nil, err
		}
	}
	return nil, err
}

// dial talks to the kernel itself: the net package would start its poller and
// a thread for it, which costs more than the whole exchange.
func dial(path string) (socket, error) {
	if err := private(path); err != nil {
		return -1, err
	}
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return -1, err
	}
	for {
		err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EISCONN) {
		err = nil
	}
	if err != nil {
		syscall.Close(fd)
		return -1, &os.PathError{Op: "connect", Path: path, Err: err}
	}
	return socket(fd), nil
}

// private sees to it that nobody else could have made the socket.
func private(path string) error {
	dir := path
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		dir = path[:i]
	}
	for _, p := range []struct {
		path, what string
		kind       uint32
	}{{dir, "the directory", syscall.S_IFDIR}, {path, "the socket", syscall.S_IFSOCK}} {
		var st syscall.Stat_t
		if err := syscall.Lstat(p.path, &st); err != nil {
			return &os.PathError{Op: "lstat", Path: p.path, Err: err}
		}
		switch mode := uint32(st.Mode); {
		case mode&syscall.S_IFMT != p.kind:
			return &unsafeError{p.what + " of the hook socket, " + p.path + ", is something else; remove it and run `grapnel up`"}
		case int(st.Uid) != os.Geteuid():
			return &unsafeError{p.what + " of the hook socket, " + p.path + ", belongs to another user"}
		case mode&0o077 != 0:
			return &unsafeError{p.what + " of the hook socket, " + p.path + ", is open to other users; run chmod go-rwx on it"}
		}
	}
	return nil
}

// socket is a connected stream socket in blocking mode.
type socket int

func (s socket) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(s), b)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (s socket) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := syscall.Write(int(s), b[done:])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

func (s socket) Close() error { return syscall.Close(int(s)) }
