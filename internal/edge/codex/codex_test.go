package codex_test

import (
	"testing"

	"github.com/grapnel-dev/grapnel/internal/edge/codex"
	"github.com/grapnel-dev/grapnel/internal/edge/codex/codextest"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{
		Agent: codex.New(), Payloads: []string{"testdata/written", "testdata/recorded"}, Client: codextest.Run, Golden: "testdata",
	}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }
