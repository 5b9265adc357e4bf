package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

func (f fixture) status() install.Status {
	s, err := install.Inspect(hookwire.ClaudeCode, f.o)
	require.NoError(f.t, err)
	return s
}

func (f fixture) put(path, text string) {
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o644))
}

func TestStatusOfNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := f.status()
	assert.False(t, s.Installed())
	assert.Equal(t, install.Events(hookwire.ClaudeCode), s.Missing)
	assert.Empty(t, s.Problems, "not being installed is no problem of an installation")
	assert.Empty(t, s.Managed)
	var scopes []string
	for _, file := range s.Files {
		scopes = append(scopes, file.Scope)
		assert.False(t, file.Exists)
		assert.NoError(t, file.Err)
	}
	assert.Equal(t, []string{"user", "project", "local"}, scopes)
}

func TestStatusOfAnInstallation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.install()
	s := f.status()
	assert.True(t, s.Installed())
	assert.Empty(t, s.Missing)
	assert.Empty(t, s.Problems)
	assert.Equal(t, install.Events(hookwire.ClaudeCode), s.Files[0].Events)
	assert.Equal(t, []string{f.binary}, s.Files[0].Binaries)

	require.NoError(t, os.Remove(f.binary))
	s = f.status()
	assert.Equal(t, []string{f.binary}, s.Files[0].Stale)
	require.Len(t, s.Problems, 1)
	assert.Contains(t, s.Problems[0], "does not exist")
	f.uninstall()
	s = f.status()
	assert.False(t, s.Installed())
	assert.Empty(t, s.Files[0].Binaries, "no registration of a missing program is left")
}

func TestStatusProblems(t *testing.T) {
	t.Parallel()
	entry := func(event, more string) string {
		return `{"hooks": {"` + event + `": [{"hooks": [{"type": "command", "command": "$HOME/grapnel-hook claude-code ` + event + `", "timeout": 600` + more + `}]}]}}`
	}
	for name, c := range map[string]struct{ settings, problem string }{
		"switched off":         {`{"disableAllHooks": true}`, "disableAllHooks"},
		"worktrees":            {entry("WorktreeCreate", ""), "WorktreeCreate"},
		"without block":        {entry("PreToolUse", ""), "PreToolUse in a way that does not decide everything"},
		"asynchronous":         {entry("PreToolUse", `, "onFailure": "block", "async": true`), "does not decide everything"},
		"under a condition":    {entry("PreToolUse", `, "onFailure": "block", "if": "Bash(git *)"`), "does not decide everything"},
		"under a matcher":      {strings.Replace(entry("PreToolUse", `, "onFailure": "block"`), `{"hooks": [`, `{"matcher": "Bash", "hooks": [`, 1), "does not decide everything"},
		"a short time-out":     {strings.Replace(entry("PreToolUse", `, "onFailure": "block"`), "600", "1", 1), "does not decide everything"},
		"only one of many":     {entry("Stop", ""), "not registered: Setup, SessionStart"},
		"not on the path":      {strings.Replace(entry("Stop", ""), "$HOME/grapnel-hook", "grapnel-hook", 1), "does not exist"},
		"not JSON":             {`{`, "not JSON"},
		"hooks is no object":   {`{"hooks": 1}`, "hooks is a number and must be an object"},
		"matcher star is fine": {strings.Replace(entry("Stop", ""), `{"hooks": [`, `{"matcher": "*", "hooks": [`, 1), "not registered"},
	} {
		f := newFixture(t)
		f.write(c.settings)
		s := f.status()
		assert.Contains(t, strings.Join(s.Problems, "\n"), c.problem, name)
	}
}

func TestStatusOfManagedSettings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.install()
	f.put(filepath.Join(f.o.Managed, "managed-settings.json"), `{"allowManagedHooksOnly": true}`)
	f.put(filepath.Join(f.o.Managed, "managed-settings.d", "10-hooks.json"), `{"disableAllHooks": false}`)
	f.put(filepath.Join(f.o.Managed, "managed-settings.d", "README"), `no settings`)
	s := f.status()
	require.Len(t, s.Managed, 2)
	assert.Equal(t, []string{"allowManagedHooksOnly"}, s.Managed[0].Off)
	assert.Empty(t, s.Managed[1].Off)
	require.Len(t, s.Problems, 1)
	assert.Contains(t, s.Problems[0], "allowManagedHooksOnly")
}

func TestStatusInTheProject(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c, err := install.New(hookwire.ClaudeCode, install.Project, f.binary, f.o)
	require.NoError(t, err)
	change, err := c.PlanInstall()
	require.NoError(t, err)
	_, err = change.Apply()
	require.NoError(t, err)
	f.put(filepath.Join(f.o.Project, ".claude", "settings.local.json"), `{"disableAllHooks": true}`)
	s := f.status()
	assert.Empty(t, s.Missing)
	assert.Equal(t, "project", s.Files[1].Scope)
	assert.Equal(t, install.Events(hookwire.ClaudeCode), s.Files[1].Events)
	assert.Equal(t, []string{"disableAllHooks"}, s.Files[2].Off)
}

func TestApplyFailsWithNothingLost(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(`{}`)
	change, err := f.claude().PlanInstall()
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Dir(f.settings())))
	_, err = change.Apply()
	assert.ErrorContains(t, err, "cannot write in "+filepath.Dir(f.settings()))

	// A file stands where the directory should be.
	require.NoError(t, os.WriteFile(filepath.Dir(f.settings()), []byte("x"), 0o600))
	_, err = f.claude().PlanInstall()
	require.Error(t, err)
	assert.Contains(t, err.Error(), f.settings())
}
