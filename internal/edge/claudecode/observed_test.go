package claudecode_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge/claudecode/claudecodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// The texts that the watched hooks gave, as far as the table tells.
const (
	textReason  = "REASON why"
	textStderr  = "STDERR reason"
	textContext = "CONTEXT extra"
	textStop    = "STOPREASON"
	textPlain   = "PLAIN not json"
	textBad     = `{"BAD json`
)

// eventOf is the event that a group of cases answered.
func eventOf(group string) string {
	return map[string]string{
		"pre": "PreToolUse", "np_pre": "PreToolUse", "np_perm": "PermissionRequest", "post": "PostToolUse", "prompt": "UserPromptSubmit",
		"start": "SessionStart", "stop": "Stop", "end": "SessionEnd", "fail": "PostToolUseFailure", "substop": "SubagentStop",
		"x_batch": "PostToolBatch", "x_compact": "PreCompact", "x_expansion": "UserPromptExpansion", "x_modelswitch": "PreModelSwitch",
		"x_substart": "SubagentStart", "x_config": "ConfigChange", "x_elicit": "Elicitation", "x_setup": "Setup", "x_worktree": "WorktreeCreate",
	}[group]
}

// processOf is what the hook of a case left behind.
func processOf(group, kind string) (protocoltest.Process, bool) {
	event := eventOf(group)
	specific := func(members string) string {
		return `{"hookSpecificOutput":{"hookEventName":"` + event + `",` + members + `}}`
	}
	deny := specific(`"permissionDecision":"deny","permissionDecisionReason":"` + textReason + `"`)
	block := `{"decision":"block","reason":"` + textReason + `"}`
	out := func(s string) (protocoltest.Process, bool) { return protocoltest.Process{Stdout: s}, true }
	exit := func(code int, stdout, stderr string) (protocoltest.Process, bool) {
		return protocoltest.Process{Stdout: stdout, Stderr: stderr, Exit: code}, true
	}
	switch kind {
	case "exit2":
		return exit(2, "", textStderr)
	case "exit2_nostderr":
		return exit(2, "", "")
	case "exit1":
		return exit(1, "", textStderr)
	case "nonjson":
		return out(textPlain)
	case "badjson":
		return out(textBad)
	case "emptyobj":
		return out("{}")
	case "unknownfield":
		return out(`{"unknownField":true}`)
	case "wrong_event_name":
		return out(`{"hookSpecificOutput":{"hookEventName":"SomethingElse","permissionDecision":"deny","permissionDecisionReason":"` +
			textReason + `","additionalContext":"` + textContext + `"}}`)
	case "context":
		return out(specific(`"additionalContext":"` + textContext + `"`))
	case "context_20k":
		return out(specific(`"additionalContext":"` + textContext + strings.Repeat("x", 20_000) + `"`))
	case "context_toplevel":
		return out(`{"additionalContext":"` + textContext + `"}`)
	case "systemMessage":
		return out(`{"systemMessage":"SYSMSG warn"}`)
	case "block":
		return out(block)
	case "block_noreason":
		return out(`{"decision":"block"}`)
	case "continue_false":
		return out(`{"continue":false,"stopReason":"` + textStop + `"}`)
	case "hang", "hang_noterm":
		return protocoltest.Process{Ending: protocoltest.TimedOut}, true
	case "nostdin", "none", "silent":
		return out("")
	case "exit2_json":
		return exit(2, `{"decision":"approve","reason":"`+textReason+`"}`, textStderr)
	case "exit1_json_block":
		return exit(1, block, "")
	case "stderr_exit0":
		return exit(0, "", textStderr)
	case "notfound":
		return exit(127, "", "sh: not found")
	case "sigkill":
		return protocoltest.Process{Ending: protocoltest.Killed}, true
	case "exit2_json_deny":
		return exit(2, deny, textStderr)
	case "exit0_json_plus_text":
		return out("a line of text\n" + deny)
	case "deny_pretty":
		return out("\n\n  " + strings.ReplaceAll(deny, ",", ",\n  ") + "\n\n")
	case "allow", "ask", "defer", "bogus":
		if event == "PermissionRequest" {
			return out(specific(`"decision":{"behavior":"` + kind + `"}`))
		}
		return out(specific(`"permissionDecision":"` + kind + `","permissionDecisionReason":"` + textReason + `"`))
	case "deny":
		if event == "PermissionRequest" {
			return out(specific(`"decision":{"behavior":"deny","message":"` + textReason + `"}`))
		}
		return out(deny)
	case "deny_interrupt":
		return out(specific(`"decision":{"behavior":"deny","message":"` + textReason + `","interrupt":true}`))
	case "deny_noreason":
		return out(specific(`"permissionDecision":"deny"`))
	case "deny_ctx_sysmsg":
		return out(`{"systemMessage":"SYSMSG","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` +
			textReason + `","additionalContext":"` + textContext + `"}}`)
	case "update_allow":
		return out(specific(`"permissionDecision":"allow","updatedInput":{"command":"changed"}`))
	case "update_only":
		return out(specific(`"updatedInput":{"command":"changed"}`))
	case "update":
		return out(specific(`"decision":{"behavior":"allow","updatedInput":{"command":"changed"}}`))
	case "approve_legacy":
		return out(`{"decision":"approve"}`)
	case "update_output":
		return out(specific(`"updatedToolOutput":{"stdout":"replaced"}`))
	case "accept":
		return out(specific(`"action":"accept","content":{"name":"` + textContext + `"}`))
	}
	return protocoltest.Process{}, false
}

