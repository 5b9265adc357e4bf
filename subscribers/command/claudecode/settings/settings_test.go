package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode/settings"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

func open(t *testing.T, path, text string) settings.File {
	t.Helper()
	f, err := settings.Open([]byte(text), dialect.Origin{File: path})
	require.NoError(t, err)
	return f
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]settings.Kind{
		"/home/dev/.claude/settings.json":                   settings.Settings,
		"/work/.claude/settings.local.json":                 settings.Settings,
		"/home/dev/.config/grapnel/hooks.json":              settings.Settings,
		"/home/dev/.claude/plugins/x/hooks/hooks.json":      settings.Plugin,
		"/home/dev/.claude/skills/x/SKILL.md":               settings.Skill,
		"/home/dev/.claude/agents/reviewer.md":              settings.Subagent,
		"/etc/claude-code/managed-settings.d/10-hooks.json": settings.Settings,
	} {
		assert.Equal(t, want, settings.KindOf(path), path)
	}
	assert.Equal(t, "/home/dev/.claude/plugins/x", open(t, "/home/dev/.claude/plugins/x/hooks/hooks.json", "{}").From.Base)
	assert.Equal(t, "/s/x", open(t, "/s/x/SKILL.md", "").From.Base)
	assert.Empty(t, open(t, "/x/settings.json", "{}").From.Base)
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"---\nname: x\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: \"a: b\"\n          timeout: 10\n---\nbody": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a: b","timeout":10}]}]}}`,
		"\ufeff--- \r\nhooks: {Stop: [a, 1.5, true, null, \"7\"]}\r\n---\r\n":                                                                 `{"hooks":{"Stop":["a",1.5,true,null,"7"]}}`,
		"---\nhooks:\n  Stop: |\n    two\n    lines\n---\n":                                                                                   `{"hooks":{"Stop":"two\nlines\n"}}`,
		"---\nhooks:\n---\n":             `{"hooks":null}`,
		"---\nname: x\n---\nhooks: none": `{}`,
		"---\nhooks: x\n":                `{}`, // no end
		"# hooks\n":                      `{}`,
		"":                               `{}`,
		"---\ndescription: a: b: c\n---": `{}`,
	} {
		f := open(t, "/a/SKILL.md", text)
		assert.JSONEq(t, want, string(f.JSON), text)
	}
}

func TestFrontMatterThatIsRefused(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]string{
		"hooks: &a {x: 1}\nmore: *a":                              "anchors",
		"hooks: {<<: {a: 1}}":                                     "anchors",
		"hooks: !!binary aGVsbG8=":                                "tags",
		"hooks: [" + strings.Repeat("[", 100):                     "deeper",
		"hooks: " + strings.Repeat("- ", 5000):                    "deeper",
		"hooks:\n" + strings.Repeat(" ", 300) + "a: 1":            "deeper",
		"hooks: {" + strings.Repeat("a", settings.MaxFrontMatter): "bytes",
		"hooks: \x00":         "NUL",
		"hooks: {a: 1":        "",
		"hooks: {a: 1, a: 2}": "",
		"hooks: 1\nhooks: 2":  "",
		"hooks: .nan":         "",
	} {
		start := time.Now()
		f, err := settings.Open([]byte("---\n"+text+"\n---\n"), dialect.Origin{File: "/a/b.md"})
		if err == nil {
			assert.Error(t, strictjson.Check(f.JSON, 0), "%.60s became %s", text, f.JSON)
			continue
		}
		assert.ErrorIs(t, err, settings.ErrFrontMatter)
		assert.Contains(t, err.Error(), why, "%.60s", text)
		assert.Less(t, time.Since(start), 10*time.Second)
	}
}

func TestASubagentsHooksAreForItsEvents(t *testing.T) {
	t.Parallel()
	call := func(kind string) *dialect.Call {
		return &dialect.Call{Event: hook.Event{Data: hook.Data{Subagent: &hook.Subagent{Type: kind}}}}
	}
	f := open(t, "/a/reviewer.md", "---\nname: code-reviewer\nhooks: {}\n---\n")
	assert.True(t, f.Selects(call("code-reviewer")))
	assert.False(t, f.Selects(call("reviewer")))
	assert.False(t, f.Selects(&dialect.Call{}))
	f = open(t, "/a/reviewer.md", "---\nhooks: {}\n---\n")
	assert.True(t, f.Selects(call("reviewer")), "without a name it is the file's")
	assert.True(t, open(t, "/a/SKILL.md", "").Selects(&dialect.Call{}))
}

func TestRegistrations(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"grapnel-hook claude-code PreToolUse":                 true,
		"/usr/bin/grapnel-hook claude-code PreToolUse":        true,
		"'/my dir/grapnel-hook' --socket /x claude-code Stop": true,
		"exec grapnel hook claude-code Stop":                  true,
		`"C:\tools\grapnel-hook.exe" claude-code Stop`:        true,
		"grapnel policy":             false,
		"grapnel-hook x; rm -rf /":   false,
		"A=b grapnel-hook x":         false,
		"grapnel-hook x > /tmp/out":  false,
		"grapnel-hook x | tee y":     false,
		"my-grapnel-hook x":          false,
		"echo grapnel-hook":          false,
		"$GRAPNEL hook":              false,
		"grapnel-hook 'unterminated": false,
		"":                           false,
	} {
		assert.Equal(t, want, settings.IsRegistration(line, nil), line)
	}
	assert.True(t, settings.IsRegistration("", []string{"/x/grapnel", "hook", "claude-code"}))
	assert.False(t, settings.IsRegistration("", []string{"/x/grapnel"}))
	assert.False(t, settings.IsRegistration("", nil))
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("---\nname: x\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: x\n---\n"))
	f.Add([]byte("---\nhooks: {a: [1, 2.5, ~, |x], ? y : z}\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := settings.Open(text, dialect.Origin{File: "/a/b.md"})
		if err != nil {
			assert.ErrorIs(t, err, settings.ErrFrontMatter)
			return
		}
		assert.False(t, strictjson.DeeperThan(file.JSON, 70), "%s", file.JSON)
	})
}
