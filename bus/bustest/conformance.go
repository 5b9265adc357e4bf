package bustest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// Run holds a kind of broker to what the bus needs. start makes a fresh broker
// for each test.
func Run(t *testing.T, start func(t testing.TB) Broker) {
	for name, test := range map[string]func(t *testing.T, b Broker){
		"VerdictForPlainClient":      verdictForPlainClient,
		"ReceiptForPlainClient":      receiptForPlainClient,
		"CallerIsAttested":           callerIsAttested,
		"ReplyCannotBeAimed":         replyCannotBeAimed,
		"AgentsSeeOnlyTheirOwn":      agentsSeeOnlyTheirOwn,
		"DecidersAnswerGatewayOnly":  decidersAnswerGatewayOnly,
		"AbsentDeciderDenies":        absentDeciderDenies,
		"ReplicasAnswerOnce":         replicasAnswerOnce,
		"LargeDataTravels":           largeDataTravels,
		"NotificationReachesHandler": notificationReachesHandler,
		"WatchersSee":                watchersSee,
		"BrokerIsChecked":            brokerIsChecked,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

const structured = `{"specversion":"1.0","id":"e1","source":"/laptop/my-agent","type":"dev.grapnel.hook.pre_tool_use.v1","subject":"bash",` +
	`"data":{"tool":{"name":"bash","kind":"shell","input":{"command":"rm -rf /"}}}}`

func verdictForPlainClient(t *testing.T, broker Broker) {
	b := Start(t, broker, nil)
	b.Decider(hook.Entry{Name: "strict"}, Says(hook.Deny, "no"))
	b.Decider(hook.Entry{Name: "lax", Grants: true}, Says(hook.Allow, "fine"))
	nc := broker.Plain(t, natsd.Agent)
	reply, err := nc.Request("hooks.pre_tool_use.bash", []byte(structured), 5*time.Second)
	require.NoError(t, err)
	var v map[string]any
	require.NoError(t, json.Unmarshal(reply.Data, &v), "the verdict is JSON: %s", reply.Data)
	assert.Equal(t, "deny", v["effect"])
	assert.Equal(t, "no", v["reason"])
	assert.Equal(t, "e1", v["event_id"])

	for _, garbage := range []string{"", "x", "{}", `{"specversion":"1.0"}`, structured + structured} {
		reply, err := nc.Request("hooks.pre_tool_use.bash", []byte(garbage), 5*time.Second)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(reply.Data, &v), "garbage is answered with JSON: %s", reply.Data)
		assert.Equal(t, "deny", v["effect"], "garbage %q", garbage)
		assert.NotEmpty(t, reply.Header.Get("Nats-Service-Error"), "and said to be one")
	}
	reply, err = nc.Request("hooks.pre_tool_use.read", []byte(structured), 5*time.Second)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(reply.Data, &v))
	assert.Equal(t, "deny", v["effect"])
	assert.Contains(t, v["reason"], "hooks.pre_tool_use.bash", "an event on another's subject: the answer says where it belongs")
}

func receiptForPlainClient(t *testing.T, broker Broker) {
	Start(t, broker, nil)
	nc := broker.Plain(t, natsd.Agent)
	body := []byte(`{"specversion":"1.0","id":"n1","source":"/laptop/my-agent","type":"dev.grapnel.hook.post_tool_use.v1","subject":"bash","data":{"message":"done"}}`)
	for i, duplicate := range []bool{false, true} {
		reply, err := nc.Request("hooks.post_tool_use.bash", body, 5*time.Second)
		require.NoError(t, err)
		var r hook.Receipt
		require.NoError(t, json.Unmarshal(reply.Data, &r), "the receipt is JSON: %s", reply.Data)
		assert.Equal(t, hook.Receipt{EventID: "n1", Stream: bus.NotifyStream, Sequence: 1, Duplicate: duplicate}, r, "time %d", i)
	}
}

func callerIsAttested(t *testing.T, broker Broker) {
	journal := new(Journal)
	Start(t, broker, &bus.GatewayOptions{Journal: journal})
	nc := broker.Plain(t, natsd.Agent)
	m := nats.NewMsg("hooks.pre_tool_use.bash")
	m.Data = []byte(structured)
	m.Header.Set("Nats-Request-Info", `{"acc":"CONTROL","user":"gateway"}`)
	_, err := nc.RequestMsg(m, 5*time.Second)
	require.NoError(t, err)
	records := journal.Records()
	require.Len(t, records, 1)
	assert.Equal(t, "AGENTS/agent", records[0].Caller, "the server's word, not the sender's")
}

