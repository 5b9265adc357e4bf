package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
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
	if len(d.config.Hooks) == 0 {
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

// openHandlers gives hooks that want notification events their place.
func (d *daemon) openHandlers(ctx context.Context) error {
	for _, h := range d.hooks {
		if !wantsClass(h.Hook(), false) {
			continue
		}
		handler, err := conditional(h)
		if err != nil {
			return err
		}
		conn, err := d.connection(ctx, natsd.Runner, "handler "+h.Hook().Name)
		if err != nil {
			return err
		}
		s, err := conn.Consume(ctx, h.Hook().Name, handler, &bus.ConsumeOptions{Filter: h.Entry().Filter})
		if err != nil {
			return err
		}
		d.onStop(func() {
			drain, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			s.Drain(drain)
		})
	}
	return nil
}

// conditional keeps events from a hook for which its When does not hold; one
// that cannot be evaluated does.
func conditional(c *command.Command) (hook.Handler, error) {
	if c.Hook().When == "" {
		return c, nil
	}
	when, err := policy.CompileWhen(c.Hook().When)
	if err != nil {
		return nil, fmt.Errorf("hook %s: when: %w", c.Hook().Name, err)
	}
	return hook.HandlerFunc(func(ctx context.Context, e hook.Event) error {
		if yes, err := when(e); err == nil && !yes {
			return nil
		}
		return c.Handle(ctx, e)
	}), nil
}

// maxTraces bounds what the daemon remembers of hook commands' runs.
const maxTraces = 512

// traces remembers the last runs of hook commands and tells who follows them.
type traces struct {
	mu   sync.Mutex
	last []command.Execution
}

func (t *traces) add(x command.Execution) {
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
