package bustest

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// External is a broker that runs elsewhere, with these passwords.
func External(url string, passwords map[natsd.Role]string) Broker { return external{url, passwords} }

type external struct {
	url       string
	passwords map[natsd.Role]string
}

func (e external) Options(r natsd.Role) bus.ConnectOptions {
	return bus.ConnectOptions{URL: e.url, User: string(r), Password: e.passwords[r]}
}

func (e external) Plain(t testing.TB, r natsd.Role) *nats.Conn {
	t.Helper()
	return plain(t, e.Options(r))
}
