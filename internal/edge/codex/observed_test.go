package codex_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge/codex/codextest"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// eventOf is the event that a group of cases answered.
func eventOf(group string) string {
	return map[string]string{
		"pre": "PreToolUse", "np_pre": "PreToolUse", "np_perm": "PermissionRequest", "np_app": "PermissionRequest", "post": "PostToolUse",
		"prompt": "UserPromptSubmit", "start": "SessionStart", "stop": "Stop", "end": "SessionEnd", "substop": "SubagentStop", "x_substop": "SubagentStop",
		"x_compact": "PreCompact", "x_substart": "SubagentStart", "x_premodel": "PreModelRequest", "x_postmodel": "PostModelRequest",
	}[group]
}

// processOf is what the hook of a case left behind.
func processOf(c protocoltest.Case) (protocoltest.Process, bool) {
	event, reason := eventOf(c.Group), protocoltest.Seen()["reason"]
	out := func(members string) (protocoltest.Process, bool) {
		return protocoltest.Process{Stdout: `{"hookSpecificOutput":{"hookEventName":"` + event + `",` + members + `}}`}, true
	}
	permission := event == "PermissionRequest"
	switch c.Kind {
	case "allow", "ask", "defer", "bogus":
		if permission {
			return out(`"decision":{"behavior":"` + c.Kind + `"}`)
		}
		return out(`"permissionDecision":"` + c.Kind + `","permissionDecisionReason":"` + reason + `"`)
	case "deny_interrupt":
		return out(`"decision":{"behavior":"deny","message":"` + reason + `","interrupt":true}`)
	case "deny_noreason":
		return out(`"permissionDecision":"deny"`)
	case "deny_ctx_sysmsg":
		return protocoltest.Process{Stdout: `{"systemMessage":"SYSMSG","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
			`"permissionDecisionReason":"` + reason + `","additionalContext":"` + protocoltest.Seen()["context"] + `"}}`}, true
	case "update_allow":
		return out(`"permissionDecision":"allow","updatedInput":{"command":"changed"}`)
	case "update_only":
		return out(`"updatedInput":{"command":"changed"}`)
	case "update":
		return out(`"decision":{"behavior":"allow","updatedInput":{"command":"changed"}}`)
	case "update_output":
		return out(`"updatedToolOutput":{"stdout":"replaced"}`)
	}
	deny, _ := out(`"permissionDecision":"deny","permissionDecisionReason":"` + reason + `"`)
	if permission {
		deny, _ = out(`"decision":{"behavior":"deny","message":"` + reason + `"}`)
	}
	return protocoltest.Left(c.Kind, event, deny.Stdout)
}

// notReplayed are the cases that one answer does not make.
func notReplayed(name string) string {
	return map[string]string{
		"pre_deny_two": "two hooks", "parallel3": "three hooks", "stop_block_always": "many rounds", "stop_block_guarded": "two rounds",
		"pre_bgchild": "a child of the hook", "pre_bgchild_detached": "a child of the hook", "pre_bgchild_stdout_deny": "a child of the hook",
		"pre_bg_survive": "a child of the hook", "pre_bg_survive_setsid": "a child of the hook", "end_bg_survive": "a child of the hook",
		"end_bg_survive_setsid": "a child of the hook", "x_async_pre": "an asynchronous hook",
	}[name]
}

// situationOf is what a case's hook was called for. Where the person was to be
// asked there was a client that says yes, so that only "decline" was a no.
func situationOf(c protocoltest.Case) protocoltest.Situation {
	return protocoltest.Situation{Event: eventOf(c.Group), Approved: c.Name != "np_app_decline"}
}

// TestClientIsTrue replays what the real client was seen to do.
func TestClientIsTrue(t *testing.T) {
	t.Parallel()
	replayed := 0
	for _, c := range protocoltest.Observed(t, "testdata/observed.txt") {
		if notReplayed(c.Name) != "" {
			continue
		}
		process, ok := processOf(c)
		if c.Group == "np_app" {
			process, ok = protocoltest.Process{}, true // no hook, the client alone
		}
		require.True(t, ok, "case %s is neither replayed nor listed", c.Name)
		replayed++
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			got := codextest.Run(situationOf(c), process)
			n := c.Requests(t)
			switch c.Group {
			case "pre", "np_pre", "np_perm", "np_app", "prompt":
				assert.Equal(t, !c.Ran(), got.Blocked, "blocked; seen: %s", c.Effect)
			case "start":
				assert.Equal(t, n == 0, got.Blocked && got.SessionEnds, "the session does not start; seen: %s", c.Effect)
			case "x_compact":
				assert.Equal(t, n == 1, got.Blocked && got.SessionEnds, "the session ends; seen: %s", c.Effect)
			case "stop":
				assert.Equal(t, n > 2, got.Continued, "carried on; seen: %s", c.Effect)
			case "substop", "x_substop": // more requests, as the sub-agent has some of its own
				assert.True(t, got.Continued, "carried on; seen: %s", c.Effect)
			default:
				assert.False(t, got.Blocked || got.Continued || got.SessionEnds, "seen: %s", c.Effect)
			}
			if c.Group == "post" {
				assert.False(t, got.SessionEnds, "the session goes on; seen: %s", c.Effect)
			}
			assert.Equal(t, strings.Contains(c.Effect, "CHANGED"), got.Changed != nil, "changed input; seen: %s", c.Effect)
			model, user := strings.Join(got.ToModel, "\n"), strings.Join(got.ToUser, "\n")
			for word, text := range protocoltest.Seen() {
				if c.Name == "substop_block" && word == "reason" {
					continue // a second run of the same, x_substop_block, has it
				}
				assert.Equal(t, c.Sees("model", word), strings.Contains(model, text), "the model sees the %s; seen: %s; got %q", word, c.Effect, model)
				if word == "sysmsg" || word == "stopreason" {
					assert.Equal(t, c.Sees("user", word), strings.Contains(user, text), "the user sees the %s; seen: %s; got %q", word, c.Effect, user)
				}
			}
		})
	}
	assert.Equal(t, 156, replayed, "cases replayed")
}

// TestClientReportsWhatCodexReports replays the state that Codex's app-server
// gave each run of a hook: blocked, stopped, completed or failed, the last
// without any effect. "nothing" are runs from before anybody listened.
func TestClientReportsWhatCodexReports(t *testing.T) {
	t.Parallel()
	cases := protocoltest.Observed(t, "testdata/reported.txt")
	require.Len(t, cases, 81)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			process, ok := processOf(c)
			require.True(t, ok)
			got := codextest.Run(protocoltest.Situation{Event: eventOf(c.Group), Approved: true}, process)
			_, state, _ := strings.Cut(c.Effect, " ")
			state, said, _ := strings.Cut(state, ": ")
			kind, text, _ := strings.Cut(said, ": ")
			nothing := !got.Blocked && !got.Continued && !got.SessionEnds && !got.Granted && got.Changed == nil
			switch {
			case c.Effect == "nothing":
				assert.False(t, got.Dropped)
				assert.True(t, nothing)
			case state == "failed":
				assert.True(t, nothing, "%+v", got)
				assert.Empty(t, got.ToModel)
				exited := process.Ending == protocoltest.Exited && process.Exit == 0
				assert.Equal(t, exited, got.Dropped, "an answer is dropped, and a process that failed has none; reported: %s", said)
			case state == "completed":
				assert.False(t, got.Dropped)
				assert.True(t, nothing, "%+v", got)
				switch kind {
				case "context":
					assert.Contains(t, got.ToModel, text)
				case "warning":
					assert.Contains(t, text, strings.Join(got.ToUser, "\n"))
					assert.NotEmpty(t, got.ToUser)
				default:
					assert.Fail(t, "not known", said)
				}
			case state == "blocked" && kind == "feedback":
				assert.Contains(t, append(got.ToModel, got.ToUser...), text)
				assert.True(t, got.Blocked || got.Continued || c.Group == "post", "%+v", got)
			case state == "stopped" && kind == "stop":
				assert.Contains(t, append(got.ToModel, got.ToUser...), text)
				assert.Equal(t, c.Group != "post", got.SessionEnds)
			default:
				assert.Fail(t, "not known", c.Effect)
			}
		})
	}
}
