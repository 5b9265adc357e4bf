package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Errors that callers tell apart.
var (
	// ErrNoGateway means that nobody answers events: no gateway is running
	// where this connection leads.
	ErrNoGateway = errors.New("no gateway is listening on the bus")
	// ErrDisconnected means that the connection to the broker is down.
	ErrDisconnected = errors.New("the connection to the bus is down")
	// ErrForbidden means that the broker refused a subject to this user.
	ErrForbidden = errors.New("the broker does not permit this")
	// ErrRefused means that the gateway did not take the event; the error says
	// why.
	ErrRefused = errors.New("the gateway refused the event")
	// ErrVerdict means that an answer came which is no valid verdict for the
	// event.
	ErrVerdict = errors.New("the answer is no valid verdict for this event")
)

// Dialer opens a connection to a broker that is not reached by URL: one in
// this process, or behind a unix socket.
type Dialer func() (net.Conn, error)

// ConnectOptions say where the broker is and who we are there.
type ConnectOptions struct {
	// Name shows up in the broker's connection list; use the part of the
	// program that connects ("edge", "decider policy").
	Name string
	// URL of the broker; ignored when Dial is set.
	URL string
	// Dial connects in another way.
	Dial Dialer
	// User and Password, or the path of a credentials file.
	User, Password, CredentialsFile string
	// RootCA is the path of a PEM file to trust for TLS, besides none.
	RootCA string
	// Timeout for connecting. Defaults to 5 s.
	Timeout time.Duration
	// Log defaults to discarding.
	Log *slog.Logger
}

// Conn is a connection to the bus. All methods may be called concurrently.
type Conn struct {
	nc   *nats.Conn
	js   jetstream.JetStream
	log  *slog.Logger
	user string

	mu     sync.Mutex
	failed map[chan<- error]struct{}        // who wants to hear of a broken or refused connection
	blobs  map[string]jetstream.ObjectStore // by bucket
}

// Connect opens a connection. It fails rather than retrying when the broker
// cannot be reached at first; later it reconnects by itself, and calls made in
// between fail at once with [ErrDisconnected].
func Connect(ctx context.Context, o ConnectOptions) (*Conn, error) {
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	if deadline, ok := ctx.Deadline(); ok {
		o.Timeout = min(o.Timeout, max(time.Until(deadline), time.Millisecond))
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Conn{log: o.Log, user: o.User, failed: make(map[chan<- error]struct{}), blobs: make(map[string]jetstream.ObjectStore)}
	opts := []nats.Option{
		nats.Name(o.Name),
		nats.Timeout(o.Timeout),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(100 * time.Millisecond),
		// A request that sits in a buffer until the broker is back is an
		// answer that comes too late.
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			c.fail(ErrDisconnected)
			if err != nil {
				c.log.Warn("bus: disconnected", "connection", o.Name, "error", err)
			}
		}),
		nats.ClosedHandler(func(*nats.Conn) { c.fail(ErrDisconnected) }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				c.fail(fmt.Errorf("%w: %w", ErrForbidden, err))
			}
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			c.log.Error("bus: broker reported an error", "connection", o.Name, "subject", subject, "error", err)
		}),
	}
	if o.User != "" {
		// Everybody listens under a prefix of their own, never _INBOX.>:
		// who may subscribe to that could read all replies.
		opts = append(opts, nats.UserInfo(o.User, o.Password), nats.CustomInboxPrefix(InboxPrefix(o.User)))
	}
	if o.CredentialsFile != "" {
		opts = append(opts, nats.UserCredentials(o.CredentialsFile))
	}
	if o.RootCA != "" {
		opts = append(opts, nats.RootCAs(o.RootCA))
	}
	url := o.URL
	if o.Dial != nil {
		opts = append(opts, nats.InProcessServer(dialProvider(o.Dial)))
		url = ""
	}
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		return nil, fmt.Errorf("connect to the bus as %q: %w", o.User, err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("connect to the bus: %w", err)
	}
	c.nc, c.js = nc, js
	return c, nil
}

// InboxPrefix is the prefix of the reply subjects of a user.
func InboxPrefix(user string) string { return "_INBOX_" + user }

// Connected reports whether the broker is reachable right now.
func (c *Conn) Connected() bool { return c.nc.IsConnected() }

// Close closes the connection at once. Subscriptions are best closed before.
// It is idempotent.
func (c *Conn) Close() { c.nc.Close() }

// flush waits until the broker has seen all that was sent, ctx's deadline or
// five seconds at most.
func (c *Conn) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return c.nc.FlushWithContext(ctx)
}

// fail tells everyone who waits on this connection.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ch := range c.failed {
		select {
		case ch <- err:
		default:
		}
	}
}

// failures returns a channel on which the next failure of the connection
// arrives, and a function to stop listening.
func (c *Conn) failures() (<-chan error, func()) {
	ch := make(chan error, 1)
	c.mu.Lock()
	c.failed[ch] = struct{}{}
	c.mu.Unlock()
	return ch, func() {
		c.mu.Lock()
		delete(c.failed, ch)
		c.mu.Unlock()
	}
}

// dialProvider makes a Dialer what nats.go wants for in-process servers.
type dialProvider Dialer

// InProcessConn implements nats.InProcessConnProvider.
func (d dialProvider) InProcessConn() (net.Conn, error) { return d() }
