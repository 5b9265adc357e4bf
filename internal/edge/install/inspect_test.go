package install_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

func (f fixture) inspect(agent string) install.Status {
	f.t.Helper()
	s, err := install.Inspect(agent, f.o)
	require.NoError(f.t, err)
	return s
}

// TestSwitchesThatKeepHooksFromFiring: each is a problem, and none without it.
func TestSwitchesThatKeepHooksFromFiring(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ agent, path, text, problem string }{
		{hookwire.Codex, ".codex/config.toml", "[features]\nhooks = false\n", "hooks = false"},
		{hookwire.Codex, ".codex/config.toml", "features = { codex_hooks = false }\n", "codex_hooks = false"},
		{hookwire.Codex, ".codex/config.toml", "features = \n", "cannot be said"},
		{hookwire.QwenCode, ".qwen/settings.json", `{"disableAllHooks": true, "hooks":`, "disableAllHooks"},
		{hookwire.GeminiCLI, ".gemini/settings.json", `{"hooksConfig": {"enabled": false}, "hooks":`, "hooksConfig.enabled"},
		{hookwire.GeminiCLI, ".gemini/settings.json", `{"hooksConfig": {"disabled": ["x", "grapnel"]}, "hooks":`, "hooksConfig.disabled"},
		{hookwire.GeminiCLI, ".gemini/settings.json", `{"hooksConfig": {"disabled": ["/a/grapnel-hook gemini-cli BeforeTool"]}, "hooks":`, "hooksConfig.disabled"},
		{hookwire.Copilot, ".copilot/hooks/grapnel.json", `{"disableAllHooks": true, "hooks":`, "disableAllHooks"},
		{hookwire.Copilot, ".copilot/settings.json", `{"disableAllHooks": true}`, "disableAllHooks"},
		{hookwire.FactoryDroid, ".factory/settings.json", `{"hooksDisabled": true}`, "hooksDisabled"},
		{hookwire.Antigravity, ".gemini/config/hooks.json", `{"grapnel": {"enabled": false, "Stop":`, "grapnel.enabled"},
		{hookwire.KiroCLI, ".kiro/hooks/grapnel.json", `"enabled": true=>"enabled": false`, "does not decide everything"},
		{hookwire.OpenCode, ".config/opencode/plugins/grapnel.js", `30_000=>60_000`, "does not decide everything"},
	} {
		f := newFixture(t)
		s := f.settingsOf(c.agent, install.User)
		path := filepath.Join(f.home, filepath.FromSlash(c.path))
		head, isHead := strings.CutSuffix(c.text, `"hooks":`)
		if isHead {
			f.put(path, head+`"hooks": {}}`)
		} else if head, isHead = strings.CutSuffix(c.text, `"Stop":`); isHead {
			f.put(path, head+`"Stop": []}}`)
		}
		f.do(s.PlanInstall())
		if from, to, ok := strings.Cut(c.text, "=>"); ok {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			f.put(path, strings.Replace(string(text), from, to, 1))
		} else if !isHead {
			f.put(path, c.text)
		}
		assert.Contains(t, strings.Join(f.inspect(c.agent).Problems, "\n"), c.problem, "%s %s", c.agent, c.text)
	}
	for _, agent := range install.Agents() {
		f := newFixture(t)
		f.do(f.settingsOf(agent, install.User).PlanInstall())
		if problems := f.inspect(agent).Problems; agent == hookwire.Codex {
			assert.Len(t, problems, 1, "it is not trusted yet")
		} else {
			assert.Empty(t, problems, agent)
		}
	}
}

