package install_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

// settingsOf are an agent's settings in a fixture.
func (f fixture) settingsOf(agent string, scope install.Scope) *install.Settings {
	f.t.Helper()
	s, err := install.New(agent, scope, f.binary, f.o)
	require.NoError(f.t, err)
	return s
}

// do applies a plan.
func (f fixture) do(p *install.Plan, err error) []install.Applied {
	f.t.Helper()
	require.NoError(f.t, err)
	done, err := p.Apply()
	require.NoError(f.t, err)
	return done
}

// tree is all that is below a directory, by path.
func tree(t testing.TB, dir string) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.Contains(path, "grapnel-backup") {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	require.NoError(t, err)
	return all
}

func TestEveryAgentOfTheEdgeCanBeInstalled(t *testing.T) {
	t.Parallel()
	assert.Equal(t, edge.Agents(), install.Agents())
}

// TestGoldenOfEveryAgent shows what is written into a home where nothing is.
func TestGoldenOfEveryAgent(t *testing.T) {
	t.Parallel()
	for _, agent := range install.Agents() {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			require.NoError(t, os.Remove(filepath.Join(f.home, ".claude")))
			s := f.settingsOf(agent, install.User)
			f.do(s.PlanInstall())
			files := tree(t, f.home)
			var b strings.Builder
			for _, path := range slices.Sorted(maps.Keys(files)) {
				info, err := os.Stat(filepath.Join(f.home, path))
				require.NoError(t, err)
				b.WriteString("-- ~/" + path + " " + info.Mode().String() + " --\n" + strings.ReplaceAll(files[path], f.binary, shownBinary))
			}
			golden(t, "testdata/agents/"+agent+".txt", b.String())

			for _, event := range install.Events(agent) {
				one := regexp.MustCompile(`grapnel-hook ` + agent + ` ` + regexp.QuoteMeta(event) + `\b`)
				if agent != hookwire.OpenCode {
					assert.Len(t, one.FindAllString(b.String(), -1), 1, event)
				}
			}
			assert.Empty(t, f.do(s.PlanInstall()), "installing again changes nothing")
			assert.Equal(t, files, tree(t, f.home))

			status, err := install.Inspect(agent, f.o)
			require.NoError(t, err)
			assert.True(t, status.Installed())
			assert.Empty(t, status.Missing)
			assert.ElementsMatch(t, install.Events(agent), status.Files[0].Events)
			assert.Empty(t, status.Files[0].Weak)

			f.do(s.PlanUninstall())
			for path, text := range tree(t, f.home) {
				assert.NotContains(t, text, "grapnel", path)
				assert.Less(t, len(text), 30, "nothing is left in %s", path)
			}
			assert.Empty(t, f.do(s.PlanUninstall()))
		})
	}
}

// TestTimeoutsAreLongerThanTheHooksOwn, in each agent's own unit.
func TestTimeoutsAreLongerThanTheHooksOwn(t *testing.T) {
	t.Parallel()
	units := map[string]float64{hookwire.GeminiCLI: 1, hookwire.QwenCode: 1} // milliseconds each; 1000 for the others
	line := regexp.MustCompile(`grapnel-hook [a-z-]+ ([\w.]+)"[^{}]*?[\s}]*?,?\s*"?timeout(?:Sec)?"?(?::| =) (\d+)`)
	for _, agent := range install.Agents() {
		switch agent {
		case hookwire.Windsurf, hookwire.Cline, hookwire.OpenCode:
			continue // they have none in their settings
		}
		text, err := os.ReadFile("testdata/agents/" + agent + ".txt")
		require.NoError(t, err)
		found := line.FindAllStringSubmatch(string(text), -1)
		assert.Len(t, found, len(install.Events(agent)), agent)
		for _, m := range found {
			n, err := strconv.ParseFloat(m[2], 64)
			require.NoError(t, err)
			unit := units[agent]
			if unit == 0 {
				unit = 1000
			}
			assert.Greater(t, n*unit, float64(hookwire.Budget(agent, m[1])), "%s %s", agent, m[1])
			if agent == hookwire.Codex && (m[1] == "SessionEnd" || m[1] == "Interrupt") {
				assert.LessOrEqual(t, n, 3.0, "Codex allows no more")
			}
			if agent == hookwire.KimiCode {
				assert.LessOrEqual(t, n, 600.0, "Kimi Code allows no more")
			}
		}
	}
}

// TestFailClosedWhereTheAgentCan: the agent's own switch stands on its gates,
// and nowhere else.
func TestFailClosedWhereTheAgentCan(t *testing.T) {
	t.Parallel()
	gates := func(agent string) (list []string) {
		for _, event := range install.Events(agent) {
			if hookwire.ClassOf(event) == hookwire.Gate {
				list = append(list, event)
			}
		}
		return list
	}
	for agent, c := range map[string]struct {
		key    string
		events []string
	}{
		hookwire.ClaudeCode: {`"onFailure": "block"`, gates(hookwire.ClaudeCode)},
		hookwire.Cursor:     {`"failClosed": true`, gates(hookwire.Cursor)},
		hookwire.Goose:      {`"on_failure": "block"`, []string{"PreToolUse"}},
	} {
		text, err := os.ReadFile("testdata/agents/" + agent + ".txt")
		require.NoError(t, err)
		switched := regexp.MustCompile(`grapnel-hook [a-z-]+ (\w+)"[^{}]*`+regexp.QuoteMeta(c.key)).FindAllStringSubmatch(string(text), -1)
		var events []string
		for _, m := range switched {
			events = append(events, m[1])
		}
		assert.NotEmpty(t, events, agent)
		assert.Equal(t, c.events, events, agent)
	}
}

