//go:build !linux

package process

import (
	"context"
	"errors"
	"log/slog"
)

// pool has nothing to keep where there is no supervision.
type pool struct{}

func newPool(Options, *slog.Logger) *pool { return &pool{} }

func (*pool) close() {}

func (*pool) check() (Confinement, error) { return weakest, nil }

func (r *Runner) start(_ context.Context, s Spec, theirs files, tag string) (*child, error) {
	return startDirect(s, theirs, tag)
}

// noSandbox is why runs without a supervisor have none.
const noSandbox = "only Linux has sandboxes"

// privateTemp gives the command nothing: there is no sandbox.
func (r *Runner) privateTemp(*Spec) (remove func(), err error) { return func() {}, nil }

// Supervise is for Linux alone.
func Supervise() error { return errors.New("supervision of commands needs Linux") }
