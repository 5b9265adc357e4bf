package claudecode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

func call(event string, stdin []byte) protocol.Call {
	return protocol.Call{
		Event: event, Stdin: stdin, Source: "/laptop/claude-code", Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
		CWD: "/from/the/shim", Env: []hookwire.Var{{Name: "CLAUDE_PROJECT_DIR", Value: "/home/dev/shop"}},
	}
}

// payloads reads every payload in testdata, by file name.
func payloads(t testing.TB) map[string][]byte {
	found := make(map[string][]byte)
	for _, dir := range []string{"written", "recorded"} {
		files, err := filepath.Glob(filepath.Join("testdata", dir, "*.json"))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, ".out.json") {
				continue
			}
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			found[filepath.ToSlash(file)] = b
		}
	}
	return found
}

func eventName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), "-")
	return strings.TrimSuffix(name, ".json")
}

func TestEveryPayload(t *testing.T) {
	t.Parallel()
	all := payloads(t)
	require.Greater(t, len(all), 60)
	events := make(map[string]bool)
	for file, stdin := range all {
		native := eventName(file)
		events[native] = true
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			e, err := claudecode.Event(call(native, stdin))
			require.NoError(t, err)
			assert.Equal(t, "/laptop/claude-code", e.Source)
			assert.True(t, e.Name.Known() && e.Name != hook.Other, "canonical name %s", e.Name)
			assert.Equal(t, native, e.Data.Native.Event)
			assert.Equal(t, "claude-code", e.Data.Native.Agent)
			assert.Equal(t, string(bytes.TrimSpace(stdin)), string(e.Data.Native.Payload), "the payload is untouched")
			assert.Equal(t, "/home/dev/shop", e.Data.Workspace)
			assert.NotEmpty(t, e.SessionID)
			assert.NotEmpty(t, e.ID)

			var want map[string]any
			require.NoError(t, json.Unmarshal(stdin, &want))
			same := func(key, got string) {
				if v, ok := want[key].(string); ok {
					assert.Equal(t, v, got, key)
				}
			}
			same("session_id", e.SessionID)
			same("prompt_id", e.CorrelationID)
			same("cwd", e.Data.CWD)
			same("permission_mode", e.Data.PermissionMode)
			if e.Data.Tool != nil {
				same("tool_name", e.Subject)
				same("tool_name", e.Data.Tool.Name)
				same("tool_use_id", e.Data.Tool.CallID)
				assert.NotEqual(t, hook.KindOther, e.Data.Tool.Kind)
				assert.Contains(t, string(stdin), string(e.Data.Tool.Input), "the input is untouched")
				input, err := json.Marshal(want["tool_input"])
				require.NoError(t, err)
				assert.JSONEq(t, string(input), string(e.Data.Tool.Input))
			}
			assert.Equal(t, want["tool_name"] != nil, e.Data.Tool != nil)

			// It travels: through the wire and back it is the same event.
			data, err := cloudevent.EncodeData(e)
			require.NoError(t, err)
			back := hook.Event{}
			require.NoError(t, cloudevent.DecodeData(&back, data))
			assert.Equal(t, string(e.Data.Native.Payload), string(back.Data.Native.Payload))
			back.Data.Native.Payload, e.Data.Native.Payload = nil, nil
			assert.Equal(t, e.Data, back.Data)
		})
	}
	for _, c := range claudecode.Capabilities() {
		assert.True(t, events[c.Event], "no payload of %s", c.Event)
	}
}

