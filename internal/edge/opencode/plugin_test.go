package opencode_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/opencode"
)

// commandIn is the command line in a plugin's text.
func commandIn(t *testing.T, text string) []string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^const command = (.*) // the event's name is added$`).FindStringSubmatch(text)
	require.NotNil(t, line)
	var command []string
	require.NoError(t, json.Unmarshal([]byte(line[1]), &command))
	return command
}

func TestPluginHasTheCommandLine(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{
		{"/usr/bin/grapnel-hook", "opencode"},
		{`C:\Program Files\grapnel\grapnel-hook.exe`, "opencode"},
		{`/home/o'neil "x"/$(id)/` + "`id`", "--socket", "/run/\n*/ // ${id}", "opencode"},
		{"/home/\u2028\u2029/</script>/COMMAND", "opencode"},
		{},
	} {
		text := string(opencode.Plugin(command))
		assert.Equal(t, command, commandIn(t, text))
		assert.Equal(t, strings.Count(string(opencode.Plugin([]string{"x"})), "\n"), strings.Count(text, "\n"), "it stays on its line")
	}
	assert.Empty(t, commandIn(t, string(opencode.Plugin(nil))))
	assert.Equal(t, opencode.Plugin([]string{"a"}), opencode.Plugin([]string{"a"}), "the same words every time, so that the installer knows its file")
	opencode.Plugin([]string{"a"})[0] = 'x'
	assert.Equal(t, byte('/'), opencode.Plugin([]string{"a"})[0], "each caller has its own")
}

// TestPluginTakesPartInWhatIsRegistered holds the plugin's hooks and events to
// the table, and what it waits for to what the table says is blocked.
func TestPluginTakesPartInWhatIsRegistered(t *testing.T) {
	t.Parallel()
	text := string(opencode.Plugin([]string{"grapnel-hook", "opencode"}))
	list := regexp.MustCompile(`(?s)new Set\(\[(.*?)\]\)`).FindStringSubmatch(text)
	require.NotNil(t, list)
	told := map[string]bool{}
	for _, m := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(list[1], -1) {
		told[m[1]] = true
	}
	hooks := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^    "([a-z.]+)": `).FindAllStringSubmatch(text, -1) {
		hooks[m[1]] = true
	}
	asked := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:ask|message)\("([a-z.]+)", `).FindAllStringSubmatch(text, -1) {
		asked[m[1]] = true
	}
	for _, e := range opencode.New().Events {
		assert.Equal(t, !e.Unregistered, told[e.Name] || hooks[e.Name], e.Name)
		assert.False(t, told[e.Name] && hooks[e.Name], "%s: told twice", e.Name)
		assert.Equal(t, e.Block, asked[e.Name], "%s: what can be blocked is waited for, and nothing else is", e.Name)
		assert.Equal(t, e.Block, hookwire.ClassOf(e.Name) == hookwire.Gate, e.Name)
		delete(told, e.Name)
		delete(hooks, e.Name)
	}
	assert.Empty(t, told, "events that the table does not have")
	assert.Empty(t, hooks, "hooks that the table does not have")
}

// TestPluginIsSmallAndAlone: one import, no shell, no variable of the
// environment, nothing printed.
func TestPluginIsSmallAndAlone(t *testing.T) {
	t.Parallel()
	text := string(opencode.Plugin([]string{"grapnel-hook", "opencode"}))
	assert.Less(t, strings.Count(text, "\n"), 150)
	assert.Equal(t, 1, strings.Count(text, "import "))
	assert.Contains(t, text, `import { spawn } from "node:child_process"`)
	assert.Equal(t, 1, strings.Count(text, "spawn("))
	assert.Equal(t, 1, strings.Count(text, "export "), "OpenCode calls everything that a plugin exports")
	for _, word := range []string{"shell:", "exec", "process.env", "console.", "require(", "Bun.", "fetch(", "eval"} {
		if word == "exec" { // as in tool.execute.before
			assert.NotRegexp(t, `exec[^u]`, text)
			continue
		}
		assert.NotContains(t, text, word)
	}
}
