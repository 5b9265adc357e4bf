package hookwire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

func TestRequestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := hookwire.Request{
			Agent: rapid.String().Draw(t, "agent"), Event: rapid.String().Draw(t, "event"), CWD: rapid.String().Draw(t, "cwd"),
			PID: rapid.IntRange(0, 1<<22).Draw(t, "pid"), PPID: rapid.IntRange(0, 1<<22).Draw(t, "ppid"),
			Deadline: rapid.Int64().Draw(t, "deadline"), Stdin: rapid.SliceOf(rapid.Byte()).Draw(t, "stdin"),
		}
		for range rapid.IntRange(0, 4).Draw(t, "variables") {
			q.Env = append(q.Env, hookwire.Var{Name: rapid.String().Draw(t, "name"), Value: rapid.String().Draw(t, "value")})
		}
		frame, err := hookwire.AppendRequest([]byte("before"), q)
		require.NoError(t, err)
		got, err := hookwire.ReadRequest(iotest.HalfReader(bytes.NewReader(frame[len("before"):])))
		require.NoError(t, err)
		assert.Equal(t, q, got)
	})
}

func TestResponseRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := hookwire.Response{
			Exit:   rapid.IntRange(0, 255).Draw(t, "exit"),
			Stdout: rapid.SliceOf(rapid.Byte()).Draw(t, "stdout"), Stderr: rapid.SliceOf(rapid.Byte()).Draw(t, "stderr"),
		}
		frame, err := hookwire.AppendResponse(nil, p)
		require.NoError(t, err)
		got, err := hookwire.ReadResponse(iotest.OneByteReader(bytes.NewReader(frame)))
		require.NoError(t, err)
		assert.Equal(t, p, got)
		for cut := range frame { // no piece of a frame is a frame
			_, err := hookwire.ReadResponse(bytes.NewReader(frame[:cut]))
			require.Error(t, err)
		}
	})
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	_, err := hookwire.ReadResponse(bytes.NewReader(hookwire.AppendRefusal(nil, "too busy")))
	var refused *hookwire.Refused
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "too busy", refused.Reason)
	_, err = hookwire.ReadResponse(bytes.NewReader(hookwire.AppendRefusal(nil, strings.Repeat("x", 1<<20))))
	require.ErrorAs(t, err, &refused)
	assert.Len(t, refused.Reason, 4<<10)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	q := hookwire.Request{Agent: "a", Event: "e", Stdin: make([]byte, hookwire.MaxStdin)}
	frame, err := hookwire.AppendRequest(nil, q)
	require.NoError(t, err)
	got, err := hookwire.ReadRequest(bytes.NewReader(frame))
	require.NoError(t, err)
	assert.Len(t, got.Stdin, hookwire.MaxStdin)

	q.Stdin = make([]byte, hookwire.MaxStdin+1)
	_, err = hookwire.AppendRequest(nil, q)
	assert.ErrorIs(t, err, hookwire.ErrTooLarge)
	assert.ErrorContains(t, err, "at most 16777216")
	_, err = hookwire.AppendRequest(nil, hookwire.Request{Event: strings.Repeat("x", hookwire.MaxName+1)})
	assert.ErrorIs(t, err, hookwire.ErrTooLarge)
	_, err = hookwire.AppendRequest(nil, hookwire.Request{Env: make([]hookwire.Var, hookwire.MaxEnv+1)})
	assert.ErrorIs(t, err, hookwire.ErrTooLarge)
	_, err = hookwire.AppendResponse(nil, hookwire.Response{Stdout: make([]byte, hookwire.MaxResponse+1)})
	assert.ErrorIs(t, err, hookwire.ErrTooLarge)
}

func TestBadFrames(t *testing.T) {
	t.Parallel()
	good, err := hookwire.AppendRequest(nil, hookwire.Request{Agent: "a", Event: "e", Stdin: []byte("{}")})
	require.NoError(t, err)
	change := func(at int, b byte) []byte {
		frame := bytes.Clone(good)
		frame[at] = b
		return frame
	}
	for name, c := range map[string]struct {
		frame []byte
		want  error
	}{
		"nothing":       {nil, io.EOF},
		"HTTP":          {[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), hookwire.ErrFrame},
		"version":       {change(4, 9), hookwire.ErrVersion},
		"kind":          {change(5, 2), hookwire.ErrFrame},
		"reserved":      {change(6, 1), hookwire.ErrFrame},
		"huge":          {change(8, 0xff), hookwire.ErrTooLarge},
		"short by one":  {good[:len(good)-1], io.ErrUnexpectedEOF},
		"inner length":  {change(12, 0xff), hookwire.ErrFrame},
		"one byte more": {append(change(11, good[11]+1), 0), hookwire.ErrFrame},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := hookwire.ReadRequest(bytes.NewReader(c.frame))
			assert.ErrorIs(t, err, c.want)
		})
	}
}

