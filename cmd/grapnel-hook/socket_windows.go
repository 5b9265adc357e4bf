package main

import (
	"errors"
	"io"
	"net"
	"path/filepath"
)

func absolute(path string) bool { return filepath.IsAbs(path) }

var errNoPath = errors.New("none of GRAPNEL_SOCKET, XDG_STATE_HOME, HOME and LOCALAPPDATA is set")

// unsafeError is about a socket that somebody else could have put there. On
// Windows that is left to the directory's access list, which the user's
// profile brings along.
type unsafeError struct{ text string }

func (e *unsafeError) Error() string { return e.text }

// connect opens the first socket that answers.
func connect(paths []string) (io.ReadWriteCloser, error) {
	err := errNoPath
	for _, path := range paths {
		var c net.Conn
		if c, err = net.Dial("unix", filepath.FromSlash(path)); err == nil {
			return c, nil
		}
	}
	return nil, err
}
