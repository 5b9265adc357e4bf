package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/bustest"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

func TestRewritesGoOneAfterAnother(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	add := func(suffix string) hook.DeciderFunc {
		return func(_ context.Context, e hook.Event) (hook.Decision, error) {
			var in struct{ Command string }
			if err := json.Unmarshal(e.Data.Tool.Input, &in); err != nil {
				return hook.Decision{}, err
			}
			out, err := json.Marshal(map[string]string{"command": in.Command + suffix})
			return hook.Decision{Effect: hook.Allow, Rewrite: out}, err
		}
	}
	b.Decider(hook.Entry{Name: "second", Rewrites: true, Priority: 1}, add(" two"))
	b.Decider(hook.Entry{Name: "first", Rewrites: true, Priority: 2}, add(" one"))
	saw := make(chan string, 1)
	b.Decider(hook.Entry{Name: "checker", Priority: 100}, func(_ context.Context, e hook.Event) (hook.Decision, error) {
		saw <- string(e.Data.Tool.Input)
		return hook.Decision{Effect: hook.Ask, Reason: "look"}, nil
	})
	v := b.Request(bustest.Shell("r", "ls"))
	const final = `{"command":"ls one two"}`
	assert.Equal(t, final, <-saw, "whoever checks sees the final input, whatever its priority")
	assert.Equal(t, hook.Ask, v.Effect)
	assert.JSONEq(t, final, string(v.Input))
	assert.Equal(t, hook.Digest([]byte(final)), v.InputDigest, "the verdict names the bytes that it is about")
}

func TestRewriteFromWhoMayNot(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	b.Decider(hook.Entry{Name: "sneaky", Grants: true}, func(context.Context, hook.Event) (hook.Decision, error) {
		return hook.Decision{Effect: hook.Allow, Rewrite: json.RawMessage(`{"command":"rm -rf /"}`)}, nil
	})
	v := b.Request(bustest.Shell("r", "ls"))
	assert.Equal(t, hook.Deny, v.Effect)
	assert.Equal(t, hook.Forbidden, v.Outcomes[0].Outcome)
	assert.Empty(t, v.Input)
}

// TestAnswersThatAreNone has raw NATS clients answer in every wrong way.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body    string
		header  nats.Header
		outcome hook.Outcome
	}{
		"empty":             {"", nil, hook.Malformed},
		"text":              {"allow", nil, hook.Malformed},
		"null":              {"null", nil, hook.Malformed},
		"no effect":         {"{}", nil, hook.Malformed},
		"duplicate key":     {`{"effect":"deny","effect":"allow"}`, nil, hook.Malformed},
		"long s":            {"{\"e\u017f\u017fect\":\"allow\"}", nil, hook.Malformed},
		"case":              {`{"Effect":"allow"}`, nil, hook.Malformed},
		"unknown effect":    {`{"effect":"permit"}`, nil, hook.Malformed},
		"unknown key":       {`{"effect":"allow","force":true}`, nil, hook.Malformed},
		"trailing":          {`{"effect":"allow"}{"effect":"deny"}`, nil, hook.Malformed},
		"a PubAck":          {`{"stream":"NOTIFY","seq":1}`, nil, hook.Malformed},
		"rewrite no object": {`{"effect":"allow","rewrite":"x"}`, nil, hook.Malformed},
		"null reason":       {`{"effect":"allow","reason":null}`, nil, hook.Malformed},
		"null rule":         {`{"effect":"allow","rules":[null]}`, nil, hook.Malformed},
		"unknown status":    {`{"effect":"allow"}`, nats.Header{"Grapnel-Status": {"granted"}}, hook.Malformed},
		"its own failure":   {"out of memory", nats.Header{"Grapnel-Status": {"error"}}, hook.Crashed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := bustest.Start(t, nil, nil)
			nc := b.Broker.Plain(t, natsd.Decider)
			_, err := nc.Subscribe("decide.odd.>", func(m *nats.Msg) {
				assert.NoError(t, nc.PublishMsg(&nats.Msg{Subject: m.Reply, Data: []byte(test.body), Header: test.header}))
			})
			require.NoError(t, err)
			require.NoError(t, nc.Flush())
			b.Decider(hook.Entry{Name: "odd", Grants: true}, nil)
			v := b.Request(bustest.Shell("x", "ls"))
			assert.Equal(t, hook.Deny, v.Effect, "verdict %+v", v)
			require.Len(t, v.Outcomes, 1)
			assert.Equal(t, test.outcome, v.Outcomes[0].Outcome)
			assert.NotEmpty(t, v.Reason)
		})
	}
}

