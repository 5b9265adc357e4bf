package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/bustest"
	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

func origin() hook.Origin {
	return hook.Origin{
		Host: "laptop", Agent: "my-agent", Session: "s1", Turn: "t1", CWD: "/home/dev/shop/web", Workspace: "/home/dev/shop",
		Model: "small-1", PermissionMode: "careful",
	}
}

func readFile() hook.Tool {
	return hook.Tool{Name: "Read", Kind: hook.KindFileRead, Input: json.RawMessage(`{"file_path":"/home/dev/shop/a.go"}`), CallID: "call-1"}
}

// constructed calls every method of o that makes an event, with arguments from
// say, json and the rest as they are. It returns what each made, by the method's
// name, and the texts that it was given.
func constructed(o hook.Origin, say func(argument string) string, object json.RawMessage) (events map[string]hook.Event, given map[string][]string) {
	events, given = make(map[string]hook.Event), make(map[string][]string)
	v := reflect.ValueOf(o)
	for i := range v.NumMethod() {
		m, name := v.Method(i), v.Type().Method(i).Name
		if m.Type().NumOut() != 1 || m.Type().Out(0) != reflect.TypeFor[hook.Event]() {
			continue
		}
		var args []reflect.Value
		for a := range m.Type().NumIn() {
			text := say(string(rune('a' + a)))
			var arg any
			switch in := m.Type().In(a); in {
			case reflect.TypeFor[string]():
				arg = text
			case reflect.TypeFor[bool]():
				arg, text = true, `"stop_active":true`
			case reflect.TypeFor[time.Duration]():
				arg, text = 1500*time.Millisecond, `"duration_ms":1500`
			case reflect.TypeFor[hook.Tool]():
				arg, text = readFile(), "call-1"
			case reflect.TypeFor[json.RawMessage]():
				arg, text = object, string(object)
			case reflect.TypeFor[error]():
				arg = reflect.ValueOf(errors.New(text)).Interface()
			default:
				panic("an argument of a kind that this test does not know: " + in.String())
			}
			args, given[name] = append(args, reflect.ValueOf(arg)), append(given[name], text)
		}
		events[name] = m.Call(args)[0].Interface().(hook.Event)
	}
	return events, given
}

func TestOriginHasAConstructorForEachName(t *testing.T) {
	t.Parallel()
	o := origin().Child("a1", "explore")
	events, given := constructed(o, func(a string) string { return "the text " + a }, json.RawMessage(`{"all":1}`))
	var made []hook.Name
	ids := make(map[string]bool)
	for method, e := range events {
		made = append(made, e.Name)
		ids[e.ID] = true
		assert.Equal(t, "/laptop/my-agent", e.Source, method)
		assert.Equal(t, "s1", e.SessionID, method)
		assert.Equal(t, "t1", e.CorrelationID, method)
		assert.Equal(t, "my-agent", e.Data.Native.Agent, method)
		assert.NotEmpty(t, e.Data.Native.Event, method)
		assert.Equal(t, &hook.Subagent{ID: "a1", Type: "explore"}, e.Data.Subagent, method)
		assert.WithinDuration(t, time.Now(), e.Time, time.Minute, method)
		if t1 := e.Data.Tool; t1 != nil {
			assert.Equal(t, t1.Name, e.Subject, method)
			assert.Equal(t, "/home/dev/shop/a.go", e.Data.Path, method)
		}
		text, err := cloudevent.Marshal(e)
		require.NoError(t, err, method)
		for _, said := range given[method] {
			assert.Contains(t, string(text), said, "%s keeps all that it is given", method)
		}
	}
	names := hook.Names()
	slices.Sort(names)
	slices.Sort(made)
	assert.Equal(t, names, made, "one constructor for each name")
	assert.Len(t, ids, len(names), "each event has an id of its own")
}

