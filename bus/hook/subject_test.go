package hook_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

var (
	tokenForm  = regexp.MustCompile(`\A[a-z0-9_-]{1,64}\z`)
	hashedForm = regexp.MustCompile(`\Ax_[a-z2-7]{16}\z`)
	// plainForm are the names that a token may stand for as they are, but for
	// the case of their letters.
	plainForm = regexp.MustCompile(`\A[a-zA-Z0-9_-]{1,64}\z`)
)

// fold lowers ASCII letters alone.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// checkToken holds what is true of every name's token.
func checkToken(t require.TestingT, name string) {
	token := hook.Token(name)
	require.Regexp(t, tokenForm, token, "the token of %q", name)
	require.Equal(t, token, hook.Token(name))
	subject := "hooks.pre_tool_use." + token
	require.Len(t, strings.Split(subject, "."), 3, "the subject of %q", name)
	require.False(t, strings.ContainsAny(subject, "*> \t\r\n\x00"))

	switch {
	case name == "":
		require.Equal(t, hook.NoTool, token)
	case plainForm.MatchString(name) && !hashedForm.MatchString(fold(name)) && name != hook.NoTool:
		require.Equal(t, fold(name), token, "a plain name stands as it is")
		require.Equal(t, token, hook.Token(token), "the token of a plain name is its own token")
	default:
		require.Regexp(t, hashedForm, token, "%q must be hashed", name)
		require.NotEqual(t, token, hook.Token(token), "nobody gets the token of %q by calling a tool so", name)
	}
}

func TestTokenIsOneTokenForAnyName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkToken(t, anyName().Draw(t, "name")) })
	checkToken(t, strings.Repeat("a", 10_000))
	checkToken(t, strings.Repeat("🪝", 10_000))
}

func TestTokenTellsNamesApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyName().Draw(t, "a"), anyName().Draw(t, "b")
		switch {
		case a == b:
		case plainForm.MatchString(a) && fold(a) == fold(b) && !hashedForm.MatchString(fold(a)):
			require.Equal(t, hook.Token(a), hook.Token(b), "case variants of a plain name are one tool")
		default:
			require.NotEqual(t, hook.Token(a), hook.Token(b), "%q and %q", a, b)
		}
	})
}

func FuzzToken(f *testing.F) {
	for _, s := range []string{"", "_", "Bash", "a.b", "x_aaaaaaaaaaaaaaaa", "X_AAAAAAAAAAAAAAAA", "hooks.>", "\x00", "\xff", "🪝"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) { checkToken(t, name) })
}

// natsMatch is subject matching as the NATS documentation has it, token by
// token.
func natsMatch(pattern, subject string) bool {
	p, s := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range p {
		if token == ">" {
			return len(s) > i
		}
		if i >= len(s) || (token != "*" && token != s[i]) {
			return false
		}
	}
	return len(p) == len(s)
}

// checkPattern holds what is true of every text that ParsePattern accepts.
func checkPattern(t require.TestingT, text string, name hook.Name, tool string) {
	p, err := hook.ParsePattern(text)
	if err != nil {
		require.ErrorIs(t, err, hook.ErrPattern)
		require.Less(t, len(err.Error()), 1000, "an error must not repeat a long input")
		return
	}
	subject := string(name) + "." + hook.Token(tool)
	matches := false
	for alternative := range strings.SplitSeq(p.String(), ",") {
		matches = matches || natsMatch(alternative, subject)
	}
	require.Equal(t, matches, p.Match(name, tool), "%q as %q against %q", text, p, subject)
	again, err := hook.ParsePattern(p.String())
	require.NoError(t, err, "the text form of %q", text)
	require.Equal(t, p.String(), again.String(), "the text form of %q", text)
}