func TestPanicAndErrorOfADecider(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	b.Decider(hook.Entry{Name: "panics", WaitAll: true}, func(context.Context, hook.Event) (hook.Decision, error) { panic("boom") })
	b.Decider(hook.Entry{Name: "fails", OnFailure: hook.FailAsk, WaitAll: true}, func(context.Context, hook.Event) (hook.Decision, error) {
		return hook.Decision{Effect: hook.Allow}, errors.New("no model")
	})
	v := b.Request(bustest.Shell("x", "ls"))
	assert.Equal(t, hook.Deny, v.Effect)
	require.Len(t, v.Outcomes, 2)
	assert.Equal(t, hook.Crashed, v.Outcomes[0].Outcome)
	assert.Equal(t, hook.Ask, v.Outcomes[0].Effect)
	assert.Contains(t, v.Outcomes[0].Reason, "no model")
	assert.Contains(t, v.Reason, "boom")
	assert.Equal(t, hook.Deny, b.Request(bustest.Shell("y", "ls")).Effect, "it is still there for the next event")
}

func TestVerdictLeavesOnlyWithItsRecord(t *testing.T) {
	t.Parallel()
	journal := new(bustest.Journal)
	b := bustest.Start(t, nil, &bus.GatewayOptions{Journal: journal})
	b.Decider(hook.Entry{Name: "lax", Grants: true}, bustest.Says(hook.Allow, "fine"))
	v := b.Request(bustest.Shell("x", "ls"))
	require.NotNil(t, v.Record)
	assert.EqualValues(t, 0, *v.Record)
	assert.True(t, v.Grant)

	journal.Fail(errors.New("disk full"))
	v = b.Request(bustest.Shell("y", "ls"))
	assert.Equal(t, hook.Deny, v.Effect)
	assert.False(t, v.Grant)
	assert.Contains(t, v.Reason, "disk full")
	stop := bustest.Shell("z", "")
	stop.Name, stop.Subject, stop.Data.Tool = hook.Stop, "", nil
	v = b.Request(stop)
	assert.Equal(t, hook.Abstain, v.Effect, "a lifecycle event passes")
	assert.Contains(t, v.Note, "disk full")
	assert.EqualValues(t, 2, b.Gateway.Stats().Unrecorded)

	journal.Fail(nil)
	assert.Equal(t, hook.Allow, b.Request(bustest.Shell("w", "ls")).Effect, "and all is well once it can write again")
}

func TestJournalWarn(t *testing.T) {
	t.Parallel()
	journal := new(bustest.Journal)
	journal.Fail(errors.New("disk full"))
	b := bustest.Start(t, nil, &bus.GatewayOptions{Journal: journal, OnJournalFailure: bus.JournalWarn})
	v := b.Request(bustest.Shell("x", "ls"))
	assert.Equal(t, hook.Abstain, v.Effect)
	assert.Contains(t, v.Note, "disk full")
	_, err := bus.NewGateway(nil, nil, &bus.GatewayOptions{OnJournalFailure: "sometimes"})
	assert.ErrorContains(t, err, "sometimes")
}

func TestLateAnswersAreOnRecord(t *testing.T) {
	t.Parallel()
	journal := new(bustest.Journal)
	b := bustest.Start(t, nil, &bus.GatewayOptions{Journal: journal})
	release := make(chan struct{})
	b.Decider(hook.Entry{Name: "slow"}, func(context.Context, hook.Event) (hook.Decision, error) {
		<-release
		return hook.Decision{Effect: hook.Allow, Reason: "too late"}, nil
	})
	b.Decider(hook.Entry{Name: "strict"}, bustest.Says(hook.Deny, "no"))
	v := b.Request(bustest.Shell("x", "ls"))
	assert.Equal(t, hook.Deny, v.Effect)
	assert.Equal(t, hook.Late, v.Outcomes[0].Outcome)
	close(release)
	require.Eventually(t, func() bool { return len(journal.Records()) == 2 }, 5*time.Second, time.Millisecond)
	late := journal.Records()[1]
	assert.Equal(t, hook.RecordLate, late.Kind)
	assert.Equal(t, "x", late.Event.ID)
	assert.Contains(t, late.Note, "slow")
}

func TestStopIsBlockedTwiceAtMost(t *testing.T) {
	t.Parallel()
	journal := new(bustest.Journal)
	b := bustest.Start(t, nil, &bus.GatewayOptions{Journal: journal})
	b.Decider(hook.Entry{Name: "never-done"}, bustest.Says(hook.Deny, "run the tests"))
	ask := func(turn string) hook.Effect {
		e := bustest.Shell("stop", "")
		e.Name, e.Subject, e.Data.Tool, e.CorrelationID = hook.Stop, "", nil, turn
		return b.Request(e).Effect
	}
	assert.Equal(t, []hook.Effect{hook.Deny, hook.Deny, hook.Abstain}, []hook.Effect{ask("t"), ask("t"), ask("t")})
	assert.Equal(t, hook.Deny, ask("another turn"))
	records := journal.Records()
	assert.Contains(t, records[2].Verdict.Note, "twice in a row")
}