func TestWhatAnOriginMakesIsAccepted(t *testing.T) {
	t.Parallel()
	b := bustest.Start(t, nil, nil)
	b.Decider(hook.Entry{Name: "yes"}, bustest.Says(hook.Allow, ""))
	agent := b.Connect(natsd.Agent)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	from := origin().Child("a1", "explore").InSession("s2").CausedBy(origin().UserPromptSubmit("x"))
	events, _ := constructed(from, func(a string) string { return "the text " + a }, json.RawMessage(`[1]`))
	for method, e := range events {
		if e.Name.Blocking() {
			v, err := agent.Request(ctx, e)
			require.NoError(t, err, method)
			assert.Equal(t, e.ID, v.EventID)
			require.Len(t, v.Outcomes, 1, method)
			assert.Equal(t, hook.Answered, v.Outcomes[0].Outcome, method)
			continue
		}
		r, err := agent.Publish(ctx, e)
		require.NoError(t, err, method)
		assert.Equal(t, bus.NotifyStream, r.Stream, method)
		r, err = agent.Publish(ctx, e)
		require.NoError(t, err, method)
		assert.True(t, r.Duplicate, "%s sent again as it is", method)
	}
}

// Whatever an agent says of itself and its tools, the event that arrives is the
// one that was made.
func TestOriginsEventsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(label string) string {
			return rapid.OneOf(rapid.SampledFrom([]string{"", "x", "日本 %41\"\x00", "a/b\n"}), rapid.String().Filter(utf8.ValidString)).Draw(t, label)
		}
		o := hook.Origin{
			Host: "h" + text("host"), Agent: "a" + text("agent"), Session: text("session"), Turn: text("turn"), CWD: text("cwd"),
			Workspace: text("workspace"), Model: text("model"), PermissionMode: text("mode"), TraceParent: text("trace"),
			Subagent: hook.Subagent{ID: text("id"), Type: text("kind")}, ParentAgent: text("parent"), ParentSession: text("from"),
			RootSession: text("root"), Cause: text("cause"), Hops: rapid.IntRange(0, 1000).Draw(t, "hops"), Ancestry: text("ancestry"),
		}
		said := map[string]string{"a": text("a"), "b": text("b"), "c": text("c")}
		events, _ := constructed(o, func(a string) string { return said[a] }, json.RawMessage(`{"a": 1.0 }`))
		name := rapid.SampledFrom(hook.Names()).Draw(t, "name")
		for method, want := range events {
			if want.Name != name {
				continue
			}
			header, body, err := cloudevent.Encode(want)
			require.NoError(t, err, method)
			got, err := cloudevent.Decode(header, body)
			require.NoError(t, err, method)
			want.Raw = body
			require.Equal(t, want, got, method)
			structured, err := cloudevent.Marshal(want)
			require.NoError(t, err, method)
			got, err = cloudevent.Unmarshal(structured)
			require.NoError(t, err, method)
			require.Equal(t, want, got, method)
		}
	})
}

func TestAnOriginWithoutNameIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*hook.Origin){
		"nothing":  func(o *hook.Origin) { *o = hook.Origin{} },
		"no host":  func(o *hook.Origin) { o.Host = "" },
		"no agent": func(o *hook.Origin) { o.Agent = "" },
		"no text":  func(o *hook.Origin) { o.Session = "\xff" },
	} {
		o := origin()
		change(&o)
		_, _, err := cloudevent.Encode(o.PreToolUse(readFile()))
		assert.ErrorIs(t, err, cloudevent.ErrEvent, name)
	}
}

