package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

func (a *app) benchHookCommand() *cobra.Command {
	n := 300
	noop := ""
	c := &cobra.Command{
		Use:   "hook",
		Short: "The hook program, from its start to its exit",
		Long: `Run the hook program from process start to exit, with policy, audit log on disk
and verdict, interleaved with a Go program that does nothing. Needs the Go
tool to build that one, unless --noop names it.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			a.measuring("the hook program, " + fmt.Sprint(n) + " runs")
			list, err := a.benchHook(c.Context(), n, noop)
			if err != nil {
				return err
			}
			return a.printComparisons(list)
		},
	}
	c.Flags().IntVarP(&n, "runs", "n", n, "how often to run each")
	c.Flags().StringVar(&noop, "noop", "", "`path` of a program that does nothing")
	return c
}

func (a *app) benchHook(ctx context.Context, n int, noop string) ([]*comparison, error) {
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
	payload := func() []byte {
		return mustJSON(map[string]any{
			"session_id": "bench", "cwd": dir, "hook_event_name": "PreToolUse", "permission_mode": "default", "tool_name": "Bash",
			"tool_input":  map[string]string{"command": "go test ./... && git status", "description": "run the tests"},
			"tool_use_id": rand.Text(), // the same call twice is decided once
		})
	}
	run := func(program string, args ...string) (time.Duration, error) {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Env = []string{"GRAPNEL_SOCKET=" + d.paths.socket, "HOME=" + dir}
		cmd.Stdin = bytes.NewReader(payload())
		begin := time.Now()
		out, err := cmd.Output()
		took := time.Since(begin)
		if err == nil && len(args) > 0 && len(out) == 0 {
			err = fmt.Errorf("%s gave no answer", program)
		}
		return took, err
	}
	c := &comparison{
		Yardstick: series{Name: "a Go program that does nothing"},
		Measured:  series{Name: "grapnel-hook: policy, audit on disk, verdict"}, Target: 2.0,
	}
	records := d.journal.Size()
	for range n {
		took, err := run(noop)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", noop, err)
		}
		c.Yardstick.add(took)
		if took, err = run(shim, hookwire.ClaudeCode, "PreToolUse"); err != nil {
			return nil, fmt.Errorf("run %s: %w", shim, err)
		}
		c.Measured.add(took)
	}
	if got := d.journal.Size() - records; got < int64(n) {
		return nil, fmt.Errorf("%d of %d verdicts are on record", got, n)
	}
	return []*comparison{c}, nil
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
