package edge

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// PeerCheck says how callers of the hook socket are told apart here; empty
// means not at all, and the directory's access list has to do.
const PeerCheck = ""

// listenPrivate makes the socket. The directory inherits the access list of
// the user's profile.
func listenPrivate(path string) (*net.UnixListener, os.FileInfo, error) {
	if !filepath.IsAbs(path) {
		return nil, nil, fmt.Errorf("%w: %s is not an absolute path", ErrUnsafe, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		conn, err := net.Dial("unix", path)
		if err == nil {
			conn.Close()
			return nil, nil, fmt.Errorf("%w: %s", ErrInUse, path)
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, nil, err
		}
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	listener.SetUnlinkOnClose(false)
	info, err := os.Lstat(path)
	if err != nil {
		listener.Close()
		return nil, nil, err
	}
	return listener, info, nil
}

func checkPeer(*net.UnixConn) error { return nil }
