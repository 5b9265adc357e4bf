package protocoltest

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Case is one line of a table of what a real agent was watched doing: which
// hook it ran, and what came of it.
type Case struct {
	// Name is Group and Kind: "pre_exit2" is a hook before a tool that ended
	// with exit code 2.
	Name, Group, Kind string
	// Effect is what was seen: "not run; req 2; model sees stderr".
	Effect string
}

// Observed reads a table of lines "NAME | EFFECT".
func Observed(t *testing.T, path string) []Case {
	t.Helper()
	table, err := os.ReadFile(path)
	require.NoError(t, err)
	groups := regexp.MustCompile(`^(np_[a-z]+|x_[a-z0-9]+|[a-z]+)_(.+)$`)
	var list []Case
	for line := range strings.Lines(string(table)) {
		name, effect, ok := strings.Cut(strings.TrimSpace(line), " | ")
		require.True(t, ok, line)
		c := Case{Name: name, Group: name, Effect: effect}
		if m := groups.FindStringSubmatch(name); m != nil {
			c.Group, c.Kind = m[1], m[2]
		}
		list = append(list, c)
	}
	return list
}

// Requests is how many requests the model had: 2 where nothing happened, 1
// where the session ended after the tool call, 0 where the prompt was blocked,
// and 3 or more where the agent carried on.
func (c Case) Requests(t *testing.T) int {
	t.Helper()
	m := regexp.MustCompile(`req (\d+)`).FindStringSubmatch(c.Effect)
	require.NotNil(t, m, c.Effect)
	n, err := strconv.Atoi(m[1])
	require.NoError(t, err)
	return n
}

// Ran reports whether the tool's side effect was there afterwards.
func (c Case) Ran() bool { return !strings.HasPrefix(c.Effect, "not run") }

// Sees reports whether the one called who ("model", "user") saw a text, one of
// those that [Seen] knows.
func (c Case) Sees(who, text string) bool {
	_, sees, ok := strings.Cut(c.Effect, who+" sees ")
	if !ok {
		return false
	}
	sees, _, _ = strings.Cut(sees, ";")
	return slices.Contains(strings.Split(sees, "+"), text)
}

// Seen are the texts that the watched hooks gave, by their name in the tables.
func Seen() map[string]string {
	return map[string]string{
		"reason": "REASON why", "stderr": "STDERR reason", "context": "CONTEXT extra", "stopreason": "STOPREASON", "plain": "PLAIN not json",
		"bad": `{"BAD json`, "sysmsg": "SYSMSG", "replaced": "replaced", "tail": "TAIL end",
	}
}

// Left is what a watched hook of a kind left behind on an event, where all
// agents were given the same; deny is the agent's own word for no.
func Left(kind, event, deny string) (Process, bool) {
	text := Seen()
	specific := func(members string) Process {
		return Process{Stdout: `{"hookSpecificOutput":{"hookEventName":"` + event + `",` + members + `}}`}
	}
	block := `{"decision":"block","reason":"` + text["reason"] + `"}`
	p, ok := map[string]Process{
		"exit2":                {Exit: 2, Stderr: text["stderr"]},
		"exit2_nostderr":       {Exit: 2},
		"exit1":                {Exit: 1, Stderr: text["stderr"]},
		"nonjson":              {Stdout: text["plain"]},
		"badjson":              {Stdout: text["bad"]},
		"emptyobj":             {Stdout: "{}"},
		"unknownfield":         {Stdout: `{"unknownField":true}`},
		"systemMessage":        {Stdout: `{"systemMessage":"` + text["sysmsg"] + `"}`},
		"block":                {Stdout: block},
		"block_noreason":       {Stdout: `{"decision":"block"}`},
		"approve_legacy":       {Stdout: `{"decision":"approve"}`},
		"continue_false":       {Stdout: `{"continue":false,"stopReason":"` + text["stopreason"] + `"}`},
		"context":              specific(`"additionalContext":"` + text["context"] + `"`),
		"context_20k":          specific(`"additionalContext":"` + text["context"] + strings.Repeat("x", 20_000) + text["tail"] + `"`),
		"context_toplevel":     {Stdout: `{"additionalContext":"` + text["context"] + `"}`},
		"hang":                 {Ending: TimedOut},
		"hang_noterm":          {Ending: TimedOut},
		"nostdin":              {},
		"none":                 {},
		"exit2_json":           {Exit: 2, Stdout: `{"decision":"approve","reason":"` + text["reason"] + `"}`, Stderr: text["stderr"]},
		"exit2_json_deny":      {Exit: 2, Stdout: deny, Stderr: text["stderr"]},
		"exit1_json_block":     {Exit: 1, Stdout: block},
		"exit0_json_plus_text": {Stdout: text["plain"] + "\n" + deny},
		"deny":                 {Stdout: deny},
		"deny_pretty":          {Stdout: "\n\n  " + strings.ReplaceAll(deny, ",", ",\n  ") + "\n\n"},
		"stderr_exit0":         {Stderr: text["stderr"]},
		"notfound":             {Exit: 127, Stderr: "bash: line 1: /none: No such file or directory", Ending: NotFound},
		"sigkill":              {Ending: Killed},
		"exit3_stderr":         {Exit: 3, Stderr: text["stderr"]},
		"exit3_silent":         {Exit: 3},
		"wrong_event_name": {Stdout: `{"hookSpecificOutput":{"hookEventName":"SomethingElse","permissionDecision":"deny","permissionDecisionReason":"` +
			text["reason"] + `","additionalContext":"` + text["context"] + `"}}`},
	}[kind]
	return p, ok
}
