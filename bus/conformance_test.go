package bus_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/bus/bustest"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformanceInProcess(t *testing.T) {
	t.Parallel()
	bustest.Run(t, func(t testing.TB) bustest.Broker { return bustest.Embedded(t, nil) })
}

func TestConformanceOverTCP(t *testing.T) {
	t.Parallel()
	bustest.Run(t, func(t testing.TB) bustest.Broker {
		return bustest.Embedded(t, &natsd.Options{Listen: "127.0.0.1:0"})
	})
}