// replyCannotBeAimed is the confused deputy: an agent names a subject of
// CONTROL as its reply subject.
func replyCannotBeAimed(t *testing.T, broker Broker) {
	b := Start(t, broker, nil)
	control := broker.Plain(t, natsd.Gateway)
	hit, err := control.SubscribeSync("trap.>")
	require.NoError(t, err)
	require.NoError(t, control.Flush())
	nc := broker.Plain(t, natsd.Agent)
	for _, reply := range []string{"trap.door", "$JS.API.STREAM.DELETE.NOTIFY", "decide.policy.pre_tool_use.bash", "$JS.API.STREAM.PURGE.KV_roster"} {
		require.NoError(t, nc.PublishRequest("hooks.pre_tool_use.bash", reply, []byte(structured)))
	}
	require.NoError(t, nc.Flush())
	watcher := broker.Plain(t, natsd.Watcher)
	for _, reply := range []string{"trap.door", "$JS.API.STREAM.DELETE.NOTIFY", "_INBOX_gateway.x"} {
		require.NoError(t, watcher.PublishRequest("watch.alive", reply, nil))
	}
	require.NoError(t, watcher.Flush())
	b.Request(Shell("after", "ls")) // whatever came before has been handled or is
	_, err = hit.NextMsg(50 * time.Millisecond)
	assert.ErrorIs(t, err, nats.ErrTimeout, "nothing reaches CONTROL")
	_, err = b.Roster.Set(t.Context(), hook.Entry{Name: "still-there"})
	assert.NoError(t, err, "the roster's stream lives")
}

func agentsSeeOnlyTheirOwn(t *testing.T, broker Broker) {
	Start(t, broker, nil)
	nc := broker.Plain(t, natsd.Agent)
	for _, subject := range []string{">", "hooks.>", "decide.>", "events.>", "_GATHER.>", "_INBOX.>", "$JS.>", "notify.>"} {
		sub, err := nc.SubscribeSync(subject)
		require.NoError(t, err)
		require.NoError(t, nc.Flush())
		_, err = sub.NextMsg(20 * time.Millisecond)
		assert.Error(t, err)
		assert.ErrorIs(t, nc.LastError(), nats.ErrPermissionViolation, "subscribing to %s is refused", subject)
	}
	for _, subject := range []string{"decide.policy.pre_tool_use.bash", "_GATHER.x.y", "$JS.API.INFO", "events.x.y"} {
		_, err := nc.Request(subject, nil, 50*time.Millisecond)
		assert.Error(t, err, "publishing to %s leads nowhere", subject)
	}
}

func decidersAnswerGatewayOnly(t *testing.T, broker Broker) {
	Start(t, broker, nil)
	control := broker.Plain(t, natsd.Gateway)
	hit, err := control.SubscribeSync(">")
	require.NoError(t, err)
	require.NoError(t, control.Flush())
	nc := broker.Plain(t, natsd.Decider)
	for _, subject := range []string{"hooks.pre_tool_use.bash", "decide.policy.pre_tool_use.bash", "events.stop._", "trap.x", "_INBOX_agent.x", "_R_.x"} {
		require.NoError(t, nc.Publish(subject, []byte("x")))
	}
	require.NoError(t, nc.Flush())
	require.NoError(t, nc.Publish("_GATHER.nobody.nothing", []byte("sentinel")))
	require.NoError(t, nc.Flush())
	m, err := hit.NextMsg(5 * time.Second)
	require.NoError(t, err)
	assert.Equal(t, "_GATHER.nobody.nothing", m.Subject, "only the gateway's inbox takes what a decider publishes")
}

func absentDeciderDenies(t *testing.T, broker Broker) {
	b := Start(t, broker, nil)
	b.Decider(hook.Entry{Name: "nobody"}, nil)
	start := time.Now()
	v := b.Request(Shell("a", "ls"))
	assert.Equal(t, hook.Deny, v.Effect)
	require.Len(t, v.Outcomes, 1)
	assert.Equal(t, hook.Absent, v.Outcomes[0].Outcome)
	assert.Less(t, time.Since(start), 2*time.Second, "absence is noticed at once, not at the deadline")
	stop := Shell("b", "")
	stop.Name, stop.Subject, stop.Data.Tool = hook.Stop, "", nil
	assert.Equal(t, hook.Abstain, b.Request(stop).Effect, "a lifecycle event passes")
}

func replicasAnswerOnce(t *testing.T, broker Broker) {
	b := Start(t, broker, nil)
	var asked atomic.Int64
	count := func(context.Context, hook.Event) (hook.Decision, error) {
		asked.Add(1)
		return hook.Decision{}, nil
	}
	for range 3 {
		b.Decider(hook.Entry{Name: "replicated"}, count)
	}
	for i := range 20 {
		assert.Equal(t, hook.Abstain, b.Request(Shell(fmt.Sprint("r", i), "ls")).Effect)
	}
	assert.EqualValues(t, 20, asked.Load(), "one question, one replica")
}

