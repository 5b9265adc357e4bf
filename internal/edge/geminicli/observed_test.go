package geminicli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge/geminicli/geminiclitest"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// eventOf is the event that a group of cases answered.
func eventOf(group string) string {
	return map[string]string{
		"pre": "BeforeTool", "np_pre": "BeforeTool", "post": "AfterTool", "prompt": "BeforeAgent", "start": "SessionStart", "stop": "AfterAgent",
		"end": "SessionEnd", "x_bm": "BeforeModel", "x_am": "AfterModel", "x_ts": "BeforeToolSelection", "x_exit3": "BeforeTool", "x_agent": "BeforeAgent",
	}[group]
}

// processOf is what the hook of a case left behind.
func processOf(c protocoltest.Case) (protocoltest.Process, bool) {
	event, text := eventOf(c.Group), protocoltest.Seen()
	out := func(s string) (protocoltest.Process, bool) { return protocoltest.Process{Stdout: s}, true }
	specific := func(members string) string {
		return `"hookSpecificOutput":{"hookEventName":"` + event + `",` + members + `}`
	}
	deny := `{"decision":"deny","reason":"` + text["reason"] + `"}`
	switch c.Kind {
	case "allow", "ask", "defer", "bogus":
		return out(`{"decision":"` + c.Kind + `","reason":"` + text["reason"] + `"}`)
	case "deny_noreason":
		return out(`{"decision":"deny"}`)
	case "deny_ctx_sysmsg":
		return out(`{"systemMessage":"SYSMSG","decision":"deny","reason":"` + text["reason"] + `",` + specific(`"additionalContext":"`+text["context"]+`"`) + `}`)
	case "update_allow":
		return out(`{"decision":"allow",` + specific(`"tool_input":{"command":"changed"}`) + `}`)
	case "update_output":
		return out(`{` + specific(`"tool_output":{"llmContent":"replaced"}`) + `}`)
	case "synth":
		return out(`{` + specific(`"llm_response":{"candidates":[{"content":{"role":"model","parts":["replaced"]}}]}`) + `}`)
	}
	switch c.Name {
	case "x_ts_none":
		return out(`{` + specific(`"toolConfig":{"mode":"NONE","allowedFunctionNames":[]}`) + `}`)
	case "x_exit3_stderr", "x_agent_exit3":
		return protocoltest.Left("exit3_stderr", event, deny)
	case "x_exit3_silent":
		return protocoltest.Left("exit3_silent", event, deny)
	}
	return protocoltest.Left(c.Kind, event, deny)
}

// notReplayed are the cases that one answer does not make.
func notReplayed(name string) string {
	return map[string]string{
		"pre_deny_two": "two hooks", "parallel3": "three hooks", "stop_block_always": "many rounds", "stop_block_guarded": "two rounds",
		"pre_bgchild": "a child of the hook", "pre_bgchild_detached": "a child of the hook", "pre_bgchild_stdout_deny": "a child of the hook",
		"pre_bg_survive": "a child of the hook", "pre_bg_survive_setsid": "a child of the hook", "end_bg_survive": "a child of the hook",
		"end_bg_survive_setsid": "a child of the hook",
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
			asked := c.Group == "np_pre" // in the terminal, with nobody at it
			got := geminiclitest.Run(protocoltest.Situation{Event: eventOf(c.Group), Approved: !asked}, process)
			n := c.Requests(t)
			switch c.Group {
			case "pre", "np_pre", "prompt", "x_bm", "x_exit3", "x_agent":
				assert.Equal(t, !c.Ran(), got.Blocked, "blocked; seen: %s", c.Effect)
			case "stop":
				assert.Equal(t, n > 2, got.Continued, "carried on; seen: %s", c.Effect)
			default:
				assert.False(t, got.Blocked || got.Continued, "seen: %s", c.Effect)
			}
			if c.Group == "pre" || c.Group == "post" {
				assert.Equal(t, n == 1, got.SessionEnds, "the session ends; seen: %s", c.Effect)
			}
			assert.Equal(t, strings.Contains(c.Effect, "CHANGED"), got.Changed != nil, "changed input; seen: %s", c.Effect)
			assert.False(t, got.Granted, "nothing skips its question")
			model, user := strings.Join(got.ToModel, "\n"), strings.Join(got.ToUser, "\n")
			for word, text := range protocoltest.Seen() {
				assert.Equal(t, c.Sees("model", word), strings.Contains(model, text), "the model sees the %s; seen: %s; got %q", word, c.Effect, model)
				if !asked { // what stands in the terminal is not in the table
					assert.Equal(t, c.Sees("user", word), strings.Contains(user, text), "the user sees the %s; seen: %s; got %q", word, c.Effect, user)
				}
			}
		})
	}
	assert.Equal(t, 143, replayed, "cases replayed")
}
