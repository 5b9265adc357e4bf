package claudecode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode/claudecodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// outcome is what Claude Code does with r when the person would be asked and
// is not there.
func outcome(t testing.TB, event string, r hookwire.Response) protocoltest.Outcome {
	t.Helper()
	got := claudecodetest.Run(protocoltest.Situation{Event: event}, process(r))
	approved := claudecodetest.Run(protocoltest.Situation{Event: event, Approved: true}, process(r))
	if !approved.Blocked {
		got.Blocked = false
	}
	return got
}

func process(r hookwire.Response) protocoltest.Process {
	return protocoltest.Process{Stdout: string(r.Stdout), Stderr: string(r.Stderr), Exit: r.Exit}
}

// TestAnswers holds every verdict on every event against what Claude Code does
// with the answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	capabilities := claudecode.Capabilities()
	require.Len(t, capabilities, 33)
	for _, c := range capabilities {
		if c.Event == "WorktreeCreate" {
			continue // has a test of its own
		}
		for _, v := range protocoltest.Verdicts() {
			t.Run(c.Event+"/"+v.Name, func(t *testing.T) {
				t.Parallel()
				a := claudecode.Answer(c.Event, v.Verdict)
				checkForm(t, c.Event, a.Response)
				got := outcome(t, c.Event, a.Response)
				assert.Empty(t, got.Unknown, "keys that Claude Code does not know")
				assert.False(t, got.Dropped, "the answer is understood")

				e := v.Verdict.Effect
				broken := e < hook.Abstain || e > hook.Halt
				rewrite := len(v.Verdict.Input) > 0
				grant := e == hook.Allow && v.Verdict.Grant
				if !grant {
					assert.False(t, got.Granted, "nothing but a granting allow skips the person's prompt")
				}
				switch {
				case e == hook.Deny, e == hook.Halt, broken:
					if c.Block {
						assert.True(t, got.Blocked, "a deny blocks")
					}
					if c.Continue && e != hook.Halt {
						assert.True(t, got.Continued, "a deny makes it carry on")
					}
					if !c.Block && !c.Continue {
						assert.NotEmpty(t, a.Note, "a deny that does not block is reported")
					}
					if c.Halt && e == hook.Halt {
						assert.True(t, got.SessionEnds)
						assert.False(t, got.Continued)
					}
				case e == hook.Ask:
					if c.Ask {
						assert.False(t, got.Blocked && !got.Asked && !rewrite, "the person decides")
					} else if c.Block {
						assert.True(t, got.Blocked, "where nobody can be asked, it is denied")
						assert.NotEmpty(t, a.Note)
					} else {
						assert.NotEmpty(t, a.Note)
					}
				case !rewrite:
					assert.False(t, got.Blocked, "no opinion is no deny")
					assert.False(t, got.Continued, "no opinion ends the turn")
					assert.False(t, got.SessionEnds)
					assert.Equal(t, grant && c.Grant, got.Granted)
				}
				if rewrite && e < hook.Deny && c.Class != "notification" {
					if got.Changed == nil {
						assert.True(t, got.Blocked || got.Continued || !c.Block && a.Note != "", "it must not run with the input that was changed")
						assert.NotEmpty(t, a.Note, "the stricter answer is reported")
					} else {
						assert.JSONEq(t, string(v.Verdict.Input), string(got.Changed))
					}
				}
				if !rewrite {
					assert.Nil(t, got.Changed)
				}
				told := strings.Join(append(got.ToModel, got.ToUser...), "\n") + string(a.Stderr) + strings.ReplaceAll(string(a.Stdout), `\"`, `"`)
				if v.Verdict.Context != "" && e == hook.Abstain {
					if c.Context {
						assert.Contains(t, got.ToModel, protocoltest.More)
					} else {
						assert.NotEmpty(t, a.Note, "lost context is reported")
					}
				}
				if e >= hook.Deny && (c.Block || c.Continue) {
					assert.NotEmpty(t, told)
					if v.Verdict.Reason != "" {
						assert.Contains(t, told, protocoltest.Why, "the reason is given")
					}
					if v.Verdict.Context != "" {
						assert.Contains(t, told, protocoltest.More, "the context goes with the reason")
					}
				}
			})
		}
	}
}

// checkForm is what holds for every answer: one JSON object and nothing else.
func checkForm(t *testing.T, event string, r hookwire.Response) {
	t.Helper()
	assert.True(t, hookwire.Usable(claudecode.Agent, event, r))
	assert.True(t, json.Valid(r.Stdout), "stdout %q", r.Stdout)
	assert.True(t, bytes.HasPrefix(r.Stdout, []byte("{")) && bytes.HasSuffix(r.Stdout, []byte("}\n")))
	assert.Contains(t, []int{0, 2}, r.Exit)
	assert.Equal(t, r.Exit == 2, len(r.Stderr) > 0, "exit code 2 and a reason on stderr go together")
	if r.Exit == 2 {
		assert.Greater(t, len(bytes.TrimSpace(r.Stderr)), 10)
	}
}

func TestAskOnPermissionRequestIsTheDialog(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"PermissionRequest", "Elicitation"} {
		a := claudecode.Answer(event, hook.Verdict{Effect: hook.Ask, Reason: protocoltest.Why})
		assert.Equal(t, "{}\n", string(a.Stdout), "no decision lets the dialog appear")
		assert.Empty(t, a.Note)
	}
}