func TestCanonicalFields(t *testing.T) {
	t.Parallel()
	for file, check := range map[string]func(t *testing.T, e hook.Event){
		"written/PreToolUse-3-edit-subagent.json": func(t *testing.T, e hook.Event) {
			assert.Equal(t, hook.PreToolUse, e.Name)
			assert.Equal(t, hook.KindFileEdit, e.Data.Tool.Kind)
			assert.Equal(t, "/home/dev/shop/main.go", e.Data.Path)
			assert.Equal(t, &hook.Subagent{ID: "a4d2c8f1e0b3a297", Type: "general-purpose"}, e.Data.Subagent)
			assert.Equal(t, "pre_tool_use.edit", e.Key())
		},
		"written/PreToolUse-5-windows-powershell.json": func(t *testing.T, e hook.Event) {
			assert.Equal(t, hook.KindShell, e.Data.Tool.Kind)
		},
		"recorded/PostToolUse-1.json": func(t *testing.T, e hook.Event) {
			assert.EqualValues(t, 85, e.Data.DurationMS)
			assert.Contains(t, string(e.Data.Result), `"stdout": "seed.txt\nwatched.txt"`)
		},
		"recorded/MessageDisplay-1.json": func(t *testing.T, e hook.Event) {
			assert.Equal(t, hook.AgentMessage, e.Name)
			assert.Equal(t, "all done shell_ok", e.Data.Message)
		},
		"written/MessageDisplay-1.json": func(t *testing.T, e hook.Event) {
			assert.Equal(t, hook.ModelStreamChunk, e.Name)
		},
		"written/FileChanged-1.json": func(t *testing.T, e hook.Event) {
			assert.Equal(t, ".envrc", e.Subject)
			assert.Equal(t, "/home/dev/shop/.envrc", e.Data.Path)
		},
		"recorded/UserPromptExpansion-1.json": func(t *testing.T, e hook.Event) {
			assert.Equal(t, "rigcmd", e.Subject)
			assert.Equal(t, "/rigcmd [[rig:shell_ok]]", e.Data.Prompt)
		},
		"recorded/StopFailure-1.json": func(t *testing.T, e hook.Event) {
			assert.Equal(t, "unknown", e.Data.Error)
			assert.Equal(t, "API Error: 400 rig says no", e.Data.Message)
		},
		"written/TeammateIdle-1.json": func(t *testing.T, e hook.Event) {
			assert.Equal(t, "researcher", e.Data.Subagent.ID)
		},
		"recorded/ElicitationResult-1.json": func(t *testing.T, e hook.Event) {
			assert.Equal(t, "cancel", e.Data.Reason)
			assert.Equal(t, "rigmcp", e.Subject)
		},
		"written/PreModelSwitch-1.json": func(t *testing.T, e hook.Event) {
			assert.Equal(t, e.Data.Model, e.Subject)
			assert.NotEmpty(t, e.Data.Model)
		},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			stdin, err := os.ReadFile("testdata/" + file)
			require.NoError(t, err)
			e, err := claudecode.Event(call(eventName(file), stdin))
			require.NoError(t, err)
			check(t, e)
		})
	}
}

func TestCanonicalNameOnTheCommandLine(t *testing.T) {
	t.Parallel()
	stdin := []byte(`{"hook_event_name":"SessionStart","session_id":"s","source":"resume"}`)
	for _, name := range []string{"SessionStart", "session_start", "session_resume"} {
		e, err := claudecode.Event(call(name, stdin))
		require.NoError(t, err, name)
		assert.Equal(t, hook.SessionResume, e.Name)
		assert.Equal(t, "resume", e.Subject)
	}
}

// preToolUse is a payload with a tool's name.
func preToolUse(t testing.TB, tool, id string) []byte {
	name, err := json.Marshal(tool)
	require.NoError(t, err)
	return fmt.Appendf(nil, `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":%s,"tool_input":{"command":"ls"},"tool_use_id":%q}`, name, id)
}

func TestOddToolNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("név.", 2500)
	for _, tool := range []string{"a.b", "a b", "*", ">", "hooks.>", "nul\x00nul", "🪝", "mcp__srv.eu__tool*", "_", long, long + "x"} {
		e, err := claudecode.Event(call("PreToolUse", preToolUse(t, tool, "t1")))
		require.NoError(t, err, "%.40q", tool)
		assert.Equal(t, tool, e.Data.Tool.Name, "the whole name is in the data")
		assert.LessOrEqual(t, len(e.Subject), 1024)
		if len(tool) <= 1024 {
			assert.Equal(t, tool, e.Subject)
		}
		token := hook.Token(e.Subject)
		assert.Regexp(t, `^[a-z0-9_-]{1,64}$`, token)
		headers, data, err := cloudevent.Encode(e)
		require.NoError(t, err)
		back, err := cloudevent.Decode(headers, data)
		require.NoError(t, err)
		assert.Equal(t, e.Subject, back.Subject)
		assert.Equal(t, tool, back.Data.Tool.Name)
	}
	a, b := protocol.Clip(long), protocol.Clip(long+"x")
	assert.NotEqual(t, a, b, "different long names stay different")
}

