//go:build unix

package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
)

// BenchmarkStartToExit measures the shim from process start to exit, with a
// daemon that reads the event and answers at once, beside a Go program that
// does nothing. The two take turns, so that the machine is the same for both.
// Run it with -benchtime 300x or more; the numbers are p50 and p99 of each in
// microseconds and the ratios between them.
func BenchmarkStartToExit(b *testing.B) {
	dir := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o600))
	nothing := filepath.Join(dir, "nothing")
	out, err := exec.Command("go", "build", "-o", nothing, filepath.Join(dir, "main.go")).CombinedOutput()
	require.NoError(b, err, string(out))

	s := newShim(b, "PreToolUse")
	e := edge.New(bus(func(e hook.Event) hook.Verdict { return hook.Verdict{EventID: e.ID} }), nil)
	server, err := edge.Listen(s.path, e, nil)
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()

	stdin := filepath.Join(dir, "stdin")
	require.NoError(b, os.WriteFile(stdin, fmt.Appendf(nil, payload, "PreToolUse"), 0o600))
	environment := []string{"GRAPNEL_SOCKET=" + s.path, "HOME=/tmp", "PATH=/usr/bin:/bin"}
	start := func(path string, args ...string) time.Duration {
		in, err := os.Open(stdin)
		require.NoError(b, err)
		defer in.Close()
		begin := time.Now()
		process, err := os.StartProcess(path, append([]string{path}, args...), &os.ProcAttr{Env: environment, Files: []*os.File{in, nil, nil}})
		require.NoError(b, err)
		state, err := process.Wait()
		took := time.Since(begin)
		require.NoError(b, err)
		require.Zero(b, state.ExitCode())
		return took
	}
	var base, shim []time.Duration
	for b.Loop() {
		base = append(base, start(nothing))
		shim = append(shim, start(s.self, "claude-code", "PreToolUse"))
	}
	cancel()
	require.NoError(b, <-stopped)
	e.Close()
	for _, q := range []struct {
		name string
		of   float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		at := func(times []time.Duration) float64 {
			slices.Sort(times)
			return float64(times[int(float64(len(times)-1)*q.of)].Microseconds())
		}
		b.ReportMetric(at(base), "nothing-"+q.name+"-µs")
		b.ReportMetric(at(shim), "shim-"+q.name+"-µs")
		b.ReportMetric(at(shim)/at(base), "ratio-"+q.name)
	}
}
