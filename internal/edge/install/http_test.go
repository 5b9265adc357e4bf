package install_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	verdict "github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode/claudecodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

const secret = "0123456789abcdef0123456789abcdef"

// posting is a fixture whose hooks are posted.
func posting(t testing.TB) fixture {
	f := newFixture(t)
	f.o.HTTP = &install.HTTP{Base: "http://127.0.0.1:7421", Token: secret}
	return f
}

func TestGoldenOfPostedHooks(t *testing.T) {
	t.Parallel()
	f := posting(t)
	change, err := f.claude().PlanInstall()
	require.NoError(t, err)
	assert.Empty(t, change.Notes, "a new file is private anyway")
	f.apply(change)
	info, err := os.Stat(f.settings())
	require.NoError(t, err)
	golden(t, "testdata/http/claude-code.txt",
		"-- ~/.claude/settings.json "+info.Mode().String()+" --\n"+strings.ReplaceAll(f.read(), f.binary, shownBinary))
	diff := strings.ReplaceAll(strings.ReplaceAll(change.Diff(), f.binary, shownBinary), f.settings(), "/home/me/.claude/settings.json")
	assert.NotContains(t, diff, secret)
	golden(t, "testdata/http/install.diff", diff)

	for _, event := range install.Events(hookwire.ClaudeCode) {
		require.Len(t, f.hooks()[event], 1, event)
		h := f.hooks()[event][0]
		assert.Greater(t, h.Timeout, float64(hookwire.Budget(hookwire.ClaudeCode, event))/1000, event)
		assert.Equal(t, hookwire.ClassOf(event) == hookwire.Gate, h.OnFailure == "block", event)
	}
	assert.Empty(t, f.install(), "installing again changes nothing")

	f.o.MessageDisplay = true
	f.install()
	require.Len(t, f.hooks()["MessageDisplay"], 1)
	assert.Equal(t, "http", f.hooks()["MessageDisplay"][0].Type)
	f.o.MessageDisplay = false
	f.install()
	assert.Empty(t, f.hooks()["MessageDisplay"])
	f.uninstall()
	assert.Equal(t, "{}\n", f.read())
}

// TestPostedAnswersStopWhatAnswersOfCommandsStop: there is no exit code, so an
// event is posted only if the JSON does alone what it does with one.
func TestPostedAnswersStopWhatAnswersOfCommandsStop(t *testing.T) {
	t.Parallel()
	f := posting(t)
	f.install()
	byExit := []string{}
	for _, event := range install.Events(hookwire.ClaudeCode) {
		same := true
		for effect := verdict.Abstain; effect <= verdict.Halt; effect++ {
			answer := claudecode.Answer(event, verdict.Verdict{Effect: effect, Grant: true, Reason: "because"})
			s := protocoltest.Situation{Event: event, Approved: true}
			command := claudecodetest.Run(s, protocoltest.Process{Stdout: string(answer.Stdout), Stderr: string(answer.Stderr), Exit: answer.Exit})
			posted := claudecodetest.Run(s, protocoltest.Process{Stdout: string(answer.Stdout)})
			// An elicitation that is cancelled is stopped, too.
			same = same && command.Blocked == posted.Blocked && command.Continued == posted.Continued && command.SessionEnds == posted.SessionEnds
		}
		if !same {
			byExit = append(byExit, event)
		}
		if h := f.hooks()[event]; assert.Len(t, h, 1, event) && h[0].Type == "http" {
			assert.True(t, same, "%s is posted", event)
		}
	}
	assert.Equal(t, []string{"TaskCompleted", "TeammateIdle"}, byExit)
}

func TestUninstallUndoesPostedHooks(t *testing.T) {
	t.Parallel()
	f, commands := posting(t), newFixture(t)
	commands.home, commands.binary, commands.o.Getenv = f.home, f.binary, f.o.Getenv
	put := func(t require.TestingT, text []byte) { require.NoError(t, os.WriteFile(f.settings(), text, 0o600)) }
	rapid.Check(t, func(t *rapid.T) {
		before := anySettings().Draw(t, "settings")
		put(t, []byte(before))
		// From commands to posts and back, then out.
		for i := range rapid.IntRange(1, 2).Draw(t, "times") {
			by := f
			if (i+rapid.IntRange(0, 1).Draw(t, "by"))%2 == 1 {
				by = commands
			}
			plan, err := by.claude().PlanInstall()
			require.NoError(t, err)
			text := plan.Changes[0].New
			require.Equal(t, by.o.HTTP != nil, strings.Contains(string(text), secret))
			require.NotContains(t, plan.Diff(), secret)
			require.Equal(t, len(comments(before)), len(comments(string(text))))
			put(t, text)
			again, err := by.claude().PlanInstall()
			require.NoError(t, err)
			require.True(t, again.Empty(), "installing is idempotent:\n%s", again.Diff())
		}
		plan, err := commands.claude().PlanUninstall()
		require.NoError(t, err)
		require.Equal(t, before, string(plan.Changes[0].New))
		require.NotContains(t, plan.Diff(), secret)
	})
}

