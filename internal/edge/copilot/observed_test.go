package copilot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge/copilot/copilottest"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// eventOf is the event that a group of cases answered.
func eventOf(group string) string {
	return map[string]string{
		"pre": "preToolUse", "np_pre": "preToolUse", "np_perm": "permissionRequest", "post": "postToolUse", "prompt": "userPromptSubmitted",
		"x_prompt": "userPromptSubmitted", "start": "sessionStart", "stop": "agentStop", "end": "sessionEnd", "x_fail": "postToolUseFailure",
		"substop": "subagentStop", "x_substart": "subagentStart",
	}[group]
}

// processOf is what the hook of a case left behind, in Copilot's flat shape.
func processOf(c protocoltest.Case) (protocoltest.Process, bool) {
	text := protocoltest.Seen()
	reason := text["reason"]
	out := func(s string) (protocoltest.Process, bool) { return protocoltest.Process{Stdout: s}, true }
	permission := eventOf(c.Group) == "permissionRequest"
	switch c.Kind {
	case "allow", "ask", "defer", "bogus":
		if permission {
			return out(`{"behavior":"` + c.Kind + `"}`)
		}
		return out(`{"permissionDecision":"` + c.Kind + `","permissionDecisionReason":"` + reason + `"}`)
	case "deny_interrupt":
		return out(`{"behavior":"deny","message":"` + reason + `","interrupt":true}`)
	case "deny_noreason":
		return out(`{"permissionDecision":"deny"}`)
	case "deny_ctx_sysmsg":
		return out(`{"systemMessage":"` + text["sysmsg"] + `","permissionDecision":"deny","permissionDecisionReason":"` + reason +
			`","additionalContext":"` + text["context"] + `"}`)
	case "update_allow":
		return out(`{"permissionDecision":"allow","modifiedArgs":{"command":"changed"}}`)
	case "update":
		return out(`{"behavior":"allow","updatedInput":{"command":"changed"}}`)
	case "update_output":
		return out(`{"modifiedResult":{"resultType":"success","textResultForLlm":"replaced"}}`)
	case "modify":
		return out(`{"modifiedPrompt":"replaced"}`)
	case "context":
		return out(`{"additionalContext":"` + text["context"] + `"}`)
	case "context_20k":
		return out(`{"additionalContext":"` + text["context"] + strings.Repeat("x", 20_000) + text["tail"] + `"}`)
	}
	deny := `{"permissionDecision":"deny","permissionDecisionReason":"` + reason + `"}`
	if permission {
		deny = `{"behavior":"deny","message":"` + reason + `"}`
	}
	return protocoltest.Left(c.Kind, eventOf(c.Group), deny)
}

// notReplayed are the cases that one answer does not make.
func notReplayed(name string) string {
	return map[string]string{
		"pre_deny_two": "two hooks", "parallel3": "three hooks", "stop_block_always": "many rounds", "stop_block_guarded": "two rounds",
		"pre_bgchild": "a child of the hook", "pre_bgchild_detached": "a child of the hook", "pre_bgchild_stdout_deny": "a child of the hook",
		"pre_bg_survive": "a child of the hook", "pre_bg_survive_setsid": "a child of the hook", "end_bg_survive": "a child of the hook",
		"end_bg_survive_setsid": "a child of the hook",
		"fail_exit2":            "a failed command fires postToolUse, so no hook ran", "fail_context": "a failed command fires postToolUse, so no hook ran",
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
		event := eventOf(c.Group)
		require.NotEmpty(t, event, c.Name)
		process, ok := processOf(c)
		require.True(t, ok, "case %s is neither replayed nor listed", c.Name)
		replayed++
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			got := copilottest.Run(protocoltest.Situation{Event: event, Approved: !strings.HasPrefix(c.Name, "np_")}, process)
			n := c.Requests(t)
			switch c.Group {
			case "pre", "np_pre", "np_perm":
				assert.Equal(t, !c.Ran(), got.Blocked, "blocked; seen: %s", c.Effect)
				assert.Equal(t, n == 1, got.SessionEnds, "the session ends; seen: %s", c.Effect)
			case "prompt", "x_prompt":
				assert.Equal(t, n == 0, got.Blocked, "blocked; seen: %s", c.Effect)
			case "stop":
				assert.Equal(t, n > 2, got.Continued, "carried on; seen: %s", c.Effect)
			case "substop": // more requests, as the sub-agent has some of its own
				assert.True(t, got.Continued, "carried on; seen: %s", c.Effect)
			default:
				assert.False(t, got.Blocked || got.Continued || got.SessionEnds, "seen: %s", c.Effect)
			}
			assert.Equal(t, strings.Contains(c.Effect, "CHANGED"), got.Changed != nil, "changed input; seen: %s", c.Effect)
			model, user := strings.Join(got.ToModel, "\n"), strings.Join(got.ToUser, "\n")
			for word, text := range protocoltest.Seen() {
				assert.Equal(t, c.Sees("model", word), strings.Contains(model, text), "the model sees the %s; seen: %s; got %q", word, c.Effect, model)
				assert.Equal(t, c.Sees("user", word), strings.Contains(user, text), "the user sees the %s; seen: %s; got %q", word, c.Effect, user)
			}
		})
	}
	assert.Equal(t, 143, replayed, "cases replayed")
}

// TestClientOfTheOtherDialect: what was seen of hooks under Claude Code's names.
func TestClientOfTheOtherDialect(t *testing.T) {
	t.Parallel()
	run := func(event, stdout string) protocoltest.Outcome {
		return copilottest.Run(protocoltest.Situation{Event: event, Approved: true}, protocoltest.Process{Stdout: stdout})
	}
	nested := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`
	flat := `{"permissionDecision":"deny","permissionDecisionReason":"no"}`
	assert.True(t, run("PreToolUse", nested).Blocked)
	assert.True(t, run("PreToolUse", flat).Blocked)
	assert.False(t, run("preToolUse", nested).Blocked, "the tool ran")
	assert.True(t, run("preToolUse", flat).Blocked)
}
