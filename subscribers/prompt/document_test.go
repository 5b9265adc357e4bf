package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain é 漢字 שלום 😀 \t":     "plain é 漢字 שלום 😀 \\u0009",
		"a\u202eb":                 `a\u202eb`,
		"a\u200b\u200d\ufeffb":     `a\u200b\u200d\ufeffb`,
		"\U000e0041\U000e007f":     `\udb40\udc41\udb40\udc7f`,
		"\u00a0\u2028\u3164\u2800": `\u00a0\u2028\u3164\u2800`,
		"\x00\x1b[31m\x7f\u009b":   `\u0000\u001b[31m\u007f\u009b`,
		"x\ufe0f\U000e0100":        `x\ufe0f\udb40\udd00`,
		"\ue000\u034f\u00ad":       `\ue000\u034f\u00ad`,
		"bad \xff":                 "bad \ufffd",
	} {
		assert.Equal(t, want, visible(in, false), "%+q", in)
	}
	assert.Equal(t, "a\n\tb", visible("a\n\tb", true))
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "in")
		document, err := json.Marshal(in)
		require.NoError(t, err)
		out := visible(string(document), false)
		for _, r := range out {
			require.False(t, unseen(r, false), "%U", r)
		}
		var back string
		require.NoError(t, json.Unmarshal([]byte(out), &back), "JSON stays JSON")
		require.Equal(t, in, back)
	})
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"$TOOL_NAME: $TOOL_INPUT":          "[data TOOL_NAME]: [data TOOL_INPUT]",
		"$PROMPT $SESSION_ID $CWD":         "[data PROMPT] [data SESSION_ID] [data CWD]",
		"$TOOL_NAMES $PROMPTED $$PROMPT $": "$TOOL_NAMES $PROMPTED $[data PROMPT] $",
		"costs $5, ${PROMPT}, $prompt":     "costs $5, ${PROMPT}, $prompt\n\n[data ARGUMENTS]",
		"no placeholder":                   "no placeholder\n\n[data ARGUMENTS]",
		"$CWD/x and $CWD":                  "[data CWD]/x and [data CWD]",
		"hidden\u202e $CWD":                `hidden\u202e [data CWD]`,
	} {
		assert.Equal(t, want, parse(in, Codemie).text)
	}
	assert.Len(t, parse("$CWD $CWD $PROMPT", Codemie).parts, 2)
	claude := parse("$ARGUMENTS of $TOOL_NAME", ClaudeCode)
	assert.Equal(t, "[data ARGUMENTS] of $TOOL_NAME", claude.text)
	assert.Equal(t, []placeholder{arguments}, claude.parts)
}

func TestSections(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := string(quoted(rapid.StringN(1, 400, -1).Draw(t, "value")))
		limit := rapid.IntRange(10, 300).Draw(t, "limit")
		s := newSection(userText, value, limit, "mark")
		shown := visible(value, false)
		if len(shown) <= limit {
			require.Equal(t, []string{shown}, s.lines)
			require.Zero(t, s.cut)
			return
		}
		require.Len(t, s.lines, 3)
		require.True(t, strings.HasPrefix(shown, s.lines[0]))
		require.True(t, strings.HasSuffix(shown, s.lines[2]))
		require.Equal(t, len(shown), len(s.lines[0])+s.cut+len(s.lines[2]))
		require.LessOrEqual(t, len(s.lines[0])+len(s.lines[2]), limit)
		require.Contains(t, s.lines[1], fmt.Sprintf("<<<CUT mark %d bytes", s.cut))
	})
}
