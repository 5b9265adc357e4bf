package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/grapnel-dev/grapnel/internal/redact"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// newRunner starts hook commands through a supervisor of this program.
func newRunner() (*process.Runner, error) {
	// On Linux this process's own file, also after another one has taken its
	// path: both ends must be of one version.
	self := "/proc/self/exe"
	if runtime.GOOS != "linux" {
		var err error
		if self, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
	}
	return process.New(&process.Options{Supervisor: []string{self, superviseCommand}}), nil
}

func (d *daemon) openHooks(ctx context.Context) error {
	if len(d.config.Hooks) == 0 && len(d.config.Dialects) == 0 {
		return nil
	}
	runner, err := newRunner()
	if err != nil {
		return err
	}
	d.runner = runner
	d.onStop(func() { _ = runner.Close() })
	confinement, err := runner.Check(ctx)
	if err != nil {
		return fmt.Errorf("hook commands cannot be run here: %w", err)
	}
	d.log.Info("daemon: hook commands", "confinement", string(confinement))
	for _, h := range d.config.Hooks {
		c, err := command.New(h, &command.Options{Runner: runner, Trace: d.traces.add})
		if err != nil {
			return fail(exitUsage, "mend the hook's configuration; `grapnel hooks list` shows all of them", err)
		}
		d.hooks = append(d.hooks, c)
	}
	return nil
}

// maxTraces bounds what the daemon remembers of hook commands' runs.
const maxTraces = 512

// traces remembers the last runs of hook commands, without secrets, and tells
// who follows them.
type traces struct {
	redactor *redact.Redactor

	mu   sync.Mutex
	last []command.Execution
}

func (t *traces) add(x command.Execution) {
	x = cleanTrace(t.redactor, x)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last = append(t.last, x); len(t.last) > maxTraces {
		t.last = t.last[1:]
	}
}

// list returns the last runs, oldest first.
func (t *traces) list() []command.Execution {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]command.Execution(nil), t.last...)
}
