package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/bustest"
	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// TestLocalIsTheSame holds what happens inside the process against what happens
// over the bus: the same decider gives the same verdict and the same record.
func TestLocalIsTheSame(t *testing.T) {
	t.Parallel()
	deciders := map[string]hook.DeciderFunc{
		"abstains":       bustest.Says(hook.Abstain, ""),
		"allows":         bustest.Says(hook.Allow, "fine"),
		"asks":           bustest.Says(hook.Ask, "look"),
		"denies":         bustest.Says(hook.Deny, "no"),
		"halts":          bustest.Says(hook.Halt, "stop it"),
		"no such effect": bustest.Says(hook.Effect(7), "x"),
		"fails": func(context.Context, hook.Event) (hook.Decision, error) {
			return hook.Decision{Effect: hook.Allow}, errors.New("no model")
		},
		"panics": func(context.Context, hook.Event) (hook.Decision, error) { panic("boom") },
		"silent": func(ctx context.Context, _ hook.Event) (hook.Decision, error) {
			<-ctx.Done()
			return hook.Decision{Effect: hook.Allow}, nil
		},
		"rewrites": func(context.Context, hook.Event) (hook.Decision, error) {
			return hook.Decision{Effect: hook.Allow, Rewrite: json.RawMessage(`{"command":"ls -l"}`)}, nil
		},
		"rewrites to no object": func(context.Context, hook.Event) (hook.Decision, error) {
			return hook.Decision{Effect: hook.Allow, Rewrite: json.RawMessage(`"x"`)}, nil
		},
		"says too much": func(context.Context, hook.Event) (hook.Decision, error) {
			return hook.Decision{Effect: hook.Allow, Context: strings.Repeat("x", 3<<20)}, nil
		},
	}
	for name, d := range deciders {
		entries := []hook.Entry{{Name: "d"}, {Name: "d", Grants: true, Rewrites: true}, {Name: "d", OnFailure: hook.FailAsk}, {Name: "d", Shadow: true}}
		limit := 30 * time.Second // nobody waits that long
		if name == "silent" {
			entries = append(entries, hook.Entry{Name: "d", Timeout: hook.Duration(50 * time.Millisecond)})
			limit = 500 * time.Millisecond
		}
		for _, entry := range entries {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				verdict := func(local bool) hook.Verdict {
					o := new(bus.GatewayOptions)
					journal := new(bustest.Journal)
					o.Journal = journal
					if local {
						o.Local = map[string]hook.Decider{"d": d}
					}
					b := bustest.Start(t, nil, o)
					over := hook.DeciderFunc(d)
					if local {
						over = nil
					}
					b.Decider(entry, over)
					e := bustest.Shell("x", "ls")
					e.Deadline = time.Now().Add(limit).UTC()
					var v hook.Verdict
					if local {
						var err error
						v, err = b.Gateway.Request(t.Context(), e)
						require.NoError(t, err)
					} else {
						v = b.Request(e)
					}
					require.Len(t, journal.Records(), 1)
					record := journal.Records()[0]
					assert.Equal(t, v.Effect, record.Verdict.Effect)
					assert.NotEmpty(t, record.Caller)
					return v
				}
				over, local := verdict(false), verdict(true)
				assert.Equal(t, comparable(over), comparable(local))
			})
		}
	}
}

// comparable leaves out what no two runs share.
func comparable(v hook.Verdict) hook.Verdict {
	v.Time, v.Record, v.RosterRevision, v.EventDigest = time.Time{}, nil, 0, ""
	outcomes := make([]hook.DeciderOutcome, len(v.Outcomes))
	for i, o := range v.Outcomes {
		o.ElapsedUS = 0
		if o.Outcome != hook.Answered { // the text may name a time or a stack
			o.Reason = ""
		}
		outcomes[i] = o
	}
	if len(v.Outcomes) > 0 && v.Outcomes[0].Outcome != hook.Answered {
		v.Reason = ""
	}
	v.Outcomes = outcomes
	return v
}

func TestLocalRefusesWhatCouldNotTravel(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	_, err := b.Gateway.Request(t.Context(), hook.Event{Name: hook.PreToolUse})
	assert.ErrorIs(t, err, cloudevent.ErrEvent)
	e := bustest.Shell("x", "ls")
	e.DataRef = "asked/x"
	_, err = b.Gateway.Request(t.Context(), e)
	assert.ErrorIs(t, err, cloudevent.ErrEvent, "data by reference")
	e = bustest.Shell("x", "ls")
	e.Subject = "Read"
	_, err = b.Gateway.Request(t.Context(), e)
	assert.ErrorIs(t, err, cloudevent.ErrEvent, "heard by one name, decided by another")
	e = bustest.Shell("x", "ls")
	e.Name = hook.PostToolUse
	_, err = b.Gateway.Request(t.Context(), e)
	assert.ErrorIs(t, err, cloudevent.ErrEvent, "nobody decides on a notification")
	r, err := b.Gateway.Publish(t.Context(), e)
	require.NoError(t, err)
	assert.EqualValues(t, 1, r.Sequence)
}

func TestLocalNeedsARunningGateway(t *testing.T) {
	t.Parallel()
	broker := bustest.Embedded(t, nil)
	o := broker.Options("gateway")
	c, err := bus.Connect(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	roster, err := bus.OpenRoster(t.Context(), c, nil)
	require.NoError(t, err)
	t.Cleanup(roster.Close)
	g, err := bus.NewGateway(c, roster, nil)
	require.NoError(t, err)
	_, err = g.Request(t.Context(), bustest.Shell("x", "ls"))
	assert.ErrorIs(t, err, bus.ErrNoGateway)
}