func largeDataTravels(t *testing.T, broker Broker) {
	b := Start(t, broker, nil)
	big := make([]byte, 600<<10)
	for i := range big {
		big[i] = 'a' + byte(i%26)
	}
	var got atomic.Int64
	b.Decider(hook.Entry{Name: "reader"}, func(_ context.Context, e hook.Event) (hook.Decision, error) {
		got.Store(int64(len(e.Data.Tool.Input)))
		return hook.Decision{Effect: hook.Ask, Reason: "large"}, nil
	})
	v := b.Request(Shell("big", string(big)))
	assert.Equal(t, hook.Ask, v.Effect, "verdict: %+v", v)
	assert.EqualValues(t, len(big)+len(`{"command":""}`), got.Load())

	js, err := broker.Plain(t, natsd.Gateway).JetStream()
	require.NoError(t, err)
	asked, err := js.ObjectStore("asked")
	require.NoError(t, err)
	left, err := asked.List()
	if !assert.ErrorIs(t, err, nats.ErrNoObjectsFound, "what deciders saw is gone when they have answered") {
		t.Log(left[0].Name)
	}

	e := Shell("big-notification", string(big))
	e.Name = hook.PostToolUse
	seen := make(chan int, 1)
	s, err := b.Connect(natsd.Runner).Consume(t.Context(), "collector", hook.HandlerFunc(func(_ context.Context, e hook.Event) error {
		seen <- len(e.Data.Tool.Input)
		return nil
	}), nil)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	_, err = b.Connect(natsd.Agent).Publish(t.Context(), e)
	require.NoError(t, err)
	assert.Equal(t, len(big)+len(`{"command":""}`), <-seen)
}

func notificationReachesHandler(t *testing.T, broker Broker) {
	b := Start(t, broker, nil)
	seen := make(chan hook.Event, 10)
	s, err := b.Connect(natsd.Runner).Consume(t.Context(), "collector", hook.HandlerFunc(func(_ context.Context, e hook.Event) error {
		seen <- e
		return nil
	}), &bus.ConsumeOptions{Filter: "post_tool_use"})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	agent := b.Connect(natsd.Agent)
	e := Shell("n", "ls")
	for _, name := range []hook.Name{hook.Notification, hook.PostToolUse} {
		e.Name, e.ID = name, "n-"+string(name)
		_, err := agent.Publish(t.Context(), e)
		require.NoError(t, err)
	}
	got := <-seen
	assert.Equal(t, hook.PostToolUse, got.Name)
	assert.Equal(t, "call-n", got.Data.Tool.CallID)
}

func watchersSee(t *testing.T, broker Broker) {
	hide := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("hunter2"), []byte("[gone]")) }
	b := Start(t, broker, &bus.GatewayOptions{Redact: hide})
	b.Decider(hook.Entry{Name: "strict"}, Says(hook.Deny, "not hunter2"))
	pattern, err := hook.ParsePattern("pre_tool_use.bash")
	require.NoError(t, err)
	watch, err := b.Connect(natsd.Watcher).Watch(t.Context(), pattern)
	require.NoError(t, err)
	v := b.Request(Shell("w", "login hunter2"))
	for o, err := range watch {
		require.NoError(t, err)
		assert.Equal(t, v.EventID, o.Event.ID)
		assert.Equal(t, `{"command":"login [gone]"}`, string(o.Event.Data.Tool.Input), "watchers do not see secrets")
		require.NotNil(t, o.Verdict)
		assert.Equal(t, hook.Deny, o.Verdict.Effect)
		assert.Equal(t, "not [gone]", o.Verdict.Reason)
		break
	}
}

func brokerIsChecked(t *testing.T, broker Broker) {
	Start(t, broker, nil)
	agent, control := broker.Options(natsd.Agent), broker.Options(natsd.Gateway)
	require.NoError(t, bus.CheckBroker(t.Context(), agent, control), "a broker as it should be")

	nc := broker.Plain(t, natsd.Gateway)
	js, err := nc.JetStream()
	require.NoError(t, err)
	for _, subjects := range [][]string{{"hooks.>"}, {"decide.policy.>"}, {"hooks.stop.*"}} {
		_, err = js.AddStream(&nats.StreamConfig{Name: "CAPTURE", Subjects: subjects})
		require.NoError(t, err)
		err = bus.CheckBroker(t.Context(), agent, control)
		assert.ErrorIs(t, err, bus.ErrBroker)
		assert.ErrorContains(t, err, "CAPTURE", "a stream that captures %v", subjects)
		require.NoError(t, js.DeleteStream("CAPTURE"))
	}
	assert.ErrorIs(t, bus.CheckBroker(t.Context(), control, control), bus.ErrBroker, "agents in account CONTROL")
}
