package bustest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// Broker is a running NATS server with grapnel's accounts.
type Broker interface {
	// Options returns how to connect as a role.
	Options(r natsd.Role) bus.ConnectOptions
	// Plain connects without any of grapnel's code, as a client that somebody
	// else wrote does.
	Plain(t testing.TB, r natsd.Role) *nats.Conn
}

// Bus is a broker with a gateway on it.
type Bus struct {
	Broker  Broker
	Gateway *bus.Gateway
	Roster  *bus.Roster

	t testing.TB
}

// Start runs a gateway on a broker until the test ends. A nil broker means an
// embedded one in a temporary directory.
func Start(t testing.TB, broker Broker, o *bus.GatewayOptions) *Bus {
	t.Helper()
	if broker == nil {
		broker = Embedded(t, nil)
	}
	b := &Bus{Broker: broker, t: t}
	conn := b.Connect(natsd.Gateway)
	var err error
	b.Roster, err = bus.OpenRoster(t.Context(), conn, nil)
	require.NoError(t, err, "open the roster")
	t.Cleanup(b.Roster.Close)
	b.Gateway, err = bus.NewGateway(conn, b.Roster, o)
	require.NoError(t, err, "make the gateway")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Gateway.Run(ctx) }()
	var once sync.Once
	t.Cleanup(func() {
		once.Do(func() {
			cancel()
			require.NoError(t, <-ended, "run the gateway")
		})
	})
	select {
	case <-b.Gateway.Ready():
	case err := <-ended:
		ended <- err
		require.NoError(t, err, "start the gateway")
	}
	return b
}

// Connect opens a connection as a role, closed when the test ends.
func (b *Bus) Connect(r natsd.Role) *bus.Conn {
	b.t.Helper()
	o := b.Broker.Options(r)
	o.Name = "test " + string(r)
	c, err := bus.Connect(b.t.Context(), o)
	require.NoError(b.t, err, "connect as %s", r)
	b.t.Cleanup(c.Close)
	return c
}

// Decider puts an entry into the roster, and d behind it unless d is nil.
func (b *Bus) Decider(e hook.Entry, d hook.DeciderFunc) {
	b.t.Helper()
	if d != nil {
		s, err := b.Connect(natsd.Decider).Respond(e.Name, d, nil)
		require.NoError(b.t, err, "respond as %s", e.Name)
		b.t.Cleanup(s.Close)
	}
	_, err := b.Roster.Set(b.t.Context(), e)
	require.NoError(b.t, err, "put %s into the roster", e.Name)
}

// Request asks for a verdict as an agent, within ten seconds.
func (b *Bus) Request(e hook.Event) hook.Verdict {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	v, err := b.Connect(natsd.Agent).Request(ctx, e)
	require.NoError(b.t, err, "request %s", e.Key())
	return v
}

// Shell is a pre_tool_use event of a shell command.
func Shell(id, command string) hook.Event {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err) // a map of strings always marshals
	}
	return hook.Event{
		ID: id, Source: "/host/claude-code", Name: hook.PreToolUse, Subject: "Bash", SessionID: "s1", CorrelationID: "turn1",
		Time: time.Now().UTC(),
		Data: hook.Data{CWD: "/home/dev/shop", Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: input, CallID: "call-" + id}},
	}
}

// Says is a decider that always decides the same.
func Says(e hook.Effect, reason string) hook.DeciderFunc {
	return func(context.Context, hook.Event) (hook.Decision, error) {
		return hook.Decision{Effect: e, Reason: reason}, nil
	}
}
