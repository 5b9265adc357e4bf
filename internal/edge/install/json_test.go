package install_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

// shape is how an agent's JSON holds hooks, told independently of the product.
type shape struct {
	under   string // the key with the events; the root when empty
	root    string // a member that has to be there
	grouped func(event string) bool
	list    bool // one array for all events
}

func shapes() map[string]shape {
	all := func(string) bool { return true }
	none := func(string) bool { return false }
	return map[string]shape{
		hookwire.ClaudeCode: {under: "hooks", grouped: all}, hookwire.Codex: {under: "hooks", grouped: all},
		hookwire.GeminiCLI: {under: "hooks", grouped: all}, hookwire.QwenCode: {under: "hooks", grouped: all},
		hookwire.Goose: {under: "hooks", grouped: all}, hookwire.FactoryDroid: {grouped: all},
		hookwire.Cursor: {under: "hooks", root: `"version": 1`, grouped: none}, hookwire.Copilot: {under: "hooks", root: `"version": 1`, grouped: none},
		hookwire.VSCode: {under: "hooks", grouped: none}, hookwire.Windsurf: {under: "hooks", grouped: none},
		hookwire.KiroCLI:     {under: "hooks", root: `"version": "v1"`, list: true},
		hookwire.Antigravity: {under: "grapnel", grouped: func(event string) bool { return strings.HasSuffix(event, "ToolUse") }},
	}
}

// flat draws an array of somebody's entries.
func (w writer) flat(indent string, more ...string) string {
	var entries []string
	for i := range rapid.IntRange(1, 3).Draw(w.t, "entries") {
		entries = append(entries, w.composite("{", "}", indent+w.unit, append([]string{`"type": "command"`, fmt.Sprintf(`"command": "mine-%d"`, i)}, more...)))
	}
	return w.composite("[", "]", indent, entries)
}

func (w writer) events(s shape, agent, indent string) []string {
	var events []string
	names := append(install.Events(agent), "Invented")
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID).Draw(w.t, "events") {
		array := w.flat
		if s.grouped(name) {
			array = func(indent string, _ ...string) string { return w.groups(indent) }
		}
		events = append(events, quoted(name)+": "+array(indent))
	}
	return events
}

// anyJSON draws a settings file of the agent. Objects and arrays that hooks
// stand in are never empty in it.
func anyJSON(agent string) *rapid.Generator[string] {
	s := shapes()[agent]
	return rapid.Custom(func(t *rapid.T) string {
		w := writer{
			t: t, newline: rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline"),
			unit: rapid.SampledFrom([]string{"  ", "    ", "\t"}).Draw(t, "unit"), jsonc: rapid.Bool().Draw(t, "jsonc"),
		}
		var members []string
		if s.under == "" {
			members = w.events(s, agent, w.unit)
		} else {
			for i := range rapid.IntRange(1, 3).Draw(t, "members") {
				members = append(members, fmt.Sprintf(`"m%d": %s`, i, w.any(3, w.unit)))
			}
			if s.root != "" {
				members = append(members, s.root)
			}
			if rapid.Bool().Draw(t, "hooks") {
				hooks := ""
				if s.list {
					hooks = w.flat(w.unit, `"trigger": "Stop"`)
				} else {
					hooks = w.composite("{", "}", w.unit, w.events(s, agent, w.unit+w.unit))
				}
				at := rapid.IntRange(0, len(members)).Draw(t, "at")
				members = append(members[:at], append([]string{quoted(s.under) + ": " + hooks}, members[at:]...)...)
			}
		}
		return w.composite("{", "}", "", members) + rapid.SampledFrom([]string{"", w.newline}).Draw(t, "end")
	})
}

