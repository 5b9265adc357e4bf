package opencode_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/opencode"
	"github.com/grapnel-dev/grapnel/internal/edge/opencode/opencodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func suite() protocoltest.Suite {
	return protocoltest.Suite{
		Agent: opencode.New(), Payloads: []string{"testdata/written", "testdata/recorded"}, Client: opencodetest.Run, Golden: "testdata",
	}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	suite().Run(t)
}

func FuzzEvent(f *testing.F) { suite().Fuzz(f) }

// TestWhatCannotBeReadIsThrown holds a gate closed for every way in which a
// hook process can end without an answer.
func TestWhatCannotBeReadIsThrown(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"tool.execute.before", "chat.message", "command.execute.before"} {
		for name, p := range map[string]protocoltest.Process{
			"nothing": {}, "text": {Stdout: "fine"}, "half": {Stdout: `{"output":`}, "a list": {Stdout: "[]"}, "null": {Stdout: "null"},
			"text before": {Stdout: "hello\n{}"}, "two": {Stdout: "{}{}"}, "exit 1": {Stdout: "{}", Exit: 1}, "exit 2 alone": {Exit: 2},
			"another word": {Stdout: `{"decision":"ask"}`}, "allow": {Stdout: `{"decision":"allow"}`}, "another key": {Stdout: `{"continue":true}`},
			"late": {Ending: protocoltest.TimedOut}, "killed": {Ending: protocoltest.Killed}, "not there": {Ending: protocoltest.NotFound, Exit: 127},
			"arguments of a wrong type": {Stdout: `{"output":{"args":"ls"}}`}, "no arguments": {Stdout: `{"output":{}}`}, "null output": {Stdout: `{"output":null}`},
		} {
			got := opencodetest.Run(protocoltest.Situation{Event: event, Approved: true}, p)
			assert.True(t, got.Blocked, "%s, %s", event, name)
		}
		assert.False(t, opencodetest.Run(protocoltest.Situation{Event: event, Approved: true}, protocoltest.Process{Stdout: " {}\n"}).Blocked)
	}
}

// TestPayloadsOfAnUnknownShape holds that no part of a prompt escapes a gate.
func TestPayloadsOfAnUnknownShape(t *testing.T) {
	t.Parallel()
	agent := opencode.New()
	for _, c := range []struct{ event, members string }{
		{"chat.message", `"input":[],"output":{}`},
		{"chat.message", `"input":{},"output":{"parts":{"text":"hidden"}}`},
		{"chat.message", `"input":{},"output":{"parts":["hidden"]}`},
		{"chat.message", `"input":{},"output":{"parts":[{"type":"text","text":["hidden"]}]}`},
		{"tool.execute.before", `"input":{"tool":"bash"},"output":[]`},
		{"tool.execute.before", `"input":{"tool":"bash"},"output":{"args":"ls"}`},
		{"tool.execute.before", `"input":{},"output":{"args":{}}`},
		{"tool.execute.before", `"input":{"tool":7},"output":{"args":{}}`},
	} {
		call := protocoltest.Call(agent, c.event, []byte(`{"hook_event_name":"`+c.event+`",`+c.members+`}`))
		_, err := agent.Event(call)
		require.Error(t, err, c.members)
		got := opencodetest.Run(protocoltest.Situation{Event: c.event, Approved: true}, protocoltest.Of(agent.Refuse(call, err).Response))
		assert.True(t, got.Blocked, c.members)
	}
}

func TestNamesThatThePayloadDecides(t *testing.T) {
	t.Parallel()
	agent := opencode.New()
	for _, c := range []struct {
		event, properties string
		want              hook.Name
	}{
		{"session.created", `{"info":{"id":"a"}}`, hook.SessionStart},
		{"session.created", `{"info":{"id":"b","parentID":"a"}}`, hook.SubagentStart},
		{"permission.replied", `{"reply":"once"}`, hook.PermissionGranted},
		{"permission.replied", `{"reply":"always"}`, hook.PermissionGranted},
		{"permission.replied", `{"reply":"reject"}`, hook.PermissionDenied},
	} {
		stdin := `{"hook_event_name":"` + c.event + `","input":{"event":{"type":"` + c.event + `","properties":` + c.properties + `}}}`
		e, err := agent.Event(protocoltest.Call(agent, c.event, []byte(stdin)))
		require.NoError(t, err)
		assert.Equal(t, c.want, e.Name, c.properties)
	}
}

// A sub-agent has a session of its own, which says once where it comes from.
func TestSubagentsSessionSaysItsParent(t *testing.T) {
	t.Parallel()
	stdin, err := os.ReadFile("testdata/written/session.created-1-subagent.json")
	require.NoError(t, err)
	e, err := opencode.New().Event(protocoltest.Call(opencode.New(), "session.created", stdin))
	require.NoError(t, err)
	assert.Equal(t, "oc-2", e.SessionID)
	assert.Equal(t, "oc-1", e.ParentSession())
}

// notReplayed are the cases that are not about our plugin.
func notReplayed(name string) string {
	return map[string]string{
		"pre_exit1":   "the plugin that was watched let it pass, and ours throws",
		"pre_hang":    "the plugin that was watched let it pass, and ours throws",
		"post_exit2":  "ours does not wait",
		"post_update": "ours does not wait",
		"perm_deny":   "the hook was never called", "perm_allow": "the hook was never called",
		"sys_context": "ours leaves the hook out",
	}[name]
}

// TestClientIsTrue replays what OpenCode was seen to do with a plugin that
// throws, and with one that changes arguments.
func TestClientIsTrue(t *testing.T) {
	t.Parallel()
	replayed := 0
	for _, c := range protocoltest.Observed(t, "testdata/observed.txt") {
		if notReplayed(c.Name) != "" {
			continue
		}
		event := map[string]string{"pre": "tool.execute.before", "msg": "chat.message"}[c.Group]
		process, ok := protocoltest.Left(c.Kind, event, "")
		if c.Kind == "update" {
			process, ok = protocoltest.Process{Stdout: `{"output":{"args":{"command":"changed"}}}`}, true
		}
		require.True(t, ok, "case %s is neither replayed nor listed", c.Name)
		replayed++
		got := opencodetest.Run(protocoltest.Situation{Event: event, Approved: true}, process)
		assert.Equal(t, !c.Ran(), got.Blocked, "%s; seen: %s", c.Name, c.Effect)
		assert.Equal(t, strings.Contains(c.Effect, "CHANGED"), got.Changed != nil, "%s; seen: %s", c.Name, c.Effect)
		for word, text := range protocoltest.Seen() {
			assert.Equal(t, c.Sees("model", word), strings.Contains(strings.Join(got.ToModel, "\n"), text), "%s: the model sees the %s; seen: %s", c.Name, word, c.Effect)
		}
	}
	assert.Equal(t, 3, replayed)
}
