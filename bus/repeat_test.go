package bus_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/bustest"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// counted is a bus whose one decider counts how often it is asked.
func counted(t *testing.T, entry hook.Entry, d hook.Decision) (*bustest.Bus, *atomic.Int64, *memoryJournal) {
	t.Helper()
	j := &memoryJournal{}
	b := bustest.Start(t, nil, &bus.GatewayOptions{Journal: j})
	var asked atomic.Int64
	b.Decider(entry, func(context.Context, hook.Event) (hook.Decision, error) {
		asked.Add(1)
		return d, nil
	})
	return b, &asked, j
}

// memoryJournal keeps records in memory.
type memoryJournal struct {
	mu      sync.Mutex
	records []hook.Record
}

func (j *memoryJournal) Append(_ context.Context, r hook.Record) (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.records = append(j.records, r)
	return int64(len(j.records) - 1), nil
}

func (j *memoryJournal) verdicts() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for _, r := range j.records {
		if r.Kind == hook.RecordVerdict {
			n++
		}
	}
	return n
}

func TestTheSameCallTwiceIsDecidedOnce(t *testing.T) {
	t.Parallel()
	b, asked, j := counted(t, hook.Entry{Name: "d"}, hook.Decision{Effect: hook.Deny, Reason: "no"})
	e := bustest.Shell("one", "ls")
	first, second := b.Request(e), b.Request(e)
	assert.EqualValues(t, 1, asked.Load())
	assert.Equal(t, 1, j.verdicts(), "one decision, one record")
	assert.Equal(t, hook.Deny, second.Effect)
	assert.Equal(t, first.Reason, second.Reason)
	assert.Equal(t, first.Record, second.Record)
	assert.Empty(t, first.Note)
	assert.Contains(t, second.Note, "decided once")

	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { assert.Equal(t, hook.Deny, b.Request(bustest.Shell("at once", "ls")).Effect) })
	}
	all.Wait()
	assert.EqualValues(t, 2, asked.Load(), "at the same time, too")
}

func TestWhatDiffersIsDecidedAnew(t *testing.T) {
	t.Parallel()
	b, asked, _ := counted(t, hook.Entry{Name: "d"}, hook.Decision{})
	base := bustest.Shell("one", "ls")
	b.Request(base)
	for name, change := range map[string]func(*hook.Event){
		"another id":              func(e *hook.Event) { e.ID = "two" },
		"another source":          func(e *hook.Event) { e.Source = "/host/other" },
		"another input, same id":  func(e *hook.Event) { e.Data.Tool = bustest.Shell("one", "rm -rf /").Data.Tool },
		"another directory":       func(e *hook.Event) { e.Data.CWD = "/elsewhere" },
		"another tool, same id":   func(e *hook.Event) { e.Subject, e.Data.Tool.Name = "Zsh", "Zsh" },
		"another mode":            func(e *hook.Event) { e.Data.PermissionMode = "plan" },
		"another event, same id":  func(e *hook.Event) { e.Name = hook.PermissionRequest },
		"another agent's payload": func(e *hook.Event) { e.Data.Native = hook.Native{Agent: "x", Event: "y"} },
	} {
		before := asked.Load()
		e := base
		tool := *base.Data.Tool
		e.Data.Tool = &tool
		change(&e)
		b.Request(e)
		assert.Equal(t, before+1, asked.Load(), name)
	}
}

func TestARosterThatChangedIsAskedAnew(t *testing.T) {
	t.Parallel()
	b, asked, _ := counted(t, hook.Entry{Name: "d"}, hook.Decision{})
	assert.Equal(t, hook.Abstain, b.Request(bustest.Shell("one", "ls")).Effect)
	b.Decider(hook.Entry{Name: "strict"}, func(context.Context, hook.Event) (hook.Decision, error) {
		return hook.Decision{Effect: hook.Deny, Reason: "since now"}, nil
	})
	assert.Equal(t, hook.Deny, b.Request(bustest.Shell("one", "ls")).Effect)
	assert.EqualValues(t, 2, asked.Load())
}

func TestAStopIsNeverARepeat(t *testing.T) {
	t.Parallel()
	b, asked, _ := counted(t, hook.Entry{Name: "d"}, hook.Decision{Effect: hook.Deny, Reason: "go on"})
	e := bustest.Shell("stop", "")
	e.Name, e.Subject, e.Data.Tool = hook.Stop, "", nil
	for range 3 {
		b.Request(e)
	}
	assert.EqualValues(t, 3, asked.Load(), "else the limit on stops would not count")
}

// TestTwins sends one call under two of an agent's names for the event, as one
// does whose hook stands in its own settings and in another agent's.
func TestTwins(t *testing.T) {
	t.Parallel()
	b, asked, _ := counted(t, hook.Entry{Name: "d", Grants: true}, hook.Decision{Effect: hook.Allow, Reason: "fine"})
	call := func(agent, event, id string) hook.Event {
		e := bustest.Shell(id, "ls")
		e.Source, e.Data.Native = "/host/"+agent, hook.Native{Agent: agent, Event: event}
		e.Data.Tool.CallID = ""
		return e
	}
	v := b.Request(call("copilot", "preToolUse", "a"))
	require.True(t, v.Grant)
	twin := b.Request(call("copilot", "PreToolUse", "b"))
	assert.EqualValues(t, 1, asked.Load())
	assert.False(t, twin.Grant, "a grant does not pass to a twin")
	assert.Equal(t, "b", twin.EventID)

	b.Request(call("copilot", "preToolUse", "c"))
	assert.EqualValues(t, 2, asked.Load(), "the same name, another id: another call")
	other := call("copilot", "PreToolUse", "d")
	other.SessionID = "s2"
	b.Request(other)
	assert.EqualValues(t, 3, asked.Load(), "another session")
	b.Request(call("claude-code", "PreToolUse", "e"))
	assert.EqualValues(t, 4, asked.Load(), "another agent, about which there may be another rule")
}

func TestARepeatWaitsNoLongerThanItsOwnTime(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	release := make(chan struct{})
	b.Decider(hook.Entry{Name: "d", Timeout: hook.Duration(20 * time.Second)}, func(ctx context.Context, _ hook.Event) (hook.Decision, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return hook.Decision{}, nil
	})
	slow := make(chan hook.Verdict)
	go func() { slow <- b.Request(bustest.Shell("one", "ls")) }()
	hurried := bustest.Shell("one", "ls")
	hurried.Deadline = time.Now().Add(300 * time.Millisecond)
	assert.Equal(t, hook.Deny, b.Request(hurried).Effect, "nobody answered in its time")
	close(release)
	<-slow
}
