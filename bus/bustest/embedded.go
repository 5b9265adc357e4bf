package bustest

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// Embedded starts an embedded broker in a temporary directory, stopped when
// the test ends. With Listen set in o, connections are made over TCP.
func Embedded(t testing.TB, o *natsd.Options) Broker {
	t.Helper()
	s, err := natsd.Start(t.Context(), t.TempDir(), o)
	require.NoError(t, err, "start an embedded broker")
	t.Cleanup(s.Close)
	return embedded{s}
}

type embedded struct{ server *natsd.Server }

func (e embedded) Options(r natsd.Role) bus.ConnectOptions {
	o := bus.ConnectOptions{User: string(r), Password: e.server.Password(r), URL: e.server.URL()}
	if o.URL == "" {
		o.Dial = e.server.Dial
	}
	return o
}

func (e embedded) Plain(t testing.TB, r natsd.Role) *nats.Conn {
	t.Helper()
	return plain(t, e.Options(r))
}

// plain uses nats.go alone.
func plain(t testing.TB, o bus.ConnectOptions) *nats.Conn {
	t.Helper()
	opts := []nats.Option{nats.UserInfo(o.User, o.Password), nats.CustomInboxPrefix("_INBOX_" + o.User),
		// Violations are what some tests are about; the default prints them.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}
	if o.Dial != nil {
		opts = append(opts, nats.InProcessServer(provider(o.Dial)))
	}
	nc, err := nats.Connect(o.URL, opts...)
	require.NoError(t, err, "connect with plain nats.go as %s", o.User)
	t.Cleanup(nc.Close)
	return nc
}
