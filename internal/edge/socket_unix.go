//go:build unix

package edge

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// maxPath is the longest path of a socket on all systems, in bytes.
const maxPath = 103 - len(".new")

// listenPrivate makes the socket in a directory that nobody else can enter.
func listenPrivate(path string) (*net.UnixListener, os.FileInfo, error) {
	if !filepath.IsAbs(path) {
		return nil, nil, fmt.Errorf("%w: %s is not an absolute path", ErrUnsafe, path)
	}
	if len(path) > maxPath {
		return nil, nil, fmt.Errorf("the hook socket's path has %d bytes, at most %d: %s; choose a shorter one with --socket", len(path), maxPath, path)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, nil, err
	}
	if err := checkPrivate(dir, os.ModeDir); err != nil {
		return nil, nil, err
	}
	if err := clearStale(path); err != nil {
		return nil, nil, err
	}
	// It is made beside its place and moved there, so that no caller meets a
	// socket that is not private yet.
	made := path + ".new"
	if err := clearStale(made); err != nil {
		return nil, nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	// The file is removed by hand, and only if it is still this one.
	listener.SetUnlinkOnClose(false)
	info, err := place(made, path)
	if err != nil {
		listener.Close()
		os.Remove(made)
		return nil, nil, err
	}
	return listener, info, nil
}

func place(made, path string) (os.FileInfo, error) {
	if err := os.Chmod(made, 0o600); err != nil {
		return nil, err
	}
	if err := checkPrivate(made, os.ModeSocket); err != nil {
		return nil, err
	}
	if err := os.Rename(made, path); err != nil {
		return nil, err
	}
	return os.Lstat(path)
}

// checkPrivate wraps [ErrUnsafe] unless path is of that kind, ours, and closed
// to everybody else. A symbolic link is neither.
func checkPrivate(path string, kind os.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Type() != kind:
		return fmt.Errorf("%w: %s is a %s; remove it", ErrUnsafe, path, info.Mode().Type())
	case !ok || int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("%w: %s belongs to another user", ErrUnsafe, path)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%w: %s is open to other users (mode %04o); run chmod go-rwx %s", ErrUnsafe, path, info.Mode().Perm(), path)
	}
	return nil
}

// clearStale removes a socket on which nobody answers.
func clearStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("%w: %s is no socket; remove it", ErrUnsafe, path)
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		conn.Close()
		return fmt.Errorf("%w: %s; `grapnel status` shows it, `grapnel down` stops it", ErrInUse, path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}