// notReplayed are the cases that one answer does not make.
func notReplayed(name string) string {
	return map[string]string{
		"pre_deny_two": "two hooks", "parallel3": "three hooks", "stop_block_always": "many rounds", "stop_block_guarded": "two rounds",
		"pre_bgchild": "a child of the hook", "pre_bgchild_detached": "a child of the hook", "pre_bgchild_stdout_deny": "a child of the hook",
		"pre_bg_survive": "a child of the hook", "pre_bg_survive_setsid": "a child of the hook", "end_bg_survive": "a child of the hook",
		"end_bg_survive_setsid": "a child of the hook", "x_async_pre": "an asynchronous hook", "x_start_watch": "paths to watch",
		"x_permdenied_retry": "a retry", "x_envfile": "a file of variables", "np_app_ask": "", "np_app_decline": "",
	}[name]
}

// TestClientIsTrue replays what the real client was seen to do.
func TestClientIsTrue(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/observed.txt")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	require.Len(t, lines, 174)
	groups := regexp.MustCompile(`^(np_pre|np_perm|x_[a-z]+|[a-z]+)_(.+)$`)
	requests := regexp.MustCompile(`req (\d+)`)
	replayed := 0
	for _, line := range lines {
		name, effect, ok := strings.Cut(line, " | ")
		require.True(t, ok, line)
		if notReplayed(name) != "" {
			continue
		}
		m := groups.FindStringSubmatch(name)
		require.NotNil(t, m, name)
		process, ok := processOf(m[1], m[2])
		require.True(t, ok, "case %s is neither replayed nor listed", name)
		replayed++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := claudecodetest.Run(protocoltest.Situation{Event: eventOf(m[1]), Approved: !strings.HasPrefix(name, "np_")}, process)
			switch m[1] {
			case "pre", "np_pre", "np_perm", "prompt", "x_compact", "x_expansion", "x_modelswitch", "x_worktree":
				assert.Equal(t, strings.HasPrefix(effect, "not run"), got.Blocked, "blocked; seen: %s", effect)
			default:
				// Here "ran" is about the tool before or after, which the hook
				// has no part in.
			}
			assert.Equal(t, strings.Contains(effect, "CHANGED"), got.Changed != nil, "changed input; seen: %s", effect)
			n, err := strconv.Atoi(requests.FindStringSubmatch(effect)[1])
			require.NoError(t, err)
			switch m[1] {
			case "pre", "np_pre", "np_perm", "post", "x_batch", "x_compact":
				assert.Equal(t, n == 1, got.SessionEnds, "the session ends; seen: %s", effect)
			case "stop", "substop":
				assert.Equal(t, n >= 3, got.Continued, "carried on; seen: %s", effect)
			}
			model := strings.Join(got.ToModel, "\n")
			for word, text := range map[string]string{"reason": textReason, "stderr": textStderr, "context": textContext, "plain": textPlain,
				"bad": textBad, "stopreason": textStop, "replaced": "replaced"} {
				want := modelSees(effect, word)
				if m[1] == "x_elicit" {
					continue // the answer reaches the model through the MCP server
				}
				assert.Equal(t, want, strings.Contains(model, text), "the model sees the %s; seen: %s; got %q", word, effect, model)
			}
		})
	}
	assert.Equal(t, 159, replayed, "cases replayed")
}

func modelSees(effect, word string) bool {
	_, sees, ok := strings.Cut(effect, "model sees ")
	if !ok {
		return false
	}
	sees, _, _ = strings.Cut(sees, ";")
	for _, w := range strings.Split(sees, "+") {
		if w == word {
			return true
		}
	}
	return false
}