func TestCodexTrust(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := f.settingsOf(hookwire.Codex, install.User)
	f.put(s.Path(), `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}`)
	f.do(s.PlanInstall())
	problems := f.inspect(hookwire.Codex).Problems
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0], "open /hooks")
	assert.Contains(t, problems[0], "PreToolUse")

	snake := func(event string) string {
		var b strings.Builder
		for i, r := range event {
			if i > 0 && strings.ToLower(string(r)) != string(r) {
				b.WriteByte('_')
			}
			b.WriteString(strings.ToLower(string(r)))
		}
		return b.String()
	}
	var state strings.Builder
	for _, event := range install.Events(hookwire.Codex) {
		group := 0
		if event == "Stop" {
			group = 1 // behind theirs
		}
		fmt.Fprintf(&state, "[hooks.state.%q]\ntrusted_hash = \"sha256:00\"\n", fmt.Sprintf("%s:%s:%d:0", s.Path(), snake(event), group))
	}
	config := filepath.Join(filepath.Dir(s.Path()), "config.toml")
	f.put(config, state.String())
	status := f.inspect(hookwire.Codex)
	assert.Empty(t, status.Problems)
	assert.Contains(t, strings.Join(status.Notes, "\n"), "only /hooks shows")

	f.put(config, state.String()+"[[hooks.Stop]]\nhooks = []\n")
	assert.Contains(t, strings.Join(f.inspect(hookwire.Codex).Notes, "\n"), "config.toml has hooks, too")
	f.put(config, strings.Replace(state.String(), "stop:1:0", "stop:0:0", 1))
	problems = f.inspect(hookwire.Codex).Problems
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0], "skips Stop without a word", "the hash of another's hook is not ours")

	f.put(config, strings.Replace(state.String(), "\"sha256:00\"\n", "\"sha256:00\"\nenabled = false\n", 1))
	problems = f.inspect(hookwire.Codex).Problems
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0], install.Events(hookwire.Codex)[0]+" is switched off in /hooks")
}

// TestWhatAnAgentReadsOfOthers: an agent that reads another's settings runs our
// hooks for it as well.
func TestWhatAnAgentReadsOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent, other string
		scope        install.Scope
		reads        bool
	}{
		{hookwire.Cursor, hookwire.ClaudeCode, install.User, true},
		{hookwire.Cursor, hookwire.ClaudeCode, install.Project, true},
		{hookwire.VSCode, hookwire.ClaudeCode, install.User, true},
		{hookwire.VSCode, hookwire.Copilot, install.Project, true},
		{hookwire.Copilot, hookwire.ClaudeCode, install.User, false},
		{hookwire.Copilot, hookwire.ClaudeCode, install.Project, true},
		{hookwire.Copilot, hookwire.VSCode, install.User, true},
		{hookwire.Codex, hookwire.ClaudeCode, install.User, false},
		{hookwire.ClaudeCode, hookwire.Cursor, install.User, false},
	} {
		f := newFixture(t)
		f.do(f.settingsOf(c.agent, install.User).PlanInstall())
		require.Empty(t, f.inspect(c.agent).Notes, c.agent)
		other := f.settingsOf(c.other, c.scope)
		f.do(other.PlanInstall())
		notes := strings.Join(f.inspect(c.agent).Notes, "\n")
		if c.reads {
			assert.Contains(t, notes, other.Path(), "%s reads %s", c.agent, c.other)
		} else {
			assert.Empty(t, notes, "%s does not read %s", c.agent, c.other)
		}
	}
}

func TestRegisteredTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.do(f.settingsOf(hookwire.GeminiCLI, install.User).PlanInstall())
	f.do(f.settingsOf(hookwire.GeminiCLI, install.Project).PlanInstall())
	status := f.inspect(hookwire.GeminiCLI)
	assert.Empty(t, status.Problems)
	assert.Contains(t, strings.Join(status.Notes, "\n"), "fire twice")
}

// TestWhatIsLeftOutHasAReason: every event of the table is registered or named
// with a reason.
func TestWhatIsLeftOutHasAReason(t *testing.T) {
	t.Parallel()
	left := 0
	for _, agent := range install.Agents() {
		f := newFixture(t)
		for _, line := range f.inspect(agent).LeftOut {
			left++
			assert.Regexp(t, `^\S+ \(.{10,}\)$`, line, agent)
		}
	}
	assert.Greater(t, left, 8)
}

func (f fixture) cline() *install.Settings { return f.settingsOf(hookwire.Cline, install.User) }