func TestALengthCostsNothing(t *testing.T) {
	frame := binary.BigEndian.AppendUint32([]byte{'g', 'r', 'p', 'n', hookwire.Version, 1, 0, 0}, hookwire.MaxStdin)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		_, err := hookwire.ReadRequest(bytes.NewReader(frame))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), "16 MiB were promised a hundred times")
}

func TestUsable(t *testing.T) {
	t.Parallel()
	for stdout, want := range map[string]bool{
		`{}`: true, " {}\n\n": true, `{"a":"}"}`: true, `{"a":"\""}`: true, `{"a":[{}]}`: true,
		``: false, ` `: false, `x{}`: false, `{}x`: false, `{"a":`: false, `{"a":"}`: false, `{"a":{"b":1}`: false,
		`[]`: false, `"{}"`: false, `{}{}`: false, `panic: {}`: false,
	} {
		assert.Equal(t, want, hookwire.Usable("claude-code", "PreToolUse", hookwire.Response{Stdout: []byte(stdout)}), "%q", stdout)
	}
	for exit, want := range map[int]bool{0: true, 2: true, 1: false, 3: false, 127: false, 137: false} {
		assert.Equal(t, want, hookwire.Usable("claude-code", "Stop", hookwire.Response{Exit: exit, Stdout: []byte("{}")}))
	}
}

func TestAloneIsAlwaysWellFormed(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"", "plain", "quote \" slash \\ line\n tab\t", "🪝 é \u2028", "\xff\xfe\x00", strings.Repeat("漢", 9000)} {
		for _, event := range []string{"PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "MessageDisplay", "Unknown"} {
			r := hookwire.Alone("claude-code", event, reason)
			require.True(t, json.Valid(r.Stdout), "%s: %s", event, r.Stdout)
			assert.True(t, hookwire.Usable("claude-code", event, r))
			if utf8Text(reason) && len(reason) < 100 && hookwire.ClassOf(event) == hookwire.Gate {
				var all map[string]any
				require.NoError(t, json.Unmarshal(r.Stdout, &all))
				if event != "PermissionRequest" {
					assert.Equal(t, reason, all["reason"])
					assert.Equal(t, reason, all["permissionDecisionReason"])
				}
			}
		}
	}
	assert.Equal(t, hookwire.Gate, hookwire.ClassOf("SomethingNew"), "what is not known is a gate")
	assert.Equal(t, 2, hookwire.Alone("some-agent", "anything", "no").Exit)
}

func TestAgentsThatReadNoJSON(t *testing.T) {
	t.Parallel()
	text, alone := hookwire.Response{Stdout: []byte("Use make test.\n")}, hookwire.Response{Exit: 2, Stderr: []byte("no\n")}
	for _, agent := range []string{"kiro-cli", "kimi-code"} {
		assert.True(t, hookwire.Usable(agent, "UserPromptSubmit", text), agent)
		assert.False(t, hookwire.Usable(agent, "UserPromptSubmit", hookwire.Response{Exit: 1, Stdout: text.Stdout}), agent)
		assert.False(t, hookwire.Usable(agent, "UserPromptSubmit", hookwire.Response{Exit: 2, Stdout: text.Stdout}), agent)
	}
	assert.False(t, hookwire.Usable("goose", "PreToolUse", text))
	for _, agent := range []string{"kiro-cli", "windsurf"} {
		assert.Equal(t, alone, hookwire.Alone(agent, "PreToolUse", "no"), agent)
		assert.True(t, hookwire.Usable(agent, "PreToolUse", alone), agent)
	}
	assert.Equal(t, hookwire.Response{Stderr: []byte("no\n")}, hookwire.Alone("antigravity", "PreInvocation", "no"))
}

