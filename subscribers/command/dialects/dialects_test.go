package dialects_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialects"
	"github.com/grapnel-dev/grapnel/subscribers/command/native"
)

const docFile = "doc.go"

// TestTheDocumentationHasTheTable compares doc.go with what the code says;
// UPDATE_DOCS=1 writes it.
func TestTheDocumentationHasTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(docFile)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), "// # Table\n//\n")
	require.True(t, ok)
	_, tail, ok := strings.Cut(rest, "//\n// # End of the table\n")
	require.True(t, ok)
	var table strings.Builder
	for line := range strings.Lines(dialects.Table(dialects.All())) {
		line = strings.TrimRight(line, " \n")
		switch {
		case line == "":
			table.WriteString("//\n")
		case strings.HasSuffix(line, ":"):
			table.WriteString("// " + line + "\n")
		default:
			table.WriteString("//\t" + line + "\n")
		}
	}
	want := head + "// # Table\n//\n" + table.String() + "//\n// # End of the table\n" + tail
	if os.Getenv("UPDATE_DOCS") != "" {
		require.NoError(t, os.WriteFile(docFile, []byte(want), 0o600))
		return
	}
	assert.Equal(t, want, string(text), "run UPDATE_DOCS=1 go test ./subscribers/command/dialects")
}

func TestEveryDialectIsComplete(t *testing.T) {
	t.Parallel()
	token := regexp.MustCompile(`^[a-z0-9-]+$`)
	seen := make(map[string]bool)
	for _, d := range dialects.All() {
		assert.Regexp(t, token, d.Name)
		assert.False(t, seen[d.Name], d.Name)
		seen[d.Name] = true
		assert.NotEmpty(t, d.About, d.Name)
		assert.NotEmpty(t, d.Files, d.Name)
		assert.Positive(t, d.Timeout, d.Name)
		assert.NotNil(t, d.Read, d.Name)
		assert.NotNil(t, d.Write, d.Name)
		assert.NotNil(t, d.Feed, d.Name)
		assert.NotNil(t, d.Answer, d.Name)
		_, ok := d.Vocabulary.Event(hook.PreToolUse)
		assert.True(t, ok, "%s: every dialect knows what comes before a tool", d.Name)
		had := make(map[hook.Name]bool)
		for _, e := range d.Vocabulary.Events {
			assert.True(t, e.Canonical.Known(), "%s: %s", d.Name, e.Canonical)
			assert.False(t, had[e.Canonical], "%s: %s stands twice", d.Name, e.Canonical)
			had[e.Canonical] = true
		}
	}
}

// TestToolsAreOneToolUnderAllNames holds that a tool of any agent is what a
// dialect's matcher speaks of.
func TestToolsAreOneToolUnderAllNames(t *testing.T) {
	t.Parallel()
	shells := map[string]string{"claude-code": "Bash", "cli-agent": "bash_execute", "code-forge": "bash", "codemie": "Bash", "ollm": "shell", "claude-agent": "Bash"}
	for _, d := range dialects.All() {
		want, ok := shells[d.Name]
		if !ok {
			continue
		}
		for _, name := range []string{"Bash", "run_shell_command", "bash_execute", "bash", "Shell", "execute_command", "exec", "shell", "made_up_by_an_agent"} {
			assert.Contains(t, append([]string{want}, shells["claude-code"], "bash", "shell", name), d.Vocabulary.ToolName(hook.Tool{Name: name, Kind: hook.KindShell}), "%s: %s", d.Name, name)
		}
		assert.Equal(t, want, d.Vocabulary.ToolName(hook.Tool{Name: "run_shell_command", Kind: hook.KindShell}), d.Name)
		assert.Equal(t, "lookalike", d.Vocabulary.ToolName(hook.Tool{Name: "lookalike", Kind: hook.KindOther}), d.Name)
	}
}