func TestUninstallUndoesInstallForEveryAgent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	agents := slices.Sorted(maps.Keys(shapes()))
	rapid.Check(t, func(t *rapid.T) {
		agent := rapid.SampledFrom(agents).Draw(t, "agent")
		s, err := install.New(agent, install.User, f.binary, f.o)
		require.NoError(t, err)
		before := anyJSON(agent).Draw(t, "settings")
		require.NoError(t, os.MkdirAll(filepath.Dir(s.Path()), 0o700))
		require.NoError(t, os.WriteFile(s.Path(), []byte(before), 0o600))
		installed, err := s.PlanInstall()
		require.NoError(t, err, "%s", before)
		after := string(installed.Changes[0].New)
		for _, event := range install.Events(agent) {
			require.Equal(t, 1, strings.Count(after, "grapnel-hook "+agent+" "+event+`"`), event)
		}
		require.Equal(t, len(comments(before)), len(comments(after)))
		require.Equal(t, strings.Count(before, `"mine-`), strings.Count(after, `"mine-`))
		require.NoError(t, os.WriteFile(s.Path(), installed.Changes[0].New, 0o600))
		again, err := s.PlanInstall()
		require.NoError(t, err)
		require.True(t, again.Empty(), "installing is idempotent:\n%s", again.Diff())
		removed, err := s.PlanUninstall()
		require.NoError(t, err)
		require.Equal(t, before, string(removed.Changes[0].New))
	})
}

// TestWhatIsWrittenIsWhereTheAgentReadsIt looks at entries by the shape alone.
func TestWhatIsWrittenIsWhereTheAgentReadsIt(t *testing.T) {
	t.Parallel()
	for agent, s := range shapes() {
		f := newFixture(t)
		settings := f.settingsOf(agent, install.User)
		f.do(settings.PlanInstall())
		text, err := os.ReadFile(settings.Path())
		require.NoError(t, err)
		var root map[string]any
		require.NoError(t, json.Unmarshal(text, &root), "a new file is plain JSON")
		var events any = root
		if s.under != "" {
			events = root[s.under]
		}
		found := 0
		check := func(event string, entry any) {
			e, ok := entry.(map[string]any)
			require.True(t, ok, agent)
			if action, ok := e["action"].(map[string]any); ok {
				assert.Equal(t, event, e["trigger"])
				assert.Equal(t, true, e["enabled"])
				e = action
			}
			assert.Equal(t, f.binary+" "+agent+" "+event, e["command"])
			if agent != hookwire.Windsurf {
				assert.Equal(t, "command", e["type"], agent)
			}
			found++
		}
		if s.list {
			for i, one := range events.([]any) {
				check(install.Events(agent)[i], one)
			}
		} else {
			for event, array := range events.(map[string]any) {
				require.Len(t, array, 1, event)
				one := array.([]any)[0]
				if s.grouped(event) {
					group := one.(map[string]any)
					require.Len(t, group, 1, "no matcher: %v", group)
					one = group["hooks"].([]any)[0]
				}
				check(event, one)
			}
		}
		assert.Equal(t, len(install.Events(agent)), found, agent)
	}
}

func TestJSONThatCannotBeEditedOfEveryAgent(t *testing.T) {
	t.Parallel()
	for agent, s := range shapes() {
		wrap := func(events string) string {
			if s.under == "" {
				return events
			}
			return "{" + quoted(s.under) + ": " + events + "}"
		}
		cases := []string{`{"hooks": {`, `[]`, `null`, `{} {}`, wrap(`7`), wrap(`"x"`)}
		if s.list {
			cases = append(cases, wrap(`{}`))
		} else {
			cases = append(cases, wrap(`[]`), wrap(`{"Stop": {}}`), wrap(`{"Stop": [], "Stop": []}`), wrap(`{"Mine": "x"}`))
		}
		if s.grouped != nil && s.grouped("PreToolUse") {
			cases = append(cases, wrap(`{"PreToolUse": ["x"]}`), wrap(`{"PreToolUse": [{"hooks": {}}]}`))
		}
		for _, text := range cases {
			f := newFixture(t)
			settings := f.settingsOf(agent, install.User)
			f.put(settings.Path(), text)
			for _, plan := range []func() (*install.Plan, error){settings.PlanInstall, settings.PlanUninstall} {
				_, err := plan()
				require.ErrorIs(t, err, install.ErrSettings, "%s: %s", agent, text)
				require.ErrorContains(t, err, settings.Path())
			}
		}
	}
}