func TestSubagentsAndSessions(t *testing.T) {
	t.Parallel()
	main := origin()
	e := main.PreToolUse(readFile())
	assert.Nil(t, e.Data.Subagent)
	assert.Empty(t, e.Extensions)
	assert.Equal(t, "s1", e.RootSession())
	assert.Empty(t, e.ParentSession())

	child := main.Child("a1", "explore")
	e = child.SubagentStart("look around")
	assert.Equal(t, "explore", e.Subject)
	assert.Equal(t, "s1", e.SessionID)
	assert.Empty(t, e.Extensions, "the agent itself started it")
	grandchild := child.Child("a2", "read")
	assert.Equal(t, map[string]string{hook.ParentAgentExtension: "a1"}, grandchild.Stop("", false).Extensions)
	assert.Equal(t, hook.Subagent{}, main.Subagent, "the origin that a child comes from stays as it is")

	apart := grandchild.InSession("s2")
	e = apart.Stop("", false)
	assert.Equal(t, "s2", e.SessionID)
	assert.Empty(t, e.CorrelationID)
	assert.Equal(t, "s1", e.ParentSession())
	assert.Equal(t, "s1", e.RootSession())
	e = apart.Child("a3", "write").InSession("s3").Stop("", false)
	assert.Equal(t, "s2", e.ParentSession())
	assert.Equal(t, "s1", e.RootSession())
	assert.Equal(t, "a2", e.Extensions[hook.ParentAgentExtension])
}

func TestCausedBy(t *testing.T) {
	t.Parallel()
	cause := origin().UserPromptSubmit("tidy up")
	cause.Hops, cause.TraceParent = 2, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	cause.Extensions = map[string]string{hook.AncestryExtension: hook.Mark("a hook")}
	e := origin().CausedBy(cause).PreToolUse(readFile())
	assert.Equal(t, cause.ID, e.CausationID)
	assert.Equal(t, 2, e.Hops)
	assert.Equal(t, cause.TraceParent, e.TraceParent)
	assert.True(t, e.Descended("a hook"))
	assert.NotEqual(t, cause.ID, e.ID)
}

func TestUnansweredFailsByClass(t *testing.T) {
	t.Parallel()
	events, _ := constructed(origin(), func(string) string { return "x" }, json.RawMessage(`{}`))
	for _, e := range events {
		v := e.Unanswered(bus.ErrNoGateway)
		assert.Equal(t, e.ID, v.EventID)
		assert.Contains(t, v.Reason, bus.ErrNoGateway.Error())
		assert.Equal(t, e.Name.Class() == hook.Gate, v.Effect.Blocks(), "%s", e.Name)
		assert.False(t, v.Grant)
	}
	assert.Equal(t, hook.Deny, origin().PreToolUse(readFile()).Unanswered(nil).Effect)
	assert.Equal(t, hook.Abstain, origin().Stop("", false).Unanswered(nil).Effect)
}

// An agent in Go inherits what the agents inherit that have hook commands.
func TestInheritIsTheEdgesLineage(t *testing.T) {
	t.Parallel()
	marks := hook.Mark("one") + "," + hook.Mark("two")
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for name, environment := range map[string]map[string]string{
		"nothing":       {},
		"all":           {hookwire.EnvHops: "2", hookwire.EnvCausation: "e-1", hookwire.EnvAncestry: marks, hookwire.EnvTraceParent: trace},
		"the first":     {hookwire.EnvHops: "0"},
		"the last":      {hookwire.EnvHops: "999"},
		"one too many":  {hookwire.EnvHops: "1000"},
		"negative":      {hookwire.EnvHops: "-1"},
		"no number":     {hookwire.EnvHops: "two"},
		"no hooks":      {hookwire.EnvAncestry: "everybody"},
		"an empty mark": {hookwire.EnvAncestry: marks + ","},
	} {
		lookup := func(name string) string { return environment[name] }
		var want hook.Event
		wrong := protocol.Lineage(&want, lookup)
		o, err := origin().Inherit(lookup)
		assert.Equal(t, wrong == nil, err == nil, "%s: %v, %v", name, wrong, err)
		if err != nil {
			continue
		}
		got := o.PreToolUse(readFile())
		assert.Equal(t, want.Hops, got.Hops, name)
		assert.Equal(t, want.CausationID, got.CausationID, name)
		assert.Equal(t, want.TraceParent, got.TraceParent, name)
		assert.Equal(t, want.Extensions, got.Extensions, name)
		_, _, err = cloudevent.Encode(got)
		assert.NoError(t, err, name)
	}
}