// TestConversionsKeepWhatCanBeSaid moves a hook from each dialect to each.
func TestConversionsKeepWhatCanBeSaid(t *testing.T) {
	t.Parallel()
	for _, from := range dialects.All() {
		name, _ := from.Vocabulary.Event(hook.PreToolUse)
		h := dialect.Hook{
			Name: "check", Type: dialect.TypeCommand, Events: []string{name.Name}, Command: []string{"/usr/bin/true"},
			Tools: []string{from.Vocabulary.ToolName(hook.Tool{Name: "Bash", Kind: hook.KindShell})},
		}
		for _, to := range dialects.All() {
			c, err := dialect.Convert([]dialect.Hook{h}, from, to)
			require.NoError(t, err, "%s to %s", from.Name, to.Name)
			assert.Equal(t, 1, c.Converted, "%s to %s", from.Name, to.Name)
			back, problems := to.Read(c.Text, dialect.Origin{File: "/x", Source: "user"})
			assert.Empty(t, problems, "%s to %s: %s", from.Name, to.Name, c.Text)
			require.Len(t, back, 1, "%s to %s: %s", from.Name, to.Name, c.Text)
			event, _ := to.Vocabulary.Event(hook.PreToolUse)
			assert.Contains(t, back[0].Events, event.Name)
		}
	}
}

// TestAConvertedHookSelectsTheSameTools moves hooks from code-forge, whose
// matchers look like no other's, over each dialect to each: they still run for
// the tools that they ran for, and for no others.
func TestAConvertedHookSelectsTheSameTools(t *testing.T) {
	t.Parallel()
	forge, ok := dialects.Find("code-forge")
	require.True(t, ok)
	event := func(tool string, kind hook.Kind) hook.Event {
		return hook.Event{ID: "1", Name: hook.PreToolUse, Subject: tool, Data: hook.Data{Tool: &hook.Tool{Name: tool, Kind: kind}}}
	}
	for _, x := range []struct{ pattern, want string }{
		{"tool:pre_execute", "Bash Write"}, {"*", "Bash Write"}, {"tool:pre_execute:bash", "Bash"}, {"tool:pre_execute:write,tool:pre_execute:edit", "Write"},
	} {
		text := `{"hooks":[{"event":"` + x.pattern + `","command":"/usr/bin/true"}]}`
		hooks, problems := forge.Read([]byte(text), dialect.Origin{File: "/x", Source: "user"})
		require.Empty(t, problems)
		for _, via := range dialects.All() {
			for _, to := range dialects.All() {
				at, from := hooks, forge
				var lost []string
				for _, next := range []*dialect.Dialect{via, to} {
					c, err := dialect.Convert(at, from, next)
					require.NoError(t, err)
					lost = append(lost, c.Lost...)
					at, _ = next.Read(c.Text, dialect.Origin{File: "/x", Source: "user"})
					from = next
				}
				var got []string
				for _, e := range []hook.Event{event("Bash", hook.KindShell), event("Write", hook.KindFileWrite)} {
					call, ok := to.Call(e)
					require.True(t, ok)
					if slices.ContainsFunc(at, func(h dialect.Hook) bool {
						return slices.Contains(h.Events, call.Name) && (h.Matches == nil || h.Matches(call))
					}) {
						got = append(got, e.Subject)
					}
				}
				if to.Name == native.Name && via.Name != to.Name && hooks[0].Tools != nil {
					// It has no names of its own for tools.
					assert.Contains(t, strings.Join(lost, "\n"), "the agents' own names of tools", via.Name)
					continue
				}
				assert.Equal(t, x.want, strings.Join(got, " "), "%s over %s to %s", x.pattern, via.Name, to.Name)
			}
		}
	}
}

// TestAConversionCountsWhatIsWritten takes a hook whose shell text ollm, which
// has no shell, leaves out.
func TestAConversionCountsWhatIsWritten(t *testing.T) {
	t.Parallel()
	forge, _ := dialects.Find("code-forge")
	ollm, _ := dialects.Find("ollm")
	hooks, problems := forge.Read([]byte(`{"hooks":[{"event":"session:start","command":"echo 'a b'"},{"event":"session:end","command":"/usr/bin/true"}]}`), dialect.Origin{File: "/x", Source: "user"})
	require.Empty(t, problems)
	c, err := dialect.Convert(hooks, forge, ollm)
	require.NoError(t, err)
	assert.Equal(t, 1, c.Converted, "%s", c.Text)
}