// TestDroidsEventsStandAtTheTop: in the other form Droid passes them over.
func TestDroidsEventsStandAtTheTop(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := f.settingsOf(hookwire.FactoryDroid, install.User)
	f.put(s.Path(), `{"hooks": {"Stop": []}}`)
	_, err := s.PlanInstall()
	assert.ErrorContains(t, err, "hooks is an object and must be an array")
}

func TestCommandsInOtherPlacesAreOurs(t *testing.T) {
	t.Parallel()
	for agent, entries := range map[string][]string{
		hookwire.Copilot: {
			`{"hooks": {"preToolUse": [{"type": "command", "bash": "/a/grapnel-hook copilot preToolUse", "powershell": "x"}]}}`,
			`{"hooks": {"preToolUse": [{"type": "command", "exec": "/a/grapnel-hook", "args": ["copilot", "preToolUse"]}]}}`,
		},
		hookwire.VSCode:   {`{"hooks": {"PreToolUse": [{"command": "mine", "linux": "/a/grapnel-hook vscode PreToolUse"}]}}`},
		hookwire.Windsurf: {`{"hooks": {"pre_run_command": [{"powershell": "/a/grapnel-hook windsurf pre_run_command"}]}}`},
		hookwire.KiroCLI:  {`{"hooks": [{"trigger": "Stop", "action": {"command": "/a/grapnel-hook kiro-cli Stop"}}]}`},
	} {
		for _, text := range entries {
			f := newFixture(t)
			s := f.settingsOf(agent, install.User)
			f.put(s.Path(), text)
			status, err := install.Inspect(agent, f.o)
			require.NoError(t, err)
			assert.Len(t, status.Files[0].Weak, 1, text)
			f.do(s.PlanUninstall())
			if left, err := os.ReadFile(s.Path()); err == nil {
				assert.NotContains(t, string(left), "grapnel-hook", text)
			}
		}
	}
}

func TestAntigravityKeepsOtherNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := f.settingsOf(hookwire.Antigravity, install.User)
	text := `{"mine": {"Stop": [{"command": "x"}], "enabled": true}, "grapnel": {"enabled": true}}`
	f.put(s.Path(), text)
	f.do(s.PlanInstall())
	f.do(s.PlanUninstall())
	left, err := os.ReadFile(filepath.Clean(s.Path()))
	require.NoError(t, err)
	assert.Equal(t, text, string(left))
}

func FuzzSettingsOfEveryAgent(f *testing.F) {
	agents := slices.Sorted(maps.Keys(shapes()))
	for i := range agents {
		for _, s := range []string{`{}`, `{"hooks":{"Stop":[{"hooks":[]}]}}`, `{"Stop":[{"hooks":[]}]}`, `{"hooks":[{"trigger":"Stop"}]}`, `{"x":{"Stop":[1]},}`, "{\"version\":/*c*/2}"} {
			f.Add(uint8(i), s)
		}
	}
	fix := newFixture(f)
	f.Fuzz(func(t *testing.T, i uint8, text string) {
		agent := agents[int(i)%len(agents)]
		if strings.Contains(text, "grapnel-hook") {
			return // what is ours already may change its place and go
		}
		o := *fix.o
		o.Project = t.TempDir()
		s, err := install.New(agent, install.Project, fix.binary, &o)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(s.Path()), 0o700))
		require.NoError(t, os.WriteFile(s.Path(), []byte(text), 0o600))
		change, err := s.PlanInstall()
		if err != nil {
			require.ErrorIs(t, err, install.ErrSettings)
			return
		}
		require.NoError(t, os.WriteFile(s.Path(), change.Changes[0].New, 0o600))
		again, err := s.PlanInstall()
		require.NoError(t, err)
		require.True(t, again.Empty())
		removed, err := s.PlanUninstall()
		require.NoError(t, err)
		require.NotContains(t, string(removed.Changes[0].New), "grapnel-hook")
	})
}
