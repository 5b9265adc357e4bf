package codeforge_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/codeforge"
)

// example is one of the document's, word for word.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}

func TestE3ConfigurationFormatExample(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(codeforge.UserFile, example(t, "configuration-format.json"))
	s := w.Set(nil)
	_, problems := s.Hooks("")
	require.Empty(t, problems)
	sum := s.Run(t.Context(), shell(w, "ls"))
	require.Len(t, sum.Results, 1)
	assert.Equal(t, hook.Abstain, sum.Decision.Effect)
	assert.Equal(t, "Running bash: $TOOL_ARGS\n", string(sum.Results[0].Report.Stdout), "single quotes keep the name as it is, in sh as everywhere")
}

func TestE3GlobalExample(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Program("notify-send", `printf 'notify-send:%s\n' "$@" >>"$OUT/log"`)
	w.Program("git", `printf 'git:%s\n' "$@" >>"$OUT/log"; [ "$1" != diff ]`)
	w.User(codeforge.UserFile, example(t, "global.json"))
	s := w.Set(nil)
	_, problems := s.Hooks("")
	require.Empty(t, problems)
	decide(t, s, w.Plain(hook.SessionStart))
	require.NoError(t, s.Handle(t.Context(), w.Event(hook.PostToolUse, "write_file", hook.KindFileWrite, map[string]string{"path": "a"})))
	assert.Equal(t, "notify-send:Code-Forge\nnotify-send:Session started\ngit:add\ngit:-A\ngit:diff\ngit:--cached\ngit:--quiet\ngit:commit\ngit:-m\ngit:Auto-save: $FORGE_TOOL_ARGS\n", w.Output("log"))
	require.NoError(t, s.Handle(t.Context(), w.Event(hook.PostToolUse, "Read", hook.KindFileRead, nil)))
}

func TestE3ProjectExample(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Project(codeforge.ProjectFile, example(t, "project.json"))
	w.Project("scripts/validate.sh", "#!/bin/sh\npwd >\"$OUT/validated\"\n")
	require.NoError(t, os.Chmod(filepath.Join(w.Workspace, "scripts/validate.sh"), 0o700))
	s := w.Set(w.Trusting())
	list, problems := s.Hooks(w.Workspace)
	assert.Len(t, list, 2)
	require.Len(t, problems, 1, "source is a word of bash")
	assert.Contains(t, problems[0].Text, `write ". ./file"`)
	assert.Equal(t, hook.Decision{}, decide(t, s, shell(w, "ls")), "there is no .env.local")
	require.NoError(t, s.Handle(t.Context(), w.Event(hook.PostToolUse, "Bash", hook.KindShell, nil)))
	assert.Equal(t, w.Workspace+"\n", w.Output("validated"))
	w.Project(".env.local", "A=b\n")
	// Where /bin/sh is no bash, it does not know the command: that is logged
	// and gone on from, as the document says of commands that are not found.
	assert.Equal(t, hook.Abstain, decide(t, s, shell(w, "ls")).Effect)
}

func TestE5BlockingExample(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Project("hook.sh", example(t, "block-sudo.sh"))
	w.User(codeforge.UserFile, hooks("tool:pre_execute:bash", "/bin/sh ./hook.sh"))
	s := w.Set(nil)
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "Blocked: sudo commands not allowed"}, decide(t, s, shell(w, "sudo ls")))
	assert.Equal(t, hook.Decision{}, decide(t, s, shell(w, "ls")))
	assert.Equal(t, hook.Decision{}, decide(t, s, w.Event(hook.PreToolUse, "Read", hook.KindFileRead, map[string]string{"file_path": "sudo"})))
}