func TestEventIDs(t *testing.T) {
	t.Parallel()
	id := func(event string, stdin []byte) string {
		e, err := claudecode.Event(call(event, stdin))
		require.NoError(t, err)
		return e.ID
	}
	one := id("PreToolUse", preToolUse(t, "Bash", "t1"))
	assert.Equal(t, one, id("PreToolUse", preToolUse(t, "Bash", "t1")), "the same call twice")
	assert.Equal(t, one, id("pre_tool_use", preToolUse(t, "Bash", "t1")), "registered under both names")
	assert.NotEqual(t, one, id("PreToolUse", preToolUse(t, "Bash", "t2")), "another call of the same command")
	changed := bytes.Replace(preToolUse(t, "Bash", "t1"), []byte("ls"), []byte("rm"), 1)
	assert.NotEqual(t, one, id("PreToolUse", changed), "the same call id with another input")
	assert.NotEqual(t, one, id("PreToolUse", bytes.Replace(preToolUse(t, "Bash", "t1"), []byte(`"s"`), []byte(`"s2"`), 1)), "another session")
	post := bytes.Replace(preToolUse(t, "Bash", "t1"), []byte("PreToolUse"), []byte("PostToolUse"), 1)
	assert.NotEqual(t, one, id("PostToolUse", post), "before and after")

	request := bytes.Replace(preToolUse(t, "Bash", ""), []byte("PreToolUse"), []byte("PermissionRequest"), 1)
	assert.NotEqual(t, id("PermissionRequest", request), id("PermissionRequest", request), "without a call id each is its own")
	stop := []byte(`{"session_id":"s","hook_event_name":"Stop","stop_hook_active":false}`)
	assert.NotEqual(t, id("Stop", stop), id("Stop", stop))
}

