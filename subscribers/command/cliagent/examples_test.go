package cliagent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/cliagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// example is one of the document's, word for word.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	require.NoError(t, err)
	return string(text)
}

func TestA2TheDocumentsExamplesLoadWithoutProblems(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]int{
		"configuration-format": 4, "development-workflow": 2, "security-audit": 2, "notification-integration": 2, "advanced-control": 1,
	} {
		hooks, problems := cliagent.Read([]byte(example(t, name)), dialect.Origin{File: name})
		assert.Empty(t, problems, name)
		assert.Len(t, hooks, count, name)
	}
}

func TestA2ConfigurationFormatExample(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Program("notify-send", `printf 'notify-send:%s\n' "$@" >>"$OUT/log"`)
	w.Program("logger", `printf 'logger:%s\n' "$@" >>"$OUT/log"`)
	w.User(user, example(t, "configuration-format"))
	s := w.Set(nil)
	assert.Equal(t, hook.Decision{}, decide(t, s, shell(w, "ls")))
	require.NoError(t, s.Handle(t.Context(), w.Event(hook.PostToolUse, "$(touch x)'", hook.KindOther, map[string]string{})))
	n := w.Plain(hook.Notification)
	n.Data.Message = `it's "done"; $(touch x)`
	require.NoError(t, s.Handle(t.Context(), n))
	decide(t, s, w.Plain(hook.Stop))
	assert.Equal(t, "notify-send:Tool completed: $(touch x)'\nlogger:CLI-Agent: it's \"done\"; $(touch x)\n", w.Output("log"))
	log, err := os.ReadFile(filepath.Join(w.Home, ".cli-agent-log"))
	require.NoError(t, err)
	assert.Equal(t, "Response complete\n", string(log))
	assert.NoFileExists(t, filepath.Join(w.Workspace, "x"))
}

func TestA5DevelopmentWorkflowExample(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Program("black", `printf 'black:%s\n' "$@" >>"$OUT/log"; exit 123`)
	w.Program("git", `printf 'git:%s\n' "$@" >>"$OUT/log"`)
	w.User(user, example(t, "development-workflow"))
	s := w.Set(nil)
	e := w.Event(hook.PostToolUse, "Write", hook.KindFileWrite, map[string]string{"file_path": "a b; touch x.py"})
	require.NoError(t, s.Handle(t.Context(), e))
	assert.Equal(t, "black:a b; touch x.py\ngit:add\ngit:a b; touch x.py\n", w.Output("log"), "one after another, each with the one argument")
	require.NoError(t, s.Handle(t.Context(), w.Event(hook.PostToolUse, "Read", hook.KindFileRead, map[string]string{"file_path": "c"})))
	assert.NotContains(t, w.Output("log"), ":c")
}

func TestA5SecurityAuditExample(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.User(user, example(t, "security-audit"))
	s := w.Set(nil)
	decide(t, s, shell(w, `echo 'x'; rm -rf "$HOME"`))
	e := w.Event(hook.PostToolUse, "Bash", hook.KindShell, map[string]string{"command": "ls"})
	e.Data.Result, _ = json.Marshal(strings.Repeat("'", 500))
	require.NoError(t, s.Handle(t.Context(), e))
	log, err := os.ReadFile(filepath.Join(w.Home, ".cli-agent-audit.log"))
	require.NoError(t, err)
	lines := strings.SplitN(string(log), "\n", 2)
	assert.Equal(t, `[$(date)] BASH: echo 'x'; rm -rf "$HOME"`, lines[0], "the document's own quotes keep $(date) as it is")
	assert.Len(t, lines[1], 200)
	assert.True(t, strings.HasPrefix(lines[1], "[$(date)] TOOL: bash_execute - ''''"), lines[1])
}

func TestA9NotificationIntegrationExample(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Program("osascript", `printf 'osascript:%s\n' "$@" >>"$OUT/log"`)
	w.Program("slack-cli", `printf 'slack-cli:%s\n' "$@" >>"$OUT/log"`)
	w.User(user, example(t, "notification-integration"))
	s := w.Set(nil)
	n := w.Plain(hook.Error)
	n.Data.Error = "'; touch x; '"
	require.NoError(t, s.Handle(t.Context(), n))
	decide(t, s, w.Plain(hook.Stop))
	assert.Equal(t, "slack-cli:send\nslack-cli:#ai-agents\nslack-cli:'; touch x; '\nosascript:-e\nosascript:display notification \"CLI-Agent finished\" with title \"Task Complete\"\n", w.Output("log"))
}

func TestA7AdvancedControlExample(t *testing.T) {
	t.Parallel()
	w := world(t)
	check := w.Program("security-check", `printf %s "$1" >"$OUT/asked"; cat <<'E'`+"\n"+example(t, "security-check-output")+"E")
	w.User(user, strings.ReplaceAll(example(t, "advanced-control"), "/usr/local/bin/security-check", check))
	s := w.Set(nil)
	d := decide(t, s, shell(w, "sudo rm -rf /"))
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "Command contains potentially dangerous operations"}, d)
	assert.Equal(t, "sudo rm -rf /", w.Output("asked"))
	w.Program("security-check", "cat <<'E'\n"+example(t, "output")+"E")
	d = decide(t, s, shell(w, "ls"))
	assert.Equal(t, hook.Decision{Effect: hook.Allow, Reason: "Command is safe to execute"}, d)
}
