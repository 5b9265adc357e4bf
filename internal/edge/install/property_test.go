package install_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

// writer draws one settings file in a style of its own.
type writer struct {
	t       *rapid.T
	newline string
	unit    string
	jsonc   bool
}

func (w writer) maybe(label string) bool { return rapid.IntRange(0, 3).Draw(w.t, label) == 0 }

// comment draws nothing, or a comment that ends on its own line.
func (w writer) comment() string {
	if !w.jsonc || !w.maybe("comment") {
		return ""
	}
	return rapid.SampledFrom([]string{" // c", " /* c */", " // \"{[,", " /* ] } \" // */"}).Draw(w.t, "text")
}

// composite writes an object or array of parts, on one line or on many.
func (w writer) composite(open, closing, indent string, parts []string) string {
	if len(parts) == 0 {
		return open + closing
	}
	trailing := ""
	if w.jsonc && w.maybe("trailing comma") {
		trailing = ","
	}
	if !strings.Contains(strings.Join(parts, ""), "\n") && w.maybe("one line") {
		space := rapid.SampledFrom([]string{"", " "}).Draw(w.t, "space")
		return open + space + strings.Join(parts, ","+space) + trailing + space + closing
	}
	var b strings.Builder
	b.WriteString(open + w.comment())
	for i, p := range parts {
		b.WriteString(w.newline + indent + w.unit + p)
		if i < len(parts)-1 {
			b.WriteString("," + w.comment())
		}
	}
	b.WriteString(trailing + w.comment() + w.newline + indent + closing)
	return b.String()
}

func (w writer) any(depth int, indent string) string {
	kind := rapid.IntRange(0, 2).Draw(w.t, "kind")
	if depth == 0 {
		kind = 2
	}
	inner := indent + w.unit
	var parts []string
	switch n := rapid.IntRange(0, 3).Draw(w.t, "length"); kind {
	case 0:
		for i := range n {
			parts = append(parts, fmt.Sprintf(`"k%d": %s`, i, w.any(depth-1, inner)))
		}
		return w.composite("{", "}", indent, parts)
	case 1:
		for range n {
			parts = append(parts, w.any(depth-1, inner))
		}
		return w.composite("[", "]", indent, parts)
	}
	return rapid.SampledFrom([]string{`"text"`, `"\"{[// /*"`, `1.50`, `true`, `null`, `"\u0041"`}).Draw(w.t, "literal")
}

func (w writer) groups(indent string) string {
	var groups []string
	i1, i2, i3 := indent+w.unit, indent+w.unit+w.unit, indent+w.unit+w.unit+w.unit
	for range rapid.IntRange(1, 3).Draw(w.t, "groups") {
		var entries []string
		for i := range rapid.IntRange(1, 2).Draw(w.t, "entries") {
			entries = append(entries, w.composite("{", "}", i3, []string{`"type": "command"`, fmt.Sprintf(`"command": "mine-%d"`, i)}))
		}
		parts := []string{`"hooks": ` + w.composite("[", "]", i2, entries)}
		if rapid.Bool().Draw(w.t, "matcher") {
			parts = append([]string{`"matcher": "Bash"`}, parts...)
		}
		groups = append(groups, w.composite("{", "}", i1, parts))
	}
	return w.composite("[", "]", indent, groups)
}

