package edge_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	var seen hook.Event
	e := closing(t, edge.New(bus{request: func(ctx context.Context, e hook.Event) (hook.Verdict, error) {
		seen = e
		_, ok := ctx.Deadline()
		assert.True(t, ok, "the deadline is on the context")
		return hook.Verdict{EventID: e.ID, Effect: hook.Deny, Reason: "no rm here"}, nil
	}}, &edge.Options{Host: "laptop"}))
	q := ask(t, "PreToolUse", nil)
	q.Env = []hookwire.Var{{Name: "CLAUDE_PROJECT_DIR", Value: "/home/dev"}}
	before := time.Now()
	r := e.Decide(t.Context(), q)
	mustDeny(t, "PreToolUse", r, "no rm here")
	assert.Equal(t, "/laptop/claude-code", seen.Source)
	assert.Equal(t, hook.PreToolUse, seen.Name)
	assert.Equal(t, "pre_tool_use.bash", seen.Key())
	assert.Equal(t, "/home/dev", seen.Data.Workspace)
	assert.WithinDuration(t, before.Add(edge.DefaultBudget), seen.Deadline, time.Second)

	e = closing(t, edge.New(says(hook.Verdict{}), nil))
	mustPass(t, e.Decide(t.Context(), ask(t, "PreToolUse", nil)), "abstain is no answer, and not an empty one")
	e = closing(t, edge.New(says(hook.Verdict{Effect: hook.Allow, Grant: true}), nil))
	assert.True(t, runs("PreToolUse", e.Decide(t.Context(), ask(t, "PreToolUse", nil))).Granted)
}

func TestFailuresDenyGatesAndPassTheRest(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]func(context.Context, hook.Event) (hook.Verdict, error){
		"error": func(context.Context, hook.Event) (hook.Verdict, error) { return hook.Verdict{}, errors.New("broken") },
		"crash": func(context.Context, hook.Event) (hook.Verdict, error) { panic("broken") },
		"another's verdict": func(context.Context, hook.Event) (hook.Verdict, error) {
			return hook.Verdict{EventID: "x", Effect: hook.Allow, Grant: true}, nil
		},
		"no event's": func(context.Context, hook.Event) (hook.Verdict, error) { return hook.Verdict{}, nil },
		"deadline": func(context.Context, hook.Event) (hook.Verdict, error) {
			return hook.Verdict{}, context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := closing(t, edge.New(bus{request: request}, nil))
			for _, event := range []string{"PreToolUse", "PermissionRequest", "UserPromptSubmit", "UserPromptExpansion"} {
				mustDeny(t, event, e.Decide(t.Context(), ask(t, event, nil)), "grapnel could not decide")
			}
			for _, event := range []string{"Stop", "SubagentStop", "SessionStart", "PreCompact", "PreModelSwitch", "TaskCompleted", "Elicitation"} {
				mustPass(t, e.Decide(t.Context(), ask(t, event, nil)), event)
			}
		})
	}
}

// TestAnswersInTimeWithoutTheBus: a bus that ignores its context does not hold
// the answer.
func TestAnswersInTimeWithoutTheBus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asked, want time.Duration
	}{
		"own budget":         {0, edge.DefaultBudget},
		"the caller's":       {3 * time.Second, 3 * time.Second},
		"the caller's, past": {-time.Second, 0},
		"too long":           {time.Hour, edge.DefaultBudget},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				e := edge.New(bus{request: func(_ context.Context, e hook.Event) (hook.Verdict, error) {
					<-release
					return hook.Verdict{EventID: e.ID, Effect: hook.Allow, Grant: true}, nil
				}}, nil)
				for _, event := range []string{"PreToolUse", "Stop"} {
					q := ask(t, event, nil)
					start := time.Now()
					if c.asked != 0 {
						q.Deadline = start.Add(c.asked).UnixNano()
					}
					r := e.Decide(t.Context(), q)
					assert.Equal(t, c.want, time.Since(start), event)
					if event == "Stop" {
						mustPass(t, r, "stop")
					} else {
						mustDeny(t, event, r, "nobody answered before the deadline")
					}
				}
				close(release)
				e.Close()
			})
		})
	}
}

func TestNotificationsHoldNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var published []hook.Name
		var mu sync.Mutex
		e := edge.New(bus{publish: func(ctx context.Context, e hook.Event) (hook.Receipt, error) {
			<-ctx.Done() // hangs until it is told to stop
			mu.Lock()
			defer mu.Unlock()
			published = append(published, e.Name)
			return hook.Receipt{}, ctx.Err()
		}}, nil)
		for event, want := range map[string]time.Duration{
			"PostToolUse": edge.DefaultPublishBudget, "Notification": edge.DefaultPublishBudget, "SessionEnd": time.Second, "MessageDisplay": 0,
		} {
			q := ask(t, event, nil)
			start := time.Now()
			q.Deadline = start.Add(time.Duration(hookwire.Budget("claude-code", event)) * time.Millisecond).UnixNano()
			mustPass(t, e.Decide(t.Context(), q), event)
			assert.Equal(t, want, time.Since(start), event)
		}
		e.Close()
		assert.Len(t, published, 4, "what was slow was not given up for that")
	})
}

func TestStreamsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	const pieces = 200
	var got []string
	e := edge.New(bus{publish: func(_ context.Context, e hook.Event) (hook.Receipt, error) {
		got = append(got, e.Data.Message)
		return hook.Receipt{EventID: e.ID}, nil
	}}, nil)
	var want []string
	for i := range pieces {
		text := strings.Repeat("x", i)
		want = append(want, text)
		q := ask(t, "MessageDisplay", map[string]any{"delta": text, "message_id": "m", "index": i, "final": i == pieces-1})
		mustPass(t, e.Decide(t.Context(), q), text)
	}
	e.Close()
	e.Close()
	assert.Equal(t, want, got)
}

func TestStreamsAreDroppedBeforeTheyHold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		count := 0
		e := edge.New(bus{publish: func(ctx context.Context, _ hook.Event) (hook.Receipt, error) {
			count++
			<-ctx.Done()
			return hook.Receipt{}, ctx.Err()
		}}, &edge.Options{StreamBuffer: 4})
		start := time.Now()
		for range 100 {
			e.Decide(t.Context(), ask(t, "MessageDisplay", map[string]any{"delta": "x"}))
		}
		assert.Zero(t, time.Since(start))
		e.Close()
		assert.LessOrEqual(t, count, 6)
		assert.LessOrEqual(t, time.Since(start), 2*edge.DefaultPublishBudget, "closing does not wait for ever")
	})
}

func TestPublishFailuresPass(t *testing.T) {
	t.Parallel()
	for _, publish := range []func(context.Context, hook.Event) (hook.Receipt, error){
		func(context.Context, hook.Event) (hook.Receipt, error) { return hook.Receipt{}, errors.New("full") },
		func(context.Context, hook.Event) (hook.Receipt, error) { panic("broken") },
	} {
		e := closing(t, edge.New(bus{publish: publish}, nil))
		for _, event := range []string{"PostToolUse", "Notification", "MessageDisplay", "SessionEnd", "Brand.New"} {
			mustPass(t, e.Decide(t.Context(), ask(t, event, nil)), event)
		}
	}
}

func TestUnknownAgent(t *testing.T) {
	t.Parallel()
	e := closing(t, edge.New(bus{}, nil))
	q := ask(t, "PreToolUse", nil)
	q.Agent = "nobody"
	mustDeny(t, "PreToolUse", e.Decide(t.Context(), q), "there is no agent")
	assert.Contains(t, edge.Agents(), "claude-code")
	assert.Greater(t, len(edge.Capabilities()), 33)
}