// TestCursorIsToldToGoOn: it blocks where nothing is said, and may take an
// allow for a grant in its last hooks before the person is asked.
func TestCursorIsToldToGoOn(t *testing.T) {
	t.Parallel()
	const ask = `"permission":"ask","user_message":"grapnel has no opinion on this"}`
	for event, want := range map[string]string{
		"preToolUse": `{"permission":"allow"}`, "pre_file_read": `{"permission":"allow"}`, "subagentStart": `{"permission":"allow"}`,
		"beforeSubmitPrompt": `{"continue":true}`, "user_prompt_submit": `{"continue":true}`,
		"beforeShellExecution": "{" + ask, "pre_mcp_call": "{" + ask, "somethingNew": `{"continue":true,` + ask, "stop": "{}", "afterFileEdit": "{}",
	} {
		r := hookwire.Silent("cursor", event)
		assert.Equal(t, hookwire.Response{Stdout: []byte(want + "\n")}, r, event)
		assert.True(t, hookwire.Usable("cursor", event, r), event)
	}
}

func TestSomeGateIsClosedInEveryShape(t *testing.T) {
	t.Parallel()
	deny := func(agent, event string) hookwire.Response {
		r := hookwire.Alone(agent, event, "no")
		assert.True(t, hookwire.Usable(agent, event, r), "%s %q", agent, event)
		return r
	}
	// Copilot's prompts are closed with exit code 0 alone, Qwen Code's
	// permissions in a place of their own.
	assert.Equal(t, hookwire.Response{Stdout: []byte(`{"decision":"block","reason":"no","permissionDecision":"deny","permissionDecisionReason":"no",` +
		`"behavior":"deny","message":"no"}` + "\n"), Stderr: []byte("no\n")}, deny("copilot", ""))
	assert.Equal(t, deny("copilot", ""), deny("copilot", "userPromptSubmitted"))
	assert.Equal(t, 2, deny("copilot", "preToolUse").Exit)
	assert.Equal(t, hookwire.Response{Stdout: []byte(`{"decision":"block","reason":"no","hookSpecificOutput":{"hookEventName":"PermissionRequest",` +
		`"decision":{"behavior":"deny","message":"no"}}}` + "\n"), Stderr: []byte("no\n")}, deny("qwen-code", ""))
	assert.Equal(t, 2, deny("codex", "").Exit)
}

func utf8Text(s string) bool { return strings.ToValidUTF8(s, "") == s }

func TestSocketPaths(t *testing.T) {
	t.Parallel()
	env := func(vars map[string]string) func(string) string {
		return func(name string) string { return vars[name] }
	}
	assert.Empty(t, hookwire.SocketPaths(env(nil)))
	assert.Equal(t, []string{"/s"}, hookwire.SocketPaths(env(map[string]string{"GRAPNEL_SOCKET": "/s", "HOME": "/h", "XDG_RUNTIME_DIR": "/r"})))
	assert.Equal(t, []string{"/r/grapnel/hook.sock", "/h/.local/state/grapnel/run/hook.sock"},
		hookwire.SocketPaths(env(map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": "/r"})))
	assert.Equal(t, []string{"/x/grapnel/run/hook.sock"}, hookwire.SocketPaths(env(map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/x"})))
}

func TestNoTokenTravels(t *testing.T) {
	t.Parallel()
	for _, name := range hookwire.Allowed("claude-code") {
		for _, word := range []string{"TOKEN", "KEY", "SECRET", "PASSWORD", "MESSAGING"} {
			assert.NotContains(t, name, word)
		}
	}
}

// FuzzFrame: whatever comes in, reading ends with a frame that says the same
// when it is written again, or with an error.
func FuzzFrame(f *testing.F) {
	request, err := hookwire.AppendRequest(nil, hookwire.Request{Agent: "claude-code", Event: "Stop", Env: []hookwire.Var{{Name: "A", Value: "b"}}, Stdin: []byte("{}")})
	require.NoError(f, err)
	response, err := hookwire.AppendResponse(nil, hookwire.Response{Exit: 2, Stdout: []byte("{}"), Stderr: []byte("no")})
	require.NoError(f, err)
	f.Add(request)
	f.Add(response)
	f.Add(hookwire.AppendRefusal(nil, "busy"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if q, err := hookwire.ReadRequest(bytes.NewReader(b)); err == nil {
			again, err := hookwire.AppendRequest(nil, q)
			require.NoError(t, err)
			assert.Equal(t, again, b[:len(again)])
		}
		p, err := hookwire.ReadResponse(bytes.NewReader(b))
		if err == nil {
			again, err := hookwire.AppendResponse(nil, p)
			require.NoError(t, err)
			assert.Equal(t, again, b[:len(again)])
		}
		var refused *hookwire.Refused
		if errors.As(err, &refused) {
			assert.LessOrEqual(t, len(refused.Reason), hookwire.MaxName)
		}
	})
}
