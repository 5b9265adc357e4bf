package bustest

import (
	"net"

	"github.com/grapnel-dev/grapnel/bus"
)

// provider makes a dialer what nats.go wants for in-process servers.
type provider bus.Dialer

func (p provider) InProcessConn() (net.Conn, error) { return p() }
