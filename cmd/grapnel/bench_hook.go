package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

func (a *app) benchHookCommand() *cobra.Command {
	n := 300
	noop, agent := "", hookwire.ClaudeCode
	c := &cobra.Command{
		Use:   "hook",
		Short: "The hook program, from its start to its exit",
		Long: `Run the hook program from process start to exit, with policy, audit log on disk
and verdict, interleaved with a Go program that does nothing. Needs the Go
tool to build that one, unless --noop names it.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			agents := []string{agent}
			if agent == "all" {
				agents = edge.Agents()
			}
			a.measuring("the hook program, " + fmt.Sprint(n) + " runs for each agent")
			list, err := a.benchHook(c.Context(), n, noop, agents)
			if err != nil {
				return err
			}
			return a.printComparisons(list)
		},
	}
	c.Flags().IntVarP(&n, "runs", "n", n, "how often to run each")
	c.Flags().StringVar(&agent, "agent", agent, "the `agent` whose hook is run, or all of them one after another")
	c.Flags().StringVar(&noop, "noop", "", "`path` of a program that does nothing")
	return c
}

func (a *app) benchHook(ctx context.Context, n int, noop string, agents []string) ([]*comparison, error) {
	dir, err := os.MkdirTemp("", "grapnel-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if noop == "" {
		if noop, err = buildNoop(ctx, dir); err != nil {
			return nil, err
		}
	}
	shim, err := findShim(ctx, dir)
	if err != nil {
		return nil, err
	}
	d, err := startTemporary(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer d.stop()
	run := func(stdin []byte, program string, args ...string) (time.Duration, error) {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Env = []string{"GRAPNEL_SOCKET=" + d.paths.socket, "HOME=" + dir}
		cmd.Stdin = bytes.NewReader(stdin)
		begin := time.Now()
		_, err := cmd.Output()
		return time.Since(begin), err
	}
	var list []*comparison
	for _, agent := range agents {
		c := &comparison{
			Yardstick: series{Name: "a Go program that does nothing"},
			Measured:  series{Name: "grapnel-hook " + agent + ": policy, audit on disk, verdict"}, Target: 2.0,
		}
		records := d.journal.Size()
		for range n {
			// A call of its own each time: the same one twice is decided once.
			call, ok := canaryOf(agent, "go test ./... && git status")
			if !ok {
				return nil, unknownAgent(agent)
			}
			stdin := mustJSON(call.payload)
			took, err := run(stdin, noop)
			if err != nil {
				return nil, fmt.Errorf("run %s: %w", noop, err)
			}
			c.Yardstick.add(took)
			if took, err = run(stdin, shim, agent, call.event); err != nil {
				return nil, fmt.Errorf("run %s: %w", shim, err)
			}
			c.Measured.add(took)
		}
		if got := d.journal.Size() - records; got < int64(n) {
			return nil, fmt.Errorf("%d of %d verdicts for %s are on record", got, n, agent)
		}
		list = append(list, c)
	}
	return list, nil
}

func buildNoop(ctx context.Context, dir string) (string, error) {
	source := filepath.Join(dir, "noop.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return "", err
	}
	return goBuild(ctx, filepath.Join(dir, "noop"+executableSuffix), source)
}

// findShim is the hook program beside this one; under `go run` there is none,
// and it is built.
func findShim(ctx context.Context, dir string) (string, error) {
	if shim, err := sibling("grapnel-hook"); err == nil && exists(shim) {
		return shim, nil
	}
	return goBuild(ctx, filepath.Join(dir, "grapnel-hook"+executableSuffix), "github.com/grapnel-dev/grapnel/cmd/grapnel-hook")
}

func goBuild(ctx context.Context, output, what string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", output, what)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fail(exitFailed, "the Go tool is needed to build it; --noop and a grapnel-hook beside this program do without", fmt.Errorf("build %s: %w: %s", what, err, oneLine(string(out), 300)))
	}
	return output, nil
}

// startTemporary is a bus of its own in dir, with nothing configured.
func startTemporary(ctx context.Context, dir string) (*daemon, error) {
	d := &daemon{log: slog.New(slog.DiscardHandler)}
	d.paths = paths{state: filepath.Join(dir, "s"), config: filepath.Join(dir, "grapnel.yaml"), socket: filepath.Join(dir, "r", "hook.sock")}
	return d, d.start(ctx)
}