// TestOneCommandLineForever: Codex trusts a hook by a hash of its definition, so
// that what is written must not change from one installation to the next.
func TestOneCommandLineForever(t *testing.T) {
	t.Parallel()
	for _, agent := range install.Agents() {
		f := newFixture(t)
		f.o.Flags = []string{"--socket", "/run/hook.sock"}
		s := f.settingsOf(agent, install.User)
		f.do(s.PlanInstall())
		first := tree(t, f.home)
		f.do(s.PlanUninstall())
		f.do(f.settingsOf(agent, install.User).PlanInstall())
		second := tree(t, f.home)
		for path, text := range first {
			assert.Contains(t, strings.Join(slices.Collect(maps.Values(second)), ""), strings.TrimSpace(text), "%s: %s", agent, path)
		}
	}
}

// TestProjectScopeOfEveryAgent: below the project's directory, and nowhere else.
func TestProjectScopeOfEveryAgent(t *testing.T) {
	t.Parallel()
	for _, agent := range install.Agents() {
		f := newFixture(t)
		require.NoError(t, os.MkdirAll(f.o.Project, 0o755))
		s, err := install.New(agent, install.Project, f.binary, f.o)
		if agent == hookwire.KimiCode {
			require.ErrorContains(t, err, "user's settings alone")
			continue
		}
		require.NoError(t, err)
		f.do(s.PlanInstall())
		assert.Empty(t, tree(t, f.home), agent)
		assert.NotEmpty(t, tree(t, f.o.Project), agent)
		status, err := install.Inspect(agent, f.o)
		require.NoError(t, err)
		assert.ElementsMatch(t, install.Events(agent), status.Files[1].Events, agent)
		f.do(s.PlanUninstall())
		for path, text := range tree(t, f.o.Project) {
			assert.NotContains(t, text, "grapnel", path)
		}
	}
}

// TestNoRegistrationOfAMissingProgram: with it, some agents block everything.
func TestNoRegistrationOfAMissingProgram(t *testing.T) {
	t.Parallel()
	for _, agent := range install.Agents() {
		f := newFixture(t)
		s := f.settingsOf(agent, install.User)
		f.do(s.PlanInstall())
		require.NoError(t, os.Remove(f.binary))
		status, err := install.Inspect(agent, f.o)
		require.NoError(t, err)
		assert.Contains(t, strings.Join(status.Problems, "\n"), f.binary+", which does not exist: ", agent)

		// Somebody else's build, in another place, takes it out as well.
		other, err := install.New(agent, install.User, "/elsewhere/grapnel-hook", f.o)
		require.NoError(t, err)
		f.do(other.PlanUninstall())
		status, err = install.Inspect(agent, f.o)
		require.NoError(t, err)
		assert.False(t, status.Installed(), agent)
		_, err = s.PlanInstall()
		assert.ErrorContains(t, err, "the hook binary is not there", agent)
	}
}

// TestOtherAgentsEntriesStay: ours for one agent are not ours for another.
func TestOtherAgentsEntriesStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	path := filepath.Join(f.home, ".codex", "hooks.json")
	text := `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "grapnel-hook qwen-code Stop"}]}]}}`
	f.put(path, text)
	plan, err := f.settingsOf(hookwire.Codex, install.User).PlanUninstall()
	require.NoError(t, err)
	assert.True(t, plan.Empty())
	assert.Equal(t, []string{"Stop: grapnel-hook qwen-code Stop"}, plan.Left)
}

func TestMovedDirectories(t *testing.T) {
	t.Parallel()
	for agent, c := range map[string]struct{ variable, path string }{
		hookwire.ClaudeCode: {"CLAUDE_CONFIG_DIR", "settings.json"}, hookwire.Codex: {"CODEX_HOME", "hooks.json"},
		hookwire.Copilot: {"COPILOT_HOME", "hooks/grapnel.json"}, hookwire.OpenCode: {"XDG_CONFIG_HOME", "opencode/plugins/grapnel.js"},
	} {
		f := newFixture(t)
		f.o.Getenv = func(name string) string {
			return map[string]string{c.variable: filepath.Join(f.home, "moved")}[name]
		}
		s, err := install.New(agent, install.User, f.binary, f.o)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(f.home, "moved", filepath.FromSlash(c.path)), s.Path())
	}
}

func TestAnOwnedFileGoesUnlessSomebodyUsesIt(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{hookwire.Copilot, hookwire.VSCode, hookwire.Goose, hookwire.KiroCLI, hookwire.OpenCode} {
		f := newFixture(t)
		s := f.settingsOf(agent, install.User)
		f.do(s.PlanInstall())
		plan, err := s.PlanUninstall()
		require.NoError(t, err)
		assert.Contains(t, plan.Diff(), "+++ "+os.DevNull, agent)
		done := f.do(plan, nil)
		require.Len(t, done, 1)
		assert.True(t, done[0].Removed)
		assert.NoFileExists(t, s.Path())
		if agent == hookwire.Goose {
			assert.NoDirExists(t, filepath.Dir(filepath.Dir(s.Path())), "the plugin's directory is ours, too")
			assert.DirExists(t, filepath.Join(f.home, ".agents", "plugins"))
		}
		if agent == hookwire.OpenCode {
			continue
		}
		f.do(s.PlanInstall())
		text, err := os.ReadFile(s.Path())
		require.NoError(t, err)
		f.put(s.Path(), strings.Replace(string(text), "{\n", "{\n  // mine\n", 1))
		f.do(s.PlanUninstall())
		text, err = os.ReadFile(s.Path())
		require.NoError(t, err)
		assert.Contains(t, string(text), "// mine", agent)
		assert.NotContains(t, string(text), "grapnel", agent)
	}
}
