package bustest

import (
	"context"
	"slices"
	"sync"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Journal keeps records in memory, and fails with Err when that is set.
type Journal struct {
	mu      sync.Mutex
	records []hook.Record
	err     error
}

// Append implements bus.Journal.
func (j *Journal) Append(_ context.Context, r hook.Record) (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return 0, j.err
	}
	j.records = append(j.records, r)
	return int64(len(j.records) - 1), nil
}

// Fail makes all further appends fail with err; nil ends that.
func (j *Journal) Fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = err
}

// Records returns what has been appended so far.
func (j *Journal) Records() []hook.Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.records)
}