func TestWhoseURLsAreOurs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	with := func(address string) string {
		return `{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "` + address + `"}]}]}}`
	}
	for _, theirs := range []string{
		"https://127.0.0.1:7421/hook/claude-code/Stop", "http://192.0.2.1:7421/hook/claude-code/Stop", "http://example.com:80/hook/claude-code/Stop",
		"http://127.0.0.1/hook/claude-code/Stop", "http://127.0.0.1:0/hook/claude-code/Stop", "http://me@127.0.0.1:7421/hook/claude-code/Stop",
		"http://127.0.0.1:7421/hook/codex/Stop", "http://127.0.0.1:7421/hook/claude-code/", "http://127.0.0.1:7421/hook/claude-code/Stop/x",
		"http://127.0.0.1:7421/x/hook/claude-code/Stop", "http://127.0.0.1:7421/hook/claude-code/Stop?x", "http://127.0.0.1:7421/hook/claude-code/Stop#x",
		"http://127.0.0.1.example.com:7421/hook/claude-code/Stop", "http://localhost.example:7421/hook/claude-code/Stop", "http://[::1/hook/claude-code/Stop", "",
	} {
		f.write(with(theirs))
		f.uninstall()
		assert.Equal(t, with(theirs), f.read(), theirs)
	}
	for _, ours := range []string{"http://127.0.0.1:7421/hook/claude-code/Stop", "http://127.0.0.2:1/hook/claude-code/Other", "http://[::1]:80/hook/claude-code/Stop", "http://localhost:7421/hook/claude-code/Stop"} {
		f.write(with(ours))
		f.uninstall()
		assert.Equal(t, "{}", f.read(), ours)
	}
	// Where the agent would start a command, the URL says nothing.
	command := strings.Replace(with("http://127.0.0.1:7421/hook/claude-code/Stop"), `"http"`, `"command", "command": "mine"`, 1)
	f.write(command)
	f.uninstall()
	assert.Equal(t, command, f.read())
}

func TestWhatCannotBePosted(t *testing.T) {
	t.Parallel()
	f := posting(t)
	for _, agent := range install.Agents() {
		_, err := install.New(agent, install.User, f.binary, f.o)
		if agent == hookwire.ClaudeCode {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, install.ErrHTTP, agent)
		assert.ErrorContains(t, err, "agents that post are claude-code")
	}
	_, err := install.New(hookwire.ClaudeCode, install.Project, f.binary, f.o)
	require.ErrorIs(t, err, install.ErrHTTP)
	assert.ErrorContains(t, err, "must not be committed")
	for _, h := range []install.HTTP{
		{}, {Base: "http://127.0.0.1:7421"}, {Token: secret}, {Base: "http://127.0.0.1:7421/", Token: secret}, {Base: "https://127.0.0.1:7421", Token: secret},
		{Base: "http://192.0.2.1:7421", Token: secret}, {Base: "http://127.0.0.1:0", Token: secret}, {Base: "http://127.0.0.1", Token: secret},
		{Base: "http://127.0.0.1:7421", Token: "$HOME"}, {Base: "http://127.0.0.1:7421", Token: "a\r\nHost: b"}, {Base: "http://127.0.0.1:7421", Token: `a"`},
	} {
		f.o.HTTP = &h
		_, err := install.New(hookwire.ClaudeCode, install.User, f.binary, f.o)
		assert.ErrorIs(t, err, install.ErrHTTP, "%+v", h)
	}
}

func TestSettingsWithTheTokenArePrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // its permissions are not these
	}
	f := posting(t)
	require.NoError(t, os.WriteFile(f.settings(), []byte("{}"), 0o644))
	require.NoError(t, os.Chmod(f.settings(), 0o644))
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	change, err := f.claude().PlanInstall()
	require.NoError(t, err)
	require.Len(t, change.Notes, 1)
	assert.Contains(t, change.Notes[0], "mode 0600 instead of 0644")
	assert.Equal(t, os.FileMode(0o600), mode(f.apply(change)), "the backup is as private")
	assert.Equal(t, os.FileMode(0o600), mode(f.settings()))
	assert.Empty(t, f.status().Problems)

	require.NoError(t, os.Chmod(f.settings(), 0o604))
	assert.Contains(t, strings.Join(f.status().Problems, "\n"), "mode 0604 lets others read it")
	text := f.read()
	f.install()
	assert.Equal(t, os.FileMode(0o600), mode(f.settings()))
	assert.Equal(t, text, f.read())
	require.NoError(t, os.Chmod(f.settings(), 0o400))
	change, err = f.claude().PlanInstall()
	require.NoError(t, err)
	assert.True(t, change.Empty(), "stricter is fine")

	target := filepath.Join(f.home, "dotfiles.json")
	require.NoError(t, os.Rename(f.settings(), target))
	require.NoError(t, os.Symlink(target, f.settings()))
	change, err = f.claude().PlanInstall()
	require.NoError(t, err)
	require.Len(t, change.Notes, 1)
	assert.Contains(t, change.Notes[0], "the token stands in "+target)
}

