package codeforge_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/codeforge"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
)

// template returns a built-in template as a person would have it in a file.
func template(t *testing.T, w *dialecttest.World, name string) *dialect.Set {
	t.Helper()
	for _, x := range codeforge.Templates() {
		if x.Name == name {
			w.User(codeforge.UserFile, string(x.Text))
			s := w.Set(nil)
			_, problems := s.Hooks("")
			require.Empty(t, problems)
			return s
		}
	}
	require.Fail(t, "there is no template "+name)
	return nil
}

func TestE8TemplatesAreGoodHooks(t *testing.T) {
	t.Parallel()
	var names []string
	for _, x := range codeforge.Templates() {
		names = append(names, x.Name)
		assert.NotEmpty(t, x.About)
		assert.Equal(t, x.Name, x.Hook.Name)
		text, lost, err := codeforge.Write([]dialect.Hook{x.Hook})
		require.NoError(t, err)
		assert.Empty(t, lost)
		assert.JSONEq(t, string(x.Text), string(text))
		w := world(t)
		require.NoError(t, w.Set(nil).Register(x.Hook), "they can be registered for a session")
	}
	assert.Equal(t, []string{"audit-log", "desktop-notification", "git-auto-commit"}, names)
}

func TestE8AuditLog(t *testing.T) {
	t.Parallel()
	w := world(t)
	s := template(t, w, "audit-log")
	values := dialecttest.Corpus(filepath.Join(w.Out, "canary"))[:60]
	for _, v := range values {
		e := shell(w, v)
		e.SessionID = v
		_, err := s.Decide(t.Context(), e)
		require.NoError(t, err)
	}
	assert.Empty(t, w.Output("canary"))
	file := filepath.Join(w.Home, ".config/src/forge/audit.jsonl")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	require.Len(t, lines, len(values), "one line for each event, whatever is in it")
	for _, line := range lines {
		assert.True(t, json.Valid([]byte(line)))
	}
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestE8DesktopNotification(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Program("notify-send", `printf '%s\n' "$@" >>"$OUT/log"`)
	s := template(t, w, "desktop-notification")
	decide(t, s, w.Event(hook.PermissionRequest, "$(touch canary)--x", hook.KindOther, nil))
	require.NoError(t, s.Handle(t.Context(), w.Plain(hook.SessionEnd)))
	assert.Equal(t, "--\nCode-Forge\npermission:prompt $(touch canary)--x\n--\nCode-Forge\nsession:end \n", w.Output("log"))
}

func TestE8GitAutoCommit(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Program("git", `printf '%s ' "$@" >>"$OUT/log"; echo >>"$OUT/log"; case $1 in diff) exit 1;; commit) cat >"$OUT/message";; esac`)
	s := template(t, w, "git-auto-commit")
	require.NoError(t, s.Handle(t.Context(), w.Event(hook.PostToolUse, "create_file", hook.KindFileWrite, map[string]string{"path": "'; touch canary; '"})))
	assert.Equal(t, "rev-parse --is-inside-work-tree \nadd -A \ndiff --cached --quiet \ncommit -q -F - \n", w.Output("log"))
	assert.Equal(t, "Auto-save: write\n", w.Output("message"))
	require.NoError(t, s.Handle(t.Context(), w.Event(hook.PostToolUse, "Read", hook.KindFileRead, nil)))
	assert.Equal(t, 4, strings.Count(w.Output("log"), "\n"), "reading commits nothing")
	w.Program("git", `exit 128`)
	require.NoError(t, s.Handle(t.Context(), w.Event(hook.PostToolUse, "Write", hook.KindFileWrite, nil)), "outside of a repository it does nothing")
}
