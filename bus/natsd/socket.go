package natsd

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
)

// ServeUnix lets other processes of this user connect through a unix socket
// at path, until the server closes: NATS has no listener of that kind, so each
// connection is joined to one inside the process. The directory must be this
// user's own and is made private; a socket left behind by a dead process is
// replaced. Credentials are still needed.
func (s *Server) ServeUnix(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("bus socket: %w", err)
	}
	// The state directory's lock says that no other process serves this path.
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return fmt.Errorf("bus socket: %s is there and no socket; move it away", path)
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("bus socket: %w", err)
		}
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("bus socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = listener.Close()
		return fmt.Errorf("bus socket: %w", err)
	}
	s.mu.Lock()
	s.sockets = append(s.sockets, listener)
	s.mu.Unlock()
	s.bridge.Go(func() {
		for {
			outside, err := listener.Accept()
			if err != nil {
				return
			}
			s.bridge.Go(func() { s.join(outside) })
		}
	})
	return nil
}

// join copies between a client's connection and one inside the process until
// either ends.
func (s *Server) join(outside net.Conn) {
	inside, err := s.nats.InProcessConn()
	if err != nil {
		_ = outside.Close()
		return
	}
	s.mu.Lock()
	s.bridged[outside] = struct{}{}
	s.mu.Unlock()
	s.bridge.Go(func() {
		_, _ = io.Copy(inside, outside)
		_ = inside.Close()
		_ = outside.Close()
	})
	_, _ = io.Copy(outside, inside)
	_ = outside.Close()
	_ = inside.Close()
	s.mu.Lock()
	delete(s.bridged, outside)
	s.mu.Unlock()
}
