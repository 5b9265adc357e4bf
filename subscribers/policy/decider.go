package policy

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// DeciderOptions are options of a [Decider]; the zero value and nil work.
type DeciderOptions struct {
	Options
	// NoDefault leaves out the policy that ships.
	NoDefault bool
}

// Decider decides by policy files. It reads them when it is made and on
// Reload. It is safe for concurrent use.
type Decider struct {
	files   []string
	options DeciderOptions

	current atomic.Pointer[loaded]
	reload  sync.Mutex // one reload at a time

	mu     sync.Mutex
	health error
}

type loaded struct {
	policy  *Policy
	sources []Source
}

// NewDecider reads and compiles the policy that ships and the given files, in
// this order. It refuses, with an error that wraps [ErrPolicy] or is the file
// system's, when any of it is bad: there is no good policy yet to fall back on.
func NewDecider(files []string, options *DeciderOptions) (*Decider, error) {
	d := &Decider{files: files}
	if options != nil {
		d.options = *options
	}
	d.options.Options = *d.options.withDefaults()
	l, err := d.load()
	if err != nil {
		return nil, err
	}
	d.current.Store(l)
	return d, nil
}

// load reads and compiles everything anew.
func (d *Decider) load() (*loaded, error) {
	l := &loaded{}
	if !d.options.NoDefault {
		l.sources = append(l.sources, DefaultSource())
	}
	for _, file := range d.files {
		content, err := readPolicyFile(file)
		if err != nil {
			return nil, err
		}
		l.sources = append(l.sources, Source{Name: file, Content: content})
	}
	var err error
	l.policy, err = Compile(l.sources, &d.options.Options)
	return l, err
}

func readPolicyFile(file string) ([]byte, error) {
	content, err := readLimited(file, MaxSource)
	if err != nil {
		return nil, fmt.Errorf("policy file %s: %w", file, err)
	}
	if runtime.GOOS != "windows" {
		if err := writableByAll(file); err != nil {
			return nil, err
		}
	}
	return content, nil
}

// Decide implements [hook.Decider] with the policy of the last good load.
func (d *Decider) Decide(ctx context.Context, ev hook.Event) (hook.Decision, error) {
	return d.current.Load().policy.Decide(ctx, ev)
}

// Reload reads and compiles the files again. On an error the policy stays as it
// was, and Health returns the error until a Reload succeeds.
func (d *Decider) Reload(ctx context.Context) error {
	d.reload.Lock()
	defer d.reload.Unlock()
	l, err := d.load()
	if err != nil {
		err = fmt.Errorf("policy not reloaded, the one before stays in force: %w", err)
		d.options.Log.ErrorContext(ctx, "policy: reload failed", slog.Any("error", err))
	} else {
		d.current.Store(l)
		d.options.Log.InfoContext(ctx, "policy: reloaded", slog.String("digest", l.policy.Digest()), slog.Int("rules", len(l.policy.rules)))
	}
	d.mu.Lock()
	d.health = err
	d.mu.Unlock()
	return err
}

// Health is nil while the policy in force is what the files say.
func (d *Decider) Health() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.health
}

// Policy is the policy in force.
func (d *Decider) Policy() *Policy { return d.current.Load().policy }

// Sources are the texts of the policy in force, for [WriteBundle].
func (d *Decider) Sources() []Source { return d.current.Load().sources }
