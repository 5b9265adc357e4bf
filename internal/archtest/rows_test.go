package archtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The hook dialects' documents are specified row by row: cli-agent (A),
// claude-agent (B), codemie (C), ollm (D) and code-forge (E). A test whose
// name begins with the row shows it, and so does a script that runs the built
// program, or a test beside these, where a program can show it.
var dialectRows = map[string]int{"A": 11, "B": 10, "C": 9, "D": 8, "E": 10}

// rowsInGo are those that programs written in Go alone can see.
var rowsInGo = map[string]string{
	"B2":  "an interface of Go",
	"B3":  "constructors and accessors of Go",
	"B4":  "builder methods of Go",
	"B5":  "the context of a hook in Go",
	"B6":  "how the answers of hooks in Go are merged",
	"B10": "a tool written in Go that fires an event",
	"D7":  "an interface of Go",
	"E10": "what it costs",
}

func TestEveryDialectRowHasATest(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`(?m)^func Test([A-E]\d+)[A-Z]\w*\(t \*testing\.T\)`)
	shown := regexp.MustCompile(`(?m)^# ((?:[A-E]\d+(?:, )?)+): `)
	tests, scripts := make(map[string]bool), make(map[string]bool)
	tr := load(t)
	for _, f := range tr.files {
		if !f.test {
			continue
		}
		text, err := os.ReadFile(filepath.Join(tr.root, f.path))
		require.NoError(t, err)
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			tests[m[1]] = true
			if f.dir == "cmd/grapnel" {
				scripts[m[1]] = true
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(tr.root, "cmd/grapnel/testdata/script/*.txtar"))
	require.NoError(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range shown.FindAllStringSubmatch(string(text), -1) {
			for row := range strings.SplitSeq(m[1], ", ") {
				scripts[row] = true
			}
		}
	}
	for letter, n := range dialectRows {
		for i := 1; i <= n; i++ {
			row := fmt.Sprintf("%s%d", letter, i)
			assert.True(t, tests[row], "row %s has no test: there is no func Test%s…", row, row)
			if _, inGo := rowsInGo[row]; !inGo {
				assert.True(t, scripts[row], "row %s is shown by no script of cmd/grapnel (a line `# %s: …`) and by no test there", row, row)
			}
		}
	}
}