func anyPattern() *rapid.Generator[string] {
	event := rapid.OneOf(rapid.Just("*"), rapid.Map(rapid.SampledFrom(hook.Names()), func(n hook.Name) string { return string(n) }))
	tool := rapid.OneOf(rapid.SampledFrom([]string{"*", ">", "_"}), anyName(), rapid.Map(anyName(), hook.Token))
	two := rapid.Custom(func(t *rapid.T) string { return event.Draw(t, "event") + "." + tool.Draw(t, "tool") })
	some := rapid.Map(rapid.SliceOfN(two, 1, 3), func(parts []string) string { return strings.Join(parts, ",") })
	return rapid.OneOf(rapid.SampledFrom([]string{"", "*", ">"}), event, two, two, some, rapid.String())
}

func TestPatternMatchesAsNATSDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := anyPattern().Draw(t, "pattern")
		name, tool := rapid.SampledFrom(hook.Names()).Draw(t, "event"), anyName().Draw(t, "tool")
		checkPattern(t, text, name, tool)

		// A pattern made from the event itself is sure to be asked about a match.
		own := string(name) + "." + hook.Token(tool)
		checkPattern(t, own, name, tool)
		p, err := hook.ParsePattern(own)
		require.NoError(t, err)
		require.True(t, p.Match(name, tool), "%q is its own pattern", own)
	})
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"", ">", "*", "stop", "*.bash", "pre_tool_use.Bash", "pre_tool_use.x_aaaaaaaaaaaaaaaa", "stop.>", "a.b.c", ">.a", "*.", ".", "stop, *.bash", "stop,"} {
		f.Add(s, "Bash")
	}
	f.Fuzz(func(t *testing.T, text, tool string) {
		for _, name := range []hook.Name{hook.PreToolUse, hook.Stop, hook.Other} {
			checkPattern(t, text, name, tool)
		}
	})
}

func TestPatternTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		name    hook.Name
		tool    string
		want    bool
	}{
		{"", hook.Stop, "", true},
		{">", hook.PreToolUse, "Bash", true},
		{"*", hook.PreToolUse, "Bash", true},
		{"stop", hook.Stop, "", true},
		{"stop", hook.SubagentStop, "", false},
		{"pre_tool_use", hook.PreToolUse, "mcp.x y", true},
		{"pre_tool_use.Bash", hook.PreToolUse, "bash", true},
		{"pre_tool_use.bash", hook.PreToolUse, "Bash", true},
		{"pre_tool_use.bash", hook.PreToolUse, "Bash2", false},
		{"pre_tool_use.bash", hook.PostToolUse, "Bash", false},
		{"*.bash", hook.PostToolUse, "Bash", true},
		{"stop._", hook.Stop, "", true},
		{"stop._", hook.Stop, "_", false},
		{"pre_tool_use.>", hook.PreToolUse, "", true},
		{"pre_tool_use." + hook.Token("a.b c"), hook.PreToolUse, "a.b c", true},
		{"stop, pre_tool_use.bash", hook.PreToolUse, "Bash", true},
		{"stop,*.bash", hook.PreToolUse, "Read", false},
	} {
		p, err := hook.ParsePattern(c.pattern)
		require.NoError(t, err, c.pattern)
		assert.Equal(t, c.want, p.Match(c.name, c.tool), "%q against %s of %q", c.pattern, c.name, c.tool)
	}
	for _, bad := range []string{
		".", "a", "pretooluse", "PRE_TOOL_USE", "pre_tool_use.", "pre_tool_use.a.b", "pre_tool_use.a*", "pre_tool_use.a b",
		"pre_tool_use.>.x", ">.bash", "hooks.pre_tool_use.bash", "*.*.*", "stop.\x00", "stop,", ",", "stop,,stop", "stop,nope", strings.Repeat("stop,", 64) + "stop", strings.Repeat("a", 10_000),
	} {
		_, err := hook.ParsePattern(bad)
		require.ErrorIs(t, err, hook.ErrPattern, "%.80q", bad)
		assert.Less(t, len(err.Error()), 300, "an error must not repeat a long input")
	}
	var zero hook.Pattern
	assert.True(t, zero.Match(hook.Stop, "anything"), "the zero value matches everything")
}