func TestCause(t *testing.T) {
	t.Parallel()
	c := call("PreToolUse", preToolUse(t, "Bash", "t1"))
	c.Env = append(c.Env, hookwire.Var{Name: hookwire.EnvHops, Value: "3"}, hookwire.Var{Name: hookwire.EnvCausation, Value: "cc-1"},
		hookwire.Var{Name: "TRACEPARENT", Value: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
	e, err := claudecode.Event(c)
	require.NoError(t, err)
	assert.Equal(t, 4, e.Hops)
	assert.Equal(t, "cc-1", e.CausationID)
	assert.Equal(t, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", e.TraceParent)

	for _, value := range []string{"-1", "x", "1000", "99999999999999999999"} {
		c.Env = []hookwire.Var{{Name: hookwire.EnvHops, Value: value}}
		_, err := claudecode.Event(c)
		assert.ErrorIs(t, err, protocol.ErrLineage, value)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	t.Parallel()
	good := `"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}`
	for name, stdin := range map[string]string{
		"empty":                 "",
		"white space":           " \n\t ",
		"not JSON":              "hello",
		"half":                  `{"session_id":"s"`,
		"array":                 `[{` + good + `}]`,
		"two documents":         `{` + good + `}{` + good + `}`,
		"text after":            `{` + good + `} x`,
		"byte order mark":       "\ufeff{" + good + "}",
		"duplicate tool":        `{` + good + `,"tool_name":"Read"}`,
		"duplicate input":       `{` + good + `,"tool_input":{"command":"rm -rf /"}}`,
		"duplicate inside":      `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","command":"rm"}}`,
		"duplicate by escape":   `{` + good + `,"tool\u005fname":"Read"}`,
		"tool name a number":    `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":1,"tool_input":{}}`,
		"no tool name":          `{"session_id":"s","hook_event_name":"PreToolUse","tool_input":{}}`,
		"case variant":          `{"session_id":"s","hook_event_name":"PreToolUse","Tool_Name":"Bash","tool_input":{}}`,
		"input a string":        `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"{\"command\":\"ls\"}"}`,
		"input null":            `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":null}`,
		"session an object":     `{"session_id":{},"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`,
		"no event name":         `{"session_id":"s","tool_name":"Bash","tool_input":{}}`,
		"another event":         `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{}}`,
		"an unknown event":      `{"session_id":"s","hook_event_name":"PreToolUse2","tool_name":"Bash","tool_input":{}}`,
		"deep":                  `{` + good + `,"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
		"just too deep":         `{` + good + `,"x":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`,
		"invalid UTF-8":         `{` + good + ",\"x\":\"\xff\"}",
		"half a surrogate pair": `{` + good + `,"x":"\ud800"}`,
		"10 MB":                 `{` + good + `,"x":"` + strings.Repeat("y", 10<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := call("PreToolUse", []byte(stdin))
			_, err := claudecode.Event(c)
			require.ErrorIs(t, err, protocol.ErrPayload)
			assert.Less(t, len(err.Error()), 500, "an error is for people")
			a := claudecode.Refuse(c, err)
			assert.Equal(t, 2, a.Exit, "a gate is denied")
			assert.True(t, outcome(t, "PreToolUse", a.Response).Blocked)
			assert.Contains(t, string(a.Stderr), "grapnel refused this")
		})
	}
}

func TestUnknownEvents(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Brand.New", "with space", "*", ">", "🪝", strings.Repeat("N", 10_000)} {
		native, err := json.Marshal(name)
		require.NoError(t, err)
		stdin := fmt.Appendf(nil, `{"session_id":"s","hook_event_name":%s,"something":1}`, native)
		e, err := claudecode.Event(call(name, stdin))
		require.NoError(t, err, "%.40q", name)
		assert.Equal(t, hook.Other, e.Name)
		assert.Equal(t, name, e.Data.Native.Event)
		assert.Equal(t, string(stdin), string(e.Data.Native.Payload))

		// It cannot carry a tool call past the gates.
		stdin = fmt.Appendf(nil, `{"session_id":"s","hook_event_name":%s,"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`, native)
		c := call(name, stdin)
		_, err = claudecode.Event(c)
		require.ErrorIs(t, err, protocol.ErrPayload)
		a := claudecode.Refuse(c, err)
		assert.Equal(t, 2, a.Exit)
		assert.NotEmpty(t, a.Stderr)
	}
	// Neither can an event that is registered under another's name.
	c := call("Brand.New", preToolUse(t, "Bash", "t1"))
	_, err := claudecode.Event(c)
	require.ErrorIs(t, err, protocol.ErrPayload)
	assert.True(t, outcome(t, "PreToolUse", claudecode.Refuse(c, err).Response).Blocked, "denied in the true event's language")
	c = call("Stop", preToolUse(t, "Bash", "t1"))
	_, err = claudecode.Event(c)
	require.ErrorIs(t, err, protocol.ErrPayload)
	assert.True(t, outcome(t, "PreToolUse", claudecode.Refuse(c, err).Response).Blocked)
}

// TestLargeResults: what has happened is kept, although it is too large to
// stand in the event twice.
func TestLargeResults(t *testing.T) {
	t.Parallel()
	stdin := bytes.Replace(preToolUse(t, "Bash", "t1"), []byte(`"PreToolUse"`),
		[]byte(`"PostToolUse","tool_response":"`+strings.Repeat("x", 7<<20)+`"`), 1)
	e, err := claudecode.Event(call("PostToolUse", stdin))
	require.NoError(t, err)
	assert.Equal(t, "Bash", e.Data.Tool.Name)
	assert.Equal(t, "t1", e.Data.Tool.CallID)
	assert.True(t, bytes.Equal(stdin, e.Data.Native.Payload))
	_, err = cloudevent.EncodeData(e)
	require.NoError(t, err)
}

// TestWrongRegistration: whichever of the two names is the true one, the gate
// holds.
func TestWrongRegistration(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{
		{"PreToolUse", "PermissionRequest"}, {"PermissionRequest", "PreToolUse"}, {"PreToolUse", "Stop"}, {"Stop", "PreToolUse"},
		{"PostToolUse", "UserPromptSubmit"}, {"Stop", "PermissionRequest"},
	} {
		c := call(names[0], bytes.Replace(preToolUse(t, "Bash", "t1"), []byte("PreToolUse"), []byte(names[1]), 1))
		_, err := claudecode.Event(c)
		require.ErrorIs(t, err, protocol.ErrPayload)
		a := claudecode.Refuse(c, err)
		assert.Equal(t, 2, a.Exit, "%q", names)
		assert.Contains(t, string(a.Stderr), "register one hook for each event")
		for _, event := range names {
			if hookwire.ClassOf(event) != hookwire.Gate || event == "PermissionRequest" && names[1] != event {
				continue // the payload's own name is the true one
			}
			assert.True(t, outcome(t, event, a.Response).Blocked, "%q on %s", names, event)
		}
	}
	c := call("Stop", []byte(`{"hook_event_name":"SubagentStop"}`))
	_, err := claudecode.Event(c)
	require.ErrorIs(t, err, protocol.ErrPayload)
	assert.Equal(t, hookwire.Response{Stdout: []byte("{}\n")}, claudecode.Refuse(c, err).Response)
}

func TestBadLifecyclePayloadPasses(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"Stop", "SubagentStop", "SessionStart", "PostToolUse", "SessionEnd", "Notification"} {
		c := call(event, []byte(`{"half":`))
		_, err := claudecode.Event(c)
		require.Error(t, err)
		a := claudecode.Refuse(c, err)
		assert.Equal(t, hookwire.Response{Stdout: []byte("{}\n")}, a.Response, event)
		assert.NotEmpty(t, a.Note, "it is told to whoever records it")
	}
}
