package httpedge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// The limits of a [Server].
const (
	// MaxConns is how many connections there may be at a time; more wait.
	MaxConns = 256
	// drainTime is how long requests under way may take to end.
	drainTime = 5 * time.Second
)

// ErrAddress says that the endpoint would be reachable from elsewhere.
var ErrAddress = errors.New("hooks over HTTP are for this machine alone; listen on a loopback address such as 127.0.0.1:7421")

// Server is a listener with a handler.
type Server struct {
	listener net.Listener
	server   *http.Server
}

// Listen binds a loopback address, "host:port" with an IP address; port 0 takes
// a free one. The error wraps [ErrAddress] or is the system's. The caller must
// [Server.Run] the server.
func Listen(ctx context.Context, address string, h http.Handler) (*Server, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%w: %s is none", ErrAddress, address)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &Server{listener: netutil.LimitListener(l, MaxConns), server: &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 40 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
	}}, nil
}

// Addr is the address that was bound.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Run answers until ctx ends, and then what is under way.
func (s *Server) Run(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- s.server.Serve(s.listener) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	err := s.server.Shutdown(drain)
	if err != nil {
		err = errors.Join(err, s.server.Close())
	}
	<-done
	return err
}