func TestScriptsOfSomebodyElseStay(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"theirs":         "#!/bin/sh\necho hello\n",
		"a wrapper":      "#!/bin/sh\ndate >>log\nexec grapnel-hook cline PreToolUse\n",
		"under a name":   "#!/bin/sh\nexec my-grapnel-hook cline PreToolUse\n",
		"another agent":  "#!/bin/sh\nexec grapnel-hook codex PreToolUse\n",
		"no script":      "\x7fELF grapnel-hook cline PreToolUse",
		"without a line": "exec grapnel-hook cline PreToolUse\n",
		"empty":          "",
	} {
		f := newFixture(t)
		path := filepath.Join(f.cline().Path(), "PreToolUse")
		f.put(path, text)
		_, err := f.cline().PlanInstall()
		require.ErrorIs(t, err, install.ErrSettings, name)
		assert.ErrorContains(t, err, path)
		plan, err := f.cline().PlanUninstall()
		require.NoError(t, err)
		assert.True(t, plan.Empty(), name)
		assert.Equal(t, map[string]string{"Documents/Cline/Hooks/PreToolUse": text}, tree(t, f.home), name)
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	theirs := filepath.Join(f.cline().Path(), "Theirs")
	f.put(theirs, "#!/bin/sh\n")
	f.put(filepath.Join(f.cline().Path(), "OldEvent"), "#!/bin/sh\nexec '/a b/grapnel-hook' --socket /x cline OldEvent\n")
	assert.Contains(t, strings.Join(f.inspect(hookwire.Cline).Problems, "\n"), "OldEvent, where no hook of ours should listen")
	f.do(f.cline().PlanInstall())
	assert.NoFileExists(t, filepath.Join(f.cline().Path(), "OldEvent"), "it is ours and asked for by nobody")
	script := filepath.Join(f.cline().Path(), "PreToolUse")

	// It starts the hook program in its own place.
	out := filepath.Join(f.home, "out")
	require.NoError(t, os.WriteFile(f.binary, []byte("#!/bin/sh\nprintf '%s|' \"$@\" >"+out+"; cat >>"+out+"\n"), 0o755))
	shell(t, "echo payload | "+script)
	got, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, "cline|PreToolUse|payload\n", string(got))

	// One that cannot be started is mended.
	require.NoError(t, os.Chmod(script, 0o600))
	assert.Contains(t, strings.Join(f.inspect(hookwire.Cline).Problems, "\n"), "PreToolUse in a way that does not decide everything")
	done := f.do(f.cline().PlanInstall())
	require.Len(t, done, 1)
	assert.Empty(t, f.inspect(hookwire.Cline).Problems)

	// So is one for another event.
	f.put(script, "#!/bin/sh\nexec "+f.binary+" cline PostToolUse\n")
	assert.NotEmpty(t, f.inspect(hookwire.Cline).Problems)
	f.do(f.cline().PlanInstall())
	assert.Empty(t, f.inspect(hookwire.Cline).Problems)

	f.do(f.cline().PlanUninstall())
	assert.Equal(t, map[string]string{"Documents/Cline/Hooks/Theirs": "#!/bin/sh\n", "out": string(got)}, tree(t, f.home))
}

func TestAPlanStopsWhereSomebodyElseWrote(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	plan, err := f.cline().PlanInstall()
	require.NoError(t, err)
	second := plan.Changes[1].Path
	f.put(second, "#!/bin/sh\necho theirs\n")
	done, err := plan.Apply()
	require.ErrorIs(t, err, install.ErrChanged)
	assert.Len(t, done, 1)
	assert.Len(t, tree(t, f.home), 2)
	require.NoError(t, os.Remove(second))
	f.do(f.cline().PlanInstall())
	assert.Empty(t, f.inspect(hookwire.Cline).Problems, "doing it again goes on from there")

	plan, err = f.cline().PlanUninstall()
	require.NoError(t, err)
	f.put(second, "#!/bin/sh\necho theirs\n")
	_, err = plan.Apply()
	require.ErrorIs(t, err, install.ErrChanged)
	assert.Contains(t, tree(t, f.cline().Path()), filepath.Base(second))
}

func TestAPluginOfSomebodyElseStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := f.settingsOf(hookwire.OpenCode, install.User)
	for _, text := range []string{"export const Mine = 1\n", "const command = [\"other\", \"opencode\"]\n", "const command = 5\n", ""} {
		f.put(s.Path(), text)
		_, err := s.PlanInstall()
		require.ErrorIs(t, err, install.ErrSettings, text)
		plan, err := s.PlanUninstall()
		require.NoError(t, err)
		assert.True(t, plan.Empty(), text)
	}
}