// anySettings draws a settings file. Objects and arrays that hooks stand in
// are never empty in it: what is empty after an uninstallation is taken out.
func anySettings() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		w := writer{
			t: t, newline: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline"),
			unit: rapid.SampledFrom([]string{"  ", "    ", "\t"}).Draw(t, "unit"), jsonc: rapid.Bool().Draw(t, "jsonc"),
		}
		var members []string
		for i := range rapid.IntRange(1, 3).Draw(t, "members") {
			members = append(members, fmt.Sprintf(`"m%d": %s`, i, w.any(3, w.unit)))
		}
		if rapid.Bool().Draw(t, "hooks") {
			var events []string
			names := append(install.Events(hookwire.ClaudeCode), "MessageDisplay", "Invented")
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID).Draw(t, "events") {
				events = append(events, quoted(name)+": "+w.groups(w.unit+w.unit))
			}
			at := rapid.IntRange(0, len(members)).Draw(t, "at")
			hooks := `"hooks": ` + w.composite("{", "}", w.unit, events)
			members = append(members[:at], append([]string{hooks}, members[at:]...)...)
		}
		text := w.composite("{", "}", "", members)
		end := rapid.SampledFrom([]string{"", w.newline, w.newline + w.newline}).Draw(t, "end")
		if w.jsonc && w.maybe("head") {
			text = "// head" + w.newline + text
		}
		if rapid.IntRange(0, 9).Draw(t, "bom") == 0 {
			text = "\ufeff" + text
		}
		return text + end
	})
}

func quoted(s string) string { return `"` + s + `"` }

func standard(t require.TestingT, text string) string {
	b, err := hujson.Minimize([]byte(strings.TrimPrefix(text, "\ufeff")))
	require.NoError(t, err, "%s", text)
	return string(b)
}

func TestUninstallUndoesInstall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rapid.Check(t, func(t *rapid.T) {
		before := anySettings().Draw(t, "settings")
		require.NoError(t, os.WriteFile(f.settings(), []byte(before), 0o600))
		installed, err := f.claude().PlanInstall()
		require.NoError(t, err, "%s", before)
		require.False(t, installed.Empty())
		require.Contains(t, string(installed.Changes[0].New), "grapnel-hook claude-code PreToolUse")

		// All that was there is there, in its order, byte for byte.
		require.Equal(t, len(comments(before)), len(comments(string(installed.Changes[0].New))))
		require.NoError(t, os.WriteFile(f.settings(), installed.Changes[0].New, 0o600))
		again, err := f.claude().PlanInstall()
		require.NoError(t, err)
		require.True(t, again.Empty(), "installing is idempotent:\n%s", again.Diff())

		removed, err := f.claude().PlanUninstall()
		require.NoError(t, err)
		require.Equal(t, before, string(removed.Changes[0].New))
		require.Equal(t, installed.Changes[0].New, patch(t, installed.Changes[0].Old, installed.Diff()))
		require.Equal(t, removed.Changes[0].New, patch(t, removed.Changes[0].Old, removed.Diff()))
	})
}

var commentText = regexp.MustCompile(`// c|/\* c`)

func comments(s string) []string { return commentText.FindAllString(s, -1) }

// Others edit the file after an installation; nothing of theirs may go.
func TestUninstallKeepsWhatCameLater(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rapid.Check(t, func(t *rapid.T) {
		before := anySettings().Draw(t, "settings")
		require.NoError(t, os.WriteFile(f.settings(), []byte(before), 0o600))
		change, err := f.claude().PlanInstall()
		require.NoError(t, err)
		// Somebody formats it anew, comments every line of ours, and adds to it.
		root, err := hujson.Parse([]byte(strings.TrimPrefix(string(change.Changes[0].New), "\ufeff")))
		require.NoError(t, err)
		root.Format()
		later := strings.ReplaceAll(root.String(), `"hooks": [`, "/* k */ \"hooks\": [ // l\n")
		later = strings.ReplaceAll(later, `"PreToolUse":`, "\"Later\": [{\"hooks\": [{\"command\": \"x\"}]}], // m\n/* n */ \"PreToolUse\":")
		require.NoError(t, os.WriteFile(f.settings(), []byte(later), 0o600))
		removed, err := f.claude().PlanUninstall()
		require.NoError(t, err)
		require.NotContains(t, string(removed.Changes[0].New), "grapnel-hook")

		var want, got map[string]any
		require.NoError(t, json.Unmarshal([]byte(standard(t, before)), &want))
		require.NoError(t, json.Unmarshal([]byte(standard(t, string(removed.Changes[0].New))), &got))
		hooks, _ := want["hooks"].(map[string]any)
		if hooks == nil {
			hooks = map[string]any{}
			want["hooks"] = hooks
		}
		hooks["Later"] = []any{map[string]any{"hooks": []any{map[string]any{"command": "x"}}}}
		require.Equal(t, want, got)
		require.Contains(t, string(removed.Changes[0].New), "// m")
		require.Contains(t, string(removed.Changes[0].New), "/* n */")
	})
}

