package natsd

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/grapnel-dev/grapnel/bus"
)

//go:embed accounts.conf
var accounts string

// Accounts returns the server configuration of the accounts, as a broker of
// one's own includes it.
func Accounts() string { return accounts }

// Role is a user that accounts.conf defines.
type Role string

// The roles.
const (
	Agent   Role = "agent"
	Gateway Role = "gateway"
	Decider Role = "decider"
	Runner  Role = "runner"
	Watcher Role = "watcher"
)

// Roles lists the roles.
func Roles() []Role { return []Role{Agent, Gateway, Decider, Runner, Watcher} }

// MaxPayload is what the embedded server takes in one message: an event with
// the largest data that the codec accepts, and its attributes.
const MaxPayload = 12 << 20

// Options tune [Start]. The zero value works.
type Options struct {
	// Listen is a loopback TCP address, "127.0.0.1:0" for any port. Empty
	// listens nowhere.
	Listen string
	// MaxMemory and MaxStore bound JetStream, in bytes. Default to 128 MiB
	// and 4 GiB; NATS itself would take three quarters of memory and disk.
	MaxMemory, MaxStore int64
	// Name shows up in the broker's own reports. Defaults to "grapnel".
	Name string
	// Log gets what the server logs. Defaults to discarding.
	Log *slog.Logger
	// StartTimeout defaults to 10 s.
	StartTimeout time.Duration
}

// Server is a running broker.
type Server struct {
	nats      *server.Server
	lock      *lock
	passwords map[Role]string
	close     sync.Once
	bridge    sync.WaitGroup
	mu        sync.Mutex
	sockets   []net.Listener
	bridged   map[net.Conn]struct{}
}

// Start runs a broker whose store is in dir, which it makes private to this
// user. It returns [ErrLocked] when another process runs on dir.
func Start(ctx context.Context, dir string, o *Options) (*Server, error) {
	if o == nil {
		o = new(Options)
	}
	opts := *o
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.MaxMemory <= 0 {
		opts.MaxMemory = 128 << 20
	}
	if opts.MaxStore <= 0 {
		opts.MaxStore = 4 << 30
	}
	if opts.StartTimeout <= 0 {
		opts.StartTimeout = 10 * time.Second
	}
	if opts.Name == "" {
		opts.Name = "grapnel"
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("start the bus: state directory: %w", err)
	}
	held, err := acquire(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("start the bus: %w", err)
	}
	s := &Server{lock: held, passwords: make(map[Role]string), bridged: make(map[net.Conn]struct{})}
	if err := s.start(ctx, dir, opts); err != nil {
		held.release()
		return nil, fmt.Errorf("start the bus: %w", err)
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, dir string, o Options) error {
	var text strings.Builder
	for _, r := range Roles() {
		secret := make([]byte, 24)
		_, _ = rand.Read(secret)
		// A letter first: the configuration syntax reads bare digits as a number.
		s.passwords[r] = "p" + hex.EncodeToString(secret)
		fmt.Fprintf(&text, "GRAPNEL_%s_PASSWORD: %s\n", strings.ToUpper(string(r)), s.passwords[r])
	}
	text.WriteString(accounts)
	opts := new(server.Options)
	if err := opts.ProcessConfigString(text.String()); err != nil {
		return fmt.Errorf("accounts: %w", err)
	}
	opts.ServerName = o.Name
	opts.DontListen = true
	opts.NoSigs = true // it would exit the process by itself
	opts.JetStream = true
	opts.StoreDir = filepath.Join(dir, "jetstream")
	opts.JetStreamMaxMemory, opts.JetStreamMaxStore = o.MaxMemory, o.MaxStore
	opts.MaxPayload = MaxPayload
	opts.MaxPending = 256 << 20
	if o.Listen != "" {
		host, port, err := loopback(o.Listen)
		if err != nil {
			return err
		}
		opts.DontListen, opts.Host, opts.Port = false, host, port
	}
	ns, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	logger := &logger{log: o.Log, fatal: make(chan string, 1)}
	ns.SetLoggerV2(logger, false, false, false)
	started := make(chan struct{})
	go func() {
		ns.Start()
		close(started)
	}()
	err = awaitReady(ctx, ns, logger, o.StartTimeout)
	if err != nil {
		ns.Shutdown()
		ns.WaitForShutdown()
		<-started
		return err
	}
	s.nats = ns
	return nil
}

// awaitReady returns once the server answers. A server that cannot start only
// tells its logger, and goes on as if nothing were wrong.
func awaitReady(ctx context.Context, ns *server.Server, l *logger, limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; {
		ready := ns.ReadyForConnections(20 * time.Millisecond)
		select {
		case why := <-l.fatal:
			return errors.New(why)
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		switch {
		case ready && ns.JetStreamEnabled():
			return nil
		case ready:
			return fmt.Errorf("the server has no storage: %s", l.lastError())
		case time.Now().After(deadline):
			return fmt.Errorf("the server is not ready after %s: %s", limit, l.lastError())
		}
	}
}

// loopback splits an address and refuses one that others can reach: this
// server has no TLS.
func loopback(address string) (string, int, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("listen address %q: write it as 127.0.0.1:4222: %w", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", 0, fmt.Errorf("listen address %q: the embedded server has no TLS and listens on loopback only; run a NATS server of your own for more (see deploy/nats)", address)
	}
	port, err := strconv.Atoi(portText)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("listen address %q: the port is not a number from 0 to 65535", address)
	}
	if port == 0 {
		port = server.RANDOM_PORT // 0 would mean 4222
	}
	return host, port, nil
}

// Dial opens a connection inside this process; it is a [bus.Dialer].
func (s *Server) Dial() (net.Conn, error) { return s.nats.InProcessConn() }

// URL is where the server listens on TCP; empty when it does not.
func (s *Server) URL() string {
	if s.nats.Addr() == nil {
		return ""
	}
	return "nats://" + s.nats.Addr().String()
}

// Password returns the password of a role; it is another one at each start.
func (s *Server) Password(r Role) string { return s.passwords[r] }

// Connect opens a connection inside this process as the given role. Options
// other than Name and Log are set by it.
func (s *Server) Connect(ctx context.Context, r Role, o bus.ConnectOptions) (*bus.Conn, error) {
	o.Dial, o.User, o.Password, o.URL = s.Dial, string(r), s.passwords[r], ""
	return bus.Connect(ctx, o)
}

// Close stops the server and gives the state directory free. Whatever is
// connected is cut off. It is idempotent.
func (s *Server) Close() {
	s.close.Do(func() {
		s.mu.Lock()
		for _, l := range s.sockets {
			_ = l.Close()
		}
		for c := range s.bridged {
			_ = c.Close()
		}
		s.mu.Unlock()
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
		s.bridge.Wait()
		s.lock.release()
	})
}
