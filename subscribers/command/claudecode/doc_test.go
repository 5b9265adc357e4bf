package claudecode_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode"
)

// TestTheDocumentedEventsAreThoseOfTheCode compares the package comment's table
// with the vocabulary.
func TestTheDocumentedEventsAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(text), "// # Events\n")
	table, _, _ = strings.Cut(table, "// # Tools\n")
	var documented, current string
	for line := range strings.Lines(table) {
		if m := regexp.MustCompile(`^//\t([A-Za-z]+)?(?: \[[a-z_ ]+\])?\s+(.*)$`).FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			if m[1] != "" {
				current = m[1]
				documented += "\n" + current + ":"
			}
			documented += " " + strings.Join(strings.Fields(strings.ReplaceAll(m[2], ",", " ")), " ")
		}
	}
	var coded string
	v := claudecode.New().Vocabulary
	for _, name := range v.Names() {
		coded += "\n" + name + ":"
		blocks := false
		for _, e := range v.Events {
			if e.Name == name {
				coded += " " + string(e.Canonical)
				blocks = e.Blocks
			}
		}
		if blocks {
			coded += " blocks"
		}
	}
	assert.Equal(t, coded, documented)
	assert.Len(t, v.Names(), 33)
	seen := map[hook.Name]bool{}
	for _, e := range v.Events {
		assert.False(t, seen[e.Canonical], e.Canonical)
		assert.True(t, e.Canonical.Known())
		seen[e.Canonical] = true
	}
}
