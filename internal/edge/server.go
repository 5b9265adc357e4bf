package edge

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// The defaults of [ListenOptions].
const (
	DefaultMaxConns  = 256
	DefaultReadTime  = 5 * time.Second
	DefaultWriteTime = 5 * time.Second
	DefaultDrainTime = 5 * time.Second
)

// ListenOptions tune a Server. Every field has a default.
type ListenOptions struct {
	// MaxConns is how many calls may be under way; more wait in the socket's
	// backlog.
	MaxConns int
	// ReadTime is how long a caller may take to send its frame.
	ReadTime time.Duration
	// WriteTime is how long a caller may take to read its answer.
	WriteTime time.Duration
	// DrainTime is how long calls under way may take to end when the server
	// stops; then they are answered as failures.
	DrainTime time.Duration
	// Log takes refused callers; the default discards.
	Log *slog.Logger
}

// Errors of [Listen].
var (
	// ErrInUse says that somebody answers on the socket already.
	ErrInUse = errors.New("another daemon answers on the hook socket")
	// ErrUnsafe says that somebody else could reach or replace the socket.
	ErrUnsafe = errors.New("the hook socket's place is not private")
)

// Server answers hook calls on a unix socket.
type Server struct {
	edge     *Edge
	path     string
	listener *net.UnixListener
	file     os.FileInfo // the socket that this server made
	options  ListenOptions
	slots    chan struct{}
	conns    sync.WaitGroup
	stop     sync.Once
	stopped  chan struct{}
}

// Listen makes the hook socket at path, with mode 0600 in a directory that is
// its owner's alone, and takes the place of a socket that nobody answers on.
// Options may be nil. The error wraps [ErrInUse] or [ErrUnsafe], or is the
// system's. The caller must [Server.Run] or [Server.Close] the server; the
// edge stays the caller's.
func Listen(path string, edge *Edge, options *ListenOptions) (*Server, error) {
	var o ListenOptions
	if options != nil {
		o = *options
	}
	if o.MaxConns <= 0 {
		o.MaxConns = DefaultMaxConns
	}
	if o.ReadTime <= 0 {
		o.ReadTime = DefaultReadTime
	}
	if o.WriteTime <= 0 {
		o.WriteTime = DefaultWriteTime
	}
	if o.DrainTime <= 0 {
		o.DrainTime = DefaultDrainTime
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	listener, info, err := listenPrivate(path)
	if err != nil {
		return nil, err
	}
	return &Server{
		edge: edge, path: path, listener: listener, file: info, options: o,
		slots: make(chan struct{}, o.MaxConns), stopped: make(chan struct{}),
	}, nil
}

// Path returns where the socket is.
func (s *Server) Path() string { return s.path }

// Run answers calls until ctx ends or the server is closed. It then takes no
// more, gives those under way the drain time, and returns when all have been
// answered. The error is that of the socket, if it failed by itself.
func (s *Server) Run(ctx context.Context) error {
	defer s.Close()
	defer context.AfterFunc(ctx, s.shut)()
	// Calls get a context of their own, so that they may end in peace.
	working, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	var failed error
	for {
		select {
		case s.slots <- struct{}{}:
		case <-s.stopped:
		}
		conn, err := s.listener.AcceptUnix()
		if err == nil {
			s.conns.Go(func() {
				defer func() { <-s.slots }()
				s.serve(working, conn)
			})
			continue
		}
		select {
		case <-s.stopped:
		default:
			if again(err) {
				<-s.slots
				continue
			}
			failed = err
			s.shut()
		}
		break
	}
	drained := time.AfterFunc(s.options.DrainTime, func() { cancel(errStopping) })
	defer drained.Stop()
	s.conns.Wait()
	return failed
}

var errStopping = errors.New("the daemon is stopping")

// Close stops the server and removes its socket; Run then returns. It does not
// wait. Closing twice does no harm.
func (s *Server) Close() { s.shut() }

func (s *Server) shut() {
	s.stop.Do(func() {
		close(s.stopped)
		// A socket that somebody else put there since stays.
		if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.file) {
			os.Remove(s.path)
		}
		s.listener.Close()
	})
}

// again reports whether accepting may be tried again: the process is short of
// something, or the caller went away.
func again(err error) bool {
	var temporary interface{ Temporary() bool }
	return errors.As(err, &temporary) && temporary.Temporary()
}

// serve answers one call.
func (s *Server) serve(ctx context.Context, conn *net.UnixConn) {
	defer conn.Close()
	if err := checkPeer(conn); err != nil {
		s.options.Log.WarnContext(ctx, "edge: caller refused", slog.Any("error", err))
		return
	}
	conn.SetReadDeadline(time.Now().Add(s.options.ReadTime))
	request, err := hookwire.ReadRequest(conn)
	if err != nil {
		if errors.Is(err, io.EOF) {
			return // somebody asked whether we are there
		}
		s.options.Log.WarnContext(ctx, "edge: frame refused", slog.Any("error", err))
		s.write(ctx, conn, hookwire.AppendRefusal(nil, err.Error()))
		return
	}
	answer := s.edge.Decide(ctx, request)
	frame, err := hookwire.AppendResponse(nil, answer)
	if err != nil {
		frame = hookwire.AppendRefusal(nil, "the answer does not fit: "+err.Error())
	}
	s.write(ctx, conn, frame)
}

func (s *Server) write(ctx context.Context, conn *net.UnixConn, frame []byte) {
	conn.SetWriteDeadline(time.Now().Add(s.options.WriteTime))
	if _, err := conn.Write(frame); err != nil {
		s.options.Log.WarnContext(ctx, "edge: the caller did not take its answer", slog.Any("error", err))
	}
}
