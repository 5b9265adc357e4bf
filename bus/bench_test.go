package bus_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/bustest"
	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// BenchmarkVerdict is the gateway's gather alone; `grapnel bench gather` puts
// it beside plain NATS.
func BenchmarkVerdict(b *testing.B) {
	for _, deciders := range []int{0, 1, 4, 16} {
		b.Run(fmt.Sprint(deciders), func(b *testing.B) {
			bench := bustest.Start(b, nil, nil)
			for i := range deciders {
				bench.Decider(hook.Entry{Name: fmt.Sprint("d", i)}, bustest.Says(hook.Abstain, ""))
			}
			e := bustest.Shell("bench", "go test ./... && git status")
			raw, err := cloudevent.EncodeData(e)
			require.NoError(b, err)
			e.Raw = raw
			ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
			defer cancel()
			for b.Loop() {
				if v := bench.Gateway.Verdict(ctx, e); v.Effect != hook.Abstain {
					b.Fatalf("verdict %+v", v)
				}
			}
		})
	}
}

// BenchmarkRequest is an agent's whole request, nothing recorded.
func BenchmarkRequest(b *testing.B) {
	bench := bustest.Start(b, nil, nil)
	agent := bench.Connect(natsd.Agent)
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	b.RunParallel(func(pb *testing.PB) {
		e := bustest.Shell("bench", "go test ./... && git status")
		for pb.Next() {
			e.ID = rand.Text() // the same call twice is decided once
			if _, err := agent.Request(ctx, e); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