func TestStatusOfPostedHooks(t *testing.T) {
	t.Parallel()
	f := posting(t)
	f.install()
	s := f.status()
	assert.True(t, s.Installed())
	assert.True(t, s.Posts())
	assert.Empty(t, s.Missing)
	assert.Empty(t, s.Problems)
	assert.Equal(t, install.Events(hookwire.ClaudeCode), s.Files[0].Events)
	assert.Contains(t, strings.Join(s.Notes, "\n"), "2.1.295")
	assert.Equal(t, []install.Post{{URL: "http://127.0.0.1:7421/hook/claude-code/PreToolUse", Header: map[string]string{"Authorization": "Bearer " + secret}}},
		s.Files[0].Posts["PreToolUse"])
	assert.Empty(t, s.Files[0].Lines["PreToolUse"])
	assert.Len(t, s.Files[0].Lines["SessionStart"], 1)
	installed := f.read()

	entry := `"url": "http://127.0.0.1:7421/hook/claude-code/PreToolUse"`
	for name, c := range map[string]struct{ from, to, problem string }{
		"another event":       {entry, strings.Replace(entry, "PreToolUse", "Stop", 1), "registers PreToolUse in a way that does not decide everything"},
		"a condition":         {entry, entry + `, "if": "Bash(git *)"`, "registers PreToolUse in a way"},
		"a variable":          {"Bearer " + secret, "Bearer $TOKEN", "does not decide everything"},
		"no bearer":           {"Bearer " + secret, secret, "does not decide everything"},
		"another token":       {"Bearer " + secret, "Bearer x", "with different tokens"},
		"another port":        {entry, strings.Replace(entry, "7421", "7422", 1), "to different addresses"},
		"no onFailure":        {`"onFailure": "block"`, `"statusMessage": "x"`, "does not decide everything"},
		"an event not posted": {`"hooks": {`, `"hooks": {"WorktreeCreate": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:7421/hook/claude-code/WorktreeCreate"}]}],`, "WorktreeCreate (a hook replaces"},
		"no address allowed":  {`"hooks": {`, `"allowedHttpHookUrls": [], "hooks": {`, "allowedHttpHookUrls without http://127.0.0.1:7421/hook/claude-code/PreToolUse"},
		"others allowed":      {`"hooks": {`, `"allowedHttpHookUrls": ["https://*", "http://127.0.0.1:7421"], "hooks": {`, `add "http://127.0.0.1:7421/*"`},
	} {
		require.Contains(t, installed, c.from, name)
		require.NoError(t, os.WriteFile(f.settings(), []byte(strings.Replace(installed, c.from, c.to, 1)), 0o600))
		assert.Contains(t, strings.Join(f.status().Problems, "\n"), c.problem, name)
	}
	require.NoError(t, os.WriteFile(f.settings(), []byte(installed), 0o600))
	local := filepath.Join(f.o.Project, ".claude", "settings.local.json")
	f.put(local, `{"allowedHttpHookUrls": []}`)
	f.put(filepath.Join(f.o.Managed, "managed-settings.json"), `{"allowedHttpHookUrls": ["https://x/", "http://127.0.0.1:*/hook/*"]}`)
	assert.Empty(t, f.status().Problems, "the lists count together")

	// An event that Claude Code does not post.
	text := `{"hooks": {"SessionStart": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:7421/hook/claude-code/SessionStart",
  "headers": {"Authorization": "Bearer ` + secret + `"}, "timeout": 30}]}]}}`
	require.NoError(t, os.WriteFile(f.settings(), []byte(text), 0o600))
	s = f.status()
	assert.True(t, s.Installed(), "although no command is")
	assert.Equal(t, []string{"SessionStart"}, s.Files[0].Weak)

	f.put(filepath.Join(f.o.Project, ".claude", "settings.json"), installed)
	problems := strings.Join(f.status().Problems, "\n")
	assert.Contains(t, problems, "is usually committed")
	assert.NotContains(t, problems, secret)
}

// TestDiffsShowNoToken, in whatever way it is written, nor the one from before.
func TestDiffsShowNoToken(t *testing.T) {
	t.Parallel()
	f := posting(t)
	f.install()
	escaped := `Bearer \u006fld-` + secret
	f.write(strings.ReplaceAll(f.read(), "Bearer "+secret, escaped))
	change, err := f.claude().PlanInstall()
	require.NoError(t, err)
	diff := change.Diff()
	assert.NotContains(t, diff, secret)
	for _, sign := range []string{"-", "+"} {
		line := regexp.MustCompile(`(?m)^\` + sign + ` *"Authorization": "Bearer …"$`)
		assert.True(t, line.MatchString(diff), "the change itself is shown: %s", diff)
	}
	assert.True(t, json.Valid(change.Changes[0].New))
}
