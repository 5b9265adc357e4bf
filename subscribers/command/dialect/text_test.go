package dialect_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

func TestShellWords(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{
		"sh guard.sh":               {"sh", "guard.sh"},
		"'A=b' c":                   {"A=b", "c"},
		"'if' if":                   {"if", "if"},
		`'' 'it'\''s' '~/x' 'a;b'`:  {"", "it's", "~/x", "a;b"},
		"npx @scope/name@1.2,3 a:b": {"npx", "@scope/name@1.2,3", "a:b"},
	} {
		assert.Equal(t, want, dialect.ShellWords(words))
	}
}

// TestAShellReadsShellWordsAsTheyWere asks one.
func TestAShellReadsShellWordsAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[ -~\n\té]{0,6}|if|time|~|\*|!|\{`), 1, 4).Draw(t, "words")
		out, err := exec.Command("/bin/sh", "-c", `printf '%s\0' `+dialect.ShellWords(append([]string{"x"}, words...))).Output()
		require.NoError(t, err)
		assert.Equal(t, strings.Join(words, "\x00"), strings.TrimSuffix(strings.TrimPrefix(string(out), "x\x00"), "\x00"))
	})
}