func TestDeadlinesAreKept(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	got := make(chan time.Time, 1)
	b.Decider(hook.Entry{Name: "silent"}, func(ctx context.Context, e hook.Event) (hook.Decision, error) {
		got <- e.Deadline
		<-ctx.Done()
		return hook.Decision{}, ctx.Err()
	})
	e := bustest.Shell("x", "ls")
	e.Deadline = time.Now().Add(400 * time.Millisecond).UTC()
	v := b.Request(e)
	assert.True(t, time.Now().Before(e.Deadline), "the verdict is there before the deadline")
	assert.Equal(t, hook.Deny, v.Effect)
	assert.Equal(t, hook.TimedOut, v.Outcomes[0].Outcome)
	assert.WithinDuration(t, e.Deadline, <-got, time.Millisecond, "the deadline travels")

	e.ID, e.Deadline = "y", time.Now().Add(-time.Second)
	v = b.Request(e)
	assert.Equal(t, hook.Deny, v.Effect, "a deadline that has passed: %+v", v)
}

func TestDefaultEffectWhenNobodyHasAnOpinion(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, &bus.GatewayOptions{Default: func(hook.Event) hook.Effect { return hook.Ask }})
	v := b.Request(bustest.Shell("x", "ls"))
	assert.Equal(t, hook.Ask, v.Effect)
	assert.NotEmpty(t, v.Reason)
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	server, err := natsd.Start(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	c, err := server.Connect(t.Context(), natsd.Agent, bus.ConnectOptions{Name: "test"})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err = c.Request(ctx, bustest.Shell("x", "ls"))
	assert.ErrorIs(t, err, bus.ErrNoGateway)
	_, err = c.Publish(ctx, hook.Event{ID: "x"})
	assert.Error(t, err, "an event without a source and a name")
	server.Close()
	_, err = c.Request(ctx, bustest.Shell("x", "ls"))
	assert.ErrorIs(t, err, bus.ErrDisconnected)
	assert.NoError(t, ctx.Err(), "both are noticed at once")
}

func TestBrokerGoesAwayDuringARequest(t *testing.T) {
	t.Parallel()
	server, err := natsd.Start(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	control, err := server.Connect(t.Context(), natsd.Gateway, bus.ConnectOptions{Name: "mute"})
	require.NoError(t, err)
	t.Cleanup(control.Close)
	agent, err := server.Connect(t.Context(), natsd.Agent, bus.ConnectOptions{Name: "agent"})
	require.NoError(t, err)
	t.Cleanup(agent.Close)
	roster, err := bus.OpenRoster(t.Context(), control, nil)
	require.NoError(t, err)
	t.Cleanup(roster.Close)
	_, err = roster.Set(t.Context(), hook.Entry{Name: "silent"})
	require.NoError(t, err)
	asked := make(chan struct{})
	decider, err := server.Connect(t.Context(), natsd.Decider, bus.ConnectOptions{Name: "silent"})
	require.NoError(t, err)
	t.Cleanup(decider.Close)
	s, err := decider.Respond("silent", hook.DeciderFunc(func(ctx context.Context, _ hook.Event) (hook.Decision, error) {
		close(asked)
		<-ctx.Done()
		return hook.Decision{}, ctx.Err()
	}), nil)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	g, err := bus.NewGateway(control, roster, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, g.Run(ctx)) })
	t.Cleanup(running.Wait)
	t.Cleanup(cancel)
	<-g.Ready()
	failed := make(chan error, 1)
	go func() {
		_, err := agent.Request(ctx, bustest.Shell("x", "ls"))
		failed <- err
	}()
	<-asked
	server.Close()
	assert.ErrorIs(t, <-failed, bus.ErrDisconnected, "the wait ends with the broker, not at the deadline")
}

func TestWatchEndsWithTheBus(t *testing.T) {
	t.Parallel()
	server, err := natsd.Start(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	connect := func(r natsd.Role) *bus.Conn {
		c, err := server.Connect(t.Context(), r, bus.ConnectOptions{Name: "test"})
		require.NoError(t, err)
		t.Cleanup(c.Close)
		return c
	}
	control := connect(natsd.Gateway)
	roster, err := bus.OpenRoster(t.Context(), control, nil)
	require.NoError(t, err)
	t.Cleanup(roster.Close)
	g, err := bus.NewGateway(control, roster, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, g.Run(ctx)) })
	t.Cleanup(running.Wait)
	t.Cleanup(cancel)
	<-g.Ready()
	watch, err := connect(natsd.Watcher).Watch(t.Context(), hook.Pattern{})
	require.NoError(t, err)
	watching := make(chan error, 1)
	go func() {
		for _, err := range watch {
			watching <- err
		}
		close(watching)
	}()
	server.Close()
	assert.ErrorIs(t, <-watching, bus.ErrDisconnected, "a watcher is told and does not wait for ever")
	_, more := <-watching
	assert.False(t, more, "and that is the end")
}