func TestStopIsNotHeldByContextOrCrash(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"Stop", "SubagentStop"} {
		a := claudecode.Answer(event, hook.Verdict{Context: protocoltest.More})
		assert.False(t, outcome(t, event, a.Response).Continued)
		assert.NotEmpty(t, a.Note)
		a = claudecode.Answer(event, hook.Verdict{Effect: hook.Deny, Reason: protocoltest.Why})
		assert.Zero(t, a.Exit, "exit code 2 is what a crash looks like")
		a = claudecode.Answer(event, hook.Verdict{Effect: hook.Halt, Reason: protocoltest.Why})
		assert.True(t, outcome(t, event, a.Response).SessionEnds)
	}
}

func TestWorktreeCreateIsNeverTakenForAPath(t *testing.T) {
	t.Parallel()
	for _, v := range protocoltest.Verdicts() {
		a := claudecode.Answer("WorktreeCreate", v.Verdict)
		assert.Empty(t, a.Stdout)
		assert.NotZero(t, a.Exit)
		assert.Contains(t, string(a.Stderr), "Take the hook out")
		assert.NotEmpty(t, a.Note)
	}
	for _, c := range claudecode.Capabilities() {
		assert.Equal(t, c.Event != "WorktreeCreate", c.Installed)
	}
}

func TestUnknownEventAnswers(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "{}\n", string(claudecode.Answer("Brand.New", hook.Verdict{}).Stdout))
	for _, e := range []hook.Effect{hook.Ask, hook.Deny, hook.Halt, 99} {
		a := claudecode.Answer("Brand.New", hook.Verdict{Effect: e, Reason: protocoltest.Why})
		assert.Equal(t, 2, a.Exit)
		assert.NotEmpty(t, a.Note)
		// Should the new event be like any of the gates, it is blocked.
		for _, like := range []string{"PreToolUse", "UserPromptSubmit", "UserPromptExpansion"} {
			assert.True(t, outcome(t, like, a.Response).Blocked, like)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"x", "é", "漢", "🪝", "\xff"} {
		for _, n := range []int{claudecode.MaxText/len(utf16.Encode([]rune(unit))) - 1, claudecode.MaxText, claudecode.MaxText + 1, 3 * claudecode.MaxText} {
			a := claudecode.Answer("PreToolUse", hook.Verdict{Effect: hook.Deny, Reason: strings.Repeat(unit, n)})
			var out struct {
				Specific struct {
					Reason string `json:"permissionDecisionReason"`
				} `json:"hookSpecificOutput"`
			}
			require.NoError(t, json.Unmarshal(a.Stdout, &out))
			units := len(utf16.Encode([]rune(out.Specific.Reason)))
			assert.LessOrEqual(t, units, claudecode.MaxText, "%q × %d", unit, n)
			if unit == "\xff" {
				continue // a run of bytes that are no text becomes one character
			}
			assert.Greater(t, units, claudecode.MaxText-100)
			if n > claudecode.MaxText {
				assert.Contains(t, out.Specific.Reason, "audit log")
			}
		}
	}
}

// TestAnswersStayTheSame compares every answer with the file that was
// reviewed. UPDATE_GOLDEN=1 writes it anew.
func TestAnswersStayTheSame(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, c := range claudecode.Capabilities() {
		for _, v := range protocoltest.Verdicts() {
			a := claudecode.Answer(c.Event, v.Verdict)
			fmt.Fprintf(&b, "%s, %s: exit %d\n  stdout %s\n  stderr %q\n", c.Event, v.Name, a.Exit, bytes.TrimSpace(a.Stdout), a.Stderr)
			if a.Note != "" {
				fmt.Fprintf(&b, "  note   %s\n", a.Note)
			}
		}
	}
	const file = "testdata/answers.golden"
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String(), "run with UPDATE_GOLDEN=1 and review the difference")
}

// TestWrittenAnswers: the documentation's own examples are understood by the
// client that stands in here, so that it is not stricter than the real one.
func TestWrittenAnswers(t *testing.T) {
	t.Parallel()
	for event, check := range map[string]func(protocoltest.Outcome) bool{
		"ConfigChange-1":         func(o protocoltest.Outcome) bool { return o.Blocked },
		"PreToolUse-1-bash-deny": func(o protocoltest.Outcome) bool { return o.Blocked },
		"PreModelSwitch-1":       func(o protocoltest.Outcome) bool { return o.Blocked },
		"TaskCompleted-1":        func(o protocoltest.Outcome) bool { return o.SessionEnds },
		"Stop-1":                 func(o protocoltest.Outcome) bool { return o.Continued },
		"Elicitation-1-form":     func(o protocoltest.Outcome) bool { return o.Action == "accept" },
		"PermissionRequest-1":    func(o protocoltest.Outcome) bool { return o.Granted },
	} {
		stdout, err := os.ReadFile("testdata/written/" + event + ".out.json")
		require.NoError(t, err)
		got := claudecodetest.Run(protocoltest.Situation{Event: eventName(event)}, protocoltest.Process{Stdout: string(stdout)})
		assert.True(t, check(got), "%s: %+v", event, got)
	}
}