var hunkHead = regexp.MustCompile(`\A@@ -(\d+),(\d+) \+(\d+),(\d+) @@\z`)

// patch applies a unified diff, as strictly as it can be done.
func patch(t require.TestingT, old []byte, diff string) []byte {
	lines := strings.SplitAfter(string(old), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out strings.Builder
	next := 0
	body := strings.SplitAfter(diff, "\n")
	for i := 2; i < len(body) && body[i] != ""; {
		head := hunkHead.FindStringSubmatch(strings.TrimSuffix(body[i], "\n"))
		require.NotNil(t, head, "%q", body[i])
		number := func(k int) int {
			n, err := strconv.Atoi(head[k])
			require.NoError(t, err)
			return n
		}
		start := number(1)
		if number(2) > 0 {
			start--
		}
		for ; next < start; next++ {
			out.WriteString(lines[next])
		}
		olds, news := 0, 0
		for i++; i < len(body) && body[i] != "" && !strings.HasPrefix(body[i], "@@"); i++ {
			line := body[i][1:]
			if i+1 < len(body) && strings.HasPrefix(body[i+1], `\`) {
				line = strings.TrimSuffix(line, "\n")
			}
			switch body[i][0] {
			case ' ', '-':
				require.Equal(t, lines[next], line)
				next++
				olds++
				if body[i][0] == ' ' {
					out.WriteString(line)
					news++
				}
			case '+':
				out.WriteString(line)
				news++
			case '\\':
			default:
				require.Fail(t, "bad line", "%q", body[i])
			}
		}
		require.Equal(t, number(2), olds)
		require.Equal(t, number(4), news)
	}
	for ; next < len(lines); next++ {
		out.WriteString(lines[next])
	}
	return []byte(out.String())
}

func TestDiffIsAPatch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "d"}), 0, 30), func(s []string) string { return strings.Join(s, "") })
		c := install.Change{Path: "f", Old: []byte(text.Draw(t, "old")), New: []byte(text.Draw(t, "new"))}
		if c.Empty() {
			require.Empty(t, c.Diff())
			return
		}
		require.Equal(t, string(c.New), string(patch(t, c.Old, c.Diff())), c.Diff())
	})
}

func FuzzSettings(f *testing.F) {
	for _, s := range []string{`{}`, `{"hooks":{"Stop":[{"hooks":[]}]}}`, "// c\n{\"a\":1,}", `{"hooks":{"Stop":[{"hooks":[{"command":"grapnel-hook claude-code Stop"},],},],},}`, "\ufeff{ }", `{"a":/* c */1// d` + "\n}"} {
		f.Add(s)
	}
	fix := newFixture(f)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "grapnel") {
			return // what is ours already may change its place and go
		}
		dir := t.TempDir()
		o := *fix.o
		o.Project = dir
		c, err := install.New(hookwire.ClaudeCode, install.Project, fix.binary, &o)
		require.NoError(t, err)
		require.NoError(t, os.Mkdir(dir+"/.claude", 0o700))
		require.NoError(t, os.WriteFile(c.Path(), []byte(text), 0o600))
		change, err := c.PlanInstall()
		if err != nil {
			require.ErrorIs(t, err, install.ErrSettings)
			return
		}
		require.NoError(t, os.WriteFile(c.Path(), change.Changes[0].New, 0o600))
		again, err := c.PlanInstall()
		require.NoError(t, err)
		require.True(t, again.Empty())
		removed, err := c.PlanUninstall()
		require.NoError(t, err)
		require.NotContains(t, string(removed.Changes[0].New), "grapnel-hook claude-code")
	})
}