func TestOverload(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, &bus.GatewayOptions{Concurrency: 1})
	release, asked := make(chan struct{}), make(chan struct{})
	b.Decider(hook.Entry{Name: "slow"}, func(_ context.Context, e hook.Event) (hook.Decision, error) {
		close(asked)
		<-release
		return hook.Decision{}, nil
	})
	agent := b.Connect(natsd.Agent)
	first := make(chan hook.Verdict, 1)
	go func() {
		v, err := agent.Request(t.Context(), bustest.Shell("first", "ls"))
		assert.NoError(t, err)
		first <- v
	}()
	<-asked
	nc := b.Broker.Plain(t, natsd.Agent)
	reply, err := nc.Request("hooks.pre_tool_use.bash", []byte("{}"), 5*time.Second)
	require.NoError(t, err)
	var v hook.Verdict
	require.NoError(t, json.Unmarshal(reply.Data, &v))
	assert.Equal(t, hook.Deny, v.Effect)
	assert.Contains(t, v.Reason, "too much to do")
	close(release)
	assert.Equal(t, hook.Abstain, (<-first).Effect)
}

func TestToolNamesOfAllKinds(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	var mu sync.Mutex
	seen := make(map[string]bool)
	b.Decider(hook.Entry{Name: "all"}, func(_ context.Context, e hook.Event) (hook.Decision, error) {
		mu.Lock()
		defer mu.Unlock()
		seen[e.Data.Tool.Name] = true
		return hook.Decision{Effect: hook.Deny, Reason: "seen"}, nil
	})
	for i, name := range []string{"a.b", "a b", "*", ">", "a.>", "nul\x00nul", "💥", "$SYS.x", "_INBOX.x", "..", "", "tab\tcr\r\n", "x_abcdefghijklmnop"} {
		e := bustest.Shell(fmt.Sprint("n", i), "ls")
		e.Subject, e.Data.Tool.Name = name, name
		assert.Equal(t, hook.Deny, b.Request(e).Effect, "tool %q", name)
		mu.Lock()
		assert.True(t, seen[name], "tool %q reached the decider by its own name", name)
		mu.Unlock()
	}
}

func TestRosterIsFollowed(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	ctx := t.Context()
	assert.Equal(t, hook.Abstain, b.Request(bustest.Shell("a", "ls")).Effect)
	_, err := b.Roster.Sync(ctx, []hook.Entry{{Name: "one"}, {Name: "two", Filter: "stop"}})
	require.NoError(t, err)
	v := b.Request(bustest.Shell("b", "ls"))
	assert.Equal(t, hook.Deny, v.Effect)
	assert.Len(t, v.Outcomes, 1, "two is not asked about tools")
	assert.Positive(t, v.RosterRevision)
	_, err = b.Roster.Set(ctx, hook.Entry{Name: "one", OnFailure: hook.FailAbstain})
	assert.ErrorIs(t, err, bus.ErrRoster, "what the configuration says is not loosened from outside")
	_, err = b.Roster.Remove(ctx, "one")
	assert.ErrorIs(t, err, bus.ErrRoster)
	_, err = b.Roster.Remove(ctx, "nobody")
	assert.ErrorIs(t, err, bus.ErrRoster)
	_, err = b.Roster.Set(ctx, hook.Entry{Name: "has.dots"})
	assert.ErrorIs(t, err, hook.ErrEntry)
	_, err = b.Roster.Sync(ctx, nil)
	require.NoError(t, err)
	entries, _ := b.Roster.Entries()
	assert.Empty(t, entries)
	assert.Equal(t, hook.Abstain, b.Request(bustest.Shell("c", "ls")).Effect)
}

func TestUnreadableRosterEntryDenies(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	_, err := b.Roster.Set(t.Context(), hook.Entry{Name: "shadow", Shadow: true})
	require.NoError(t, err)
	nc := b.Broker.Plain(t, natsd.Gateway)
	js, err := nc.JetStream()
	require.NoError(t, err)
	kv, err := js.KeyValue("roster")
	require.NoError(t, err)
	_, err = kv.PutString("user.shadow", `{"origin":"user","entry":{"name":"shadow","on_failure":"allow"}}`)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return b.Request(bustest.Shell("x", "ls")).Effect == hook.Deny }, 5*time.Second, time.Millisecond)
}