func TestBadInputNeverReachesTheBus(t *testing.T) {
	t.Parallel()
	e := closing(t, edge.New(bus{}, nil))
	for name, stdin := range map[string]string{
		"empty": "", "garbage": "\x00\xff", "duplicate": `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_name":"Bash","tool_input":{}}`,
		"deep": strings.Repeat(`{"a":`, 1<<20), "10 MB": `{"a":"` + strings.Repeat("x", 10<<20) + `"}`,
	} {
		q := hookwire.Request{Agent: "claude-code", Event: "PreToolUse", Stdin: []byte(stdin)}
		mustDeny(t, "PreToolUse", e.Decide(t.Context(), q), "grapnel refused this")
		q.Event = "Stop"
		mustPass(t, e.Decide(t.Context(), q), name)
	}
}

func TestFallbackIsTold(t *testing.T) {
	t.Parallel()
	var notes []string
	e := closing(t, edge.New(says(hook.Verdict{Effect: hook.Ask, Reason: "sure?"}), &edge.Options{
		OnFallback: func(_ context.Context, e hook.Event, v hook.Verdict, note string) {
			assert.Equal(t, hook.Ask, v.Effect)
			notes = append(notes, string(e.Name)+": "+note)
		},
	}))
	mustDeny(t, "UserPromptSubmit", e.Decide(t.Context(), ask(t, "UserPromptSubmit", nil)), "sure?")
	e.Decide(t.Context(), ask(t, "PreToolUse", nil))
	assert.Equal(t, []string{"user_prompt_submit: Claude Code cannot ask on UserPromptSubmit; answered deny instead of ask"}, notes)
}

func TestOffline(t *testing.T) {
	t.Parallel()
	e := closing(t, edge.New(edge.NewOffline(nil, "no socket"), nil))
	mustDeny(t, "PreToolUse", e.Decide(t.Context(), ask(t, "PreToolUse", nil)), "Start it with `grapnel up`")
	for _, event := range []string{"Stop", "SessionStart", "PostToolUse", "MessageDisplay", "SessionEnd"} {
		mustPass(t, e.Decide(t.Context(), ask(t, event, nil)), event)
	}

	for name, c := range map[string]struct {
		decide hook.DeciderFunc
		check  func(t *testing.T, r hookwire.Response)
	}{
		"deny": {func(context.Context, hook.Event) (hook.Decision, error) {
			return hook.Decision{Effect: hook.Deny, Reason: "bundle says no"}, nil
		}, func(t *testing.T, r hookwire.Response) { mustDeny(t, "PreToolUse", r, "bundle says no") }},
		"allow never grants": {func(context.Context, hook.Event) (hook.Decision, error) {
			return hook.Decision{Effect: hook.Allow}, nil
		}, func(t *testing.T, r hookwire.Response) { mustPass(t, r, "allow") }},
		"rewrite": {func(context.Context, hook.Event) (hook.Decision, error) {
			return hook.Decision{Effect: hook.Allow, Rewrite: json.RawMessage(`{"command":"ls -l"}`)}, nil
		}, func(t *testing.T, r hookwire.Response) {
			assert.JSONEq(t, `{"command":"ls -l"}`, string(runs("PreToolUse", r).Changed))
		}},
		"failure": {func(context.Context, hook.Event) (hook.Decision, error) {
			return hook.Decision{}, errors.New("bad bundle")
		},
			func(t *testing.T, r hookwire.Response) { mustDeny(t, "PreToolUse", r, "bad bundle") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := closing(t, edge.New(edge.NewOffline(c.decide, "no socket"), nil))
			c.check(t, e.Decide(t.Context(), ask(t, "PreToolUse", nil)))
		})
	}
	_, err := edge.NewOffline(nil, "why").Request(t.Context(), hook.Event{})
	var offline *edge.OfflineError
	require.ErrorAs(t, err, &offline)
	assert.Equal(t, "why", offline.Reason)
}
