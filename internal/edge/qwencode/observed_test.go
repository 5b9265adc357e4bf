package qwencode_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
	"github.com/grapnel-dev/grapnel/internal/edge/qwencode/qwencodetest"
)

// eventOf is the event that a group of cases answered.
func eventOf(group string) string {
	return map[string]string{
		"pre": "PreToolUse", "np_pre": "PreToolUse", "np_perm": "PermissionRequest", "post": "PostToolUse", "prompt": "UserPromptSubmit",
		"start": "SessionStart", "stop": "Stop", "end": "SessionEnd", "fail": "PostToolUseFailure", "x_fail": "PostToolUseFailure",
		"substop": "SubagentStop", "x_substart": "SubagentStart",
	}[group]
}

// processOf is what the hook of a case left behind.
func processOf(c protocoltest.Case) (protocoltest.Process, bool) {
	event, text := eventOf(c.Group), protocoltest.Seen()
	out := func(members string) protocoltest.Process {
		return protocoltest.Process{Stdout: `{"hookSpecificOutput":{"hookEventName":"` + event + `",` + members + `}}`}
	}
	permission := event == "PermissionRequest"
	switch c.Kind {
	case "allow", "ask", "defer", "bogus":
		if permission {
			return out(`"decision":{"behavior":"` + c.Kind + `"}`), true
		}
		return out(`"permissionDecision":"` + c.Kind + `","permissionDecisionReason":"` + text["reason"] + `"`), true
	case "deny_noreason":
		return out(`"permissionDecision":"deny"`), true
	case "deny_ctx_sysmsg":
		return protocoltest.Process{Stdout: `{"systemMessage":"SYSMSG","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
			`"permissionDecisionReason":"` + text["reason"] + `","additionalContext":"` + text["context"] + `"}}`}, true
	case "update_allow":
		return out(`"permissionDecision":"allow","updatedInput":{"command":"changed"}`), true
	case "update_only":
		return out(`"updatedInput":{"command":"changed"}`), true
	case "update_output":
		return out(`"updatedToolOutput":{"stdout":"replaced"}`), true
	}
	deny := out(`"permissionDecision":"deny","permissionDecisionReason":"` + text["reason"] + `"`)
	if permission {
		deny = out(`"decision":{"behavior":"deny","message":"` + text["reason"] + `"}`)
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

// TestClientIsTrue replays what the real client was seen to do.
func TestClientIsTrue(t *testing.T) {
	t.Parallel()
	replayed := 0
	for _, c := range protocoltest.Observed(t, "testdata/observed.txt") {
		if notReplayed(c.Name) != "" {
			continue
		}
		process, ok := processOf(c)
		require.True(t, ok, "case %s is neither replayed nor listed", c.Name)
		replayed++
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			got := qwencodetest.Run(protocoltest.Situation{Event: eventOf(c.Group), Approved: !strings.HasPrefix(c.Name, "np_")}, process)
			n := c.Requests(t)
			switch c.Group {
			case "pre", "np_pre", "np_perm", "prompt":
				assert.Equal(t, !c.Ran(), got.Blocked, "blocked; seen: %s", c.Effect)
			case "stop", "substop":
				assert.Equal(t, n > 2, got.Continued, "carried on; seen: %s", c.Effect)
			default:
				assert.False(t, got.Blocked || got.Continued, "seen: %s", c.Effect)
			}
			assert.False(t, got.SessionEnds, "no answer ends a session; seen: %s", c.Effect)
			assert.Empty(t, got.Changed, "the original runs; seen: %s", c.Effect)
			assert.Equal(t, c.Name == "np_perm_allow", got.Granted, "seen: %s", c.Effect)
			model := strings.Join(got.ToModel, "\n")
			for word, text := range protocoltest.Seen() {
				assert.Equal(t, c.Sees("model", word), strings.Contains(model, text), "the model sees the %s; seen: %s; got %q", word, c.Effect, model)
			}
		})
	}
	assert.Equal(t, 143, replayed, "cases replayed")
}
