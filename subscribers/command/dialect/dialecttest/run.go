package dialecttest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Run holds a dialect to what all dialects promise.
func Run(t *testing.T, h Harness) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Harness){
		"Vocabulary": vocabulary, "Tools": tools, "Deny": deny, "Trust": trusted, "Timeout": timeout, "BadFiles": badFiles,
		"Injection": injection, "Texts": texts, "Canaries": canaries,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, h)
		})
	}
}

func vocabulary(t *testing.T, h Harness) {
	d := h.New()
	assert.NotSame(t, d, h.New())
	seen := make(map[hook.Name]bool)
	for _, e := range d.Vocabulary.Events {
		assert.False(t, seen[e.Canonical], "%s stands there twice", e.Canonical)
		seen[e.Canonical] = true
		assert.True(t, e.Canonical.Known(), e.Canonical)
		if e.Blocks {
			assert.True(t, e.Canonical.Blocking(), "%s blocks, and nobody waits for it", e.Canonical)
		}
	}
	for _, n := range d.Vocabulary.Tools {
		assert.Equal(t, n.Tool, d.Vocabulary.Tool(n.Name), n.Name)
	}
	assert.Positive(t, d.Timeout)
	assert.NotEmpty(t, d.About)
	assert.NotEmpty(t, d.Files)
}

// agents are tools by the names that agents have for them.
func agents() map[dialect.Tool][]hook.Tool {
	list := func(k hook.Kind, names ...string) (tools []hook.Tool) {
		for _, n := range names {
			tools = append(tools, hook.Tool{Name: n, Kind: k})
		}
		return tools
	}
	return map[dialect.Tool][]hook.Tool{
		dialect.ToolShell:     list(hook.KindShell, "Bash", "bash", "bash_execute", "run_shell_command", "shell", "execute_bash", "run_in_terminal", "execute_command", "PowerShell"),
		dialect.ToolRead:      list(hook.KindFileRead, "Read", "read", "read_file", "view", "fs_read"),
		dialect.ToolWrite:     list(hook.KindFileWrite, "Write", "write", "write_file", "create_file", "fs_write"),
		dialect.ToolEdit:      list(hook.KindFileEdit, "Edit", "MultiEdit", "edit", "replace", "replace_in_file", "apply_patch", "str_replace_editor"),
		dialect.ToolGlob:      list(hook.KindSearch, "Glob", "glob", "find_files"),
		dialect.ToolGrep:      list(hook.KindSearch, "Grep", "grep", "search_file_content", "grep_search"),
		dialect.ToolFetch:     list(hook.KindWeb, "WebFetch", "web_fetch"),
		dialect.ToolWebSearch: list(hook.KindWeb, "WebSearch", "google_web_search", "web_search"),
	}
}

func tools(t *testing.T, h Harness) {
	p := newPlace(t, h)
	s := (*dialect.Set)(nil)
	script := p.Program("hook", "true")
	for _, n := range p.dialect.Vocabulary.Tools {
		known := agents()[n.Tool]
		if len(known) == 0 {
			continue
		}
		p.User(h.File, h.Config(Case{Event: p.name(hook.PreToolUse), Tool: n.Name, Script: script}))
		s = p.set(dialect.Options{})
		for tool, list := range agents() {
			for _, k := range list {
				plan, ok := s.Plan(p.Event(hook.PreToolUse, k.Name, k.Kind, map[string]string{}))
				require.True(t, ok)
				if tool == n.Tool && p.first(n) {
					assert.Len(t, plan.Steps, 1, "a hook for %s is asked about %s", n.Name, k.Name)
				}
				if tool != n.Tool && k.Name != n.Name {
					assert.Empty(t, plan.Steps, "a hook for %s is not asked about %s", n.Name, k.Name)
				}
			}
		}
	}
	require.NotNil(t, s, "the dialect has names for tools")
}

// first reports whether this is what the tools of other agents are called.
func (p *place) first(n dialect.ToolName) bool {
	for _, other := range p.dialect.Vocabulary.Tools {
		if other.Tool == n.Tool {
			return other.Name == n.Name
		}
	}
	return false
}

func deny(t *testing.T, h Harness) {
	p := newPlace(t, h)
	p.User(h.File, h.Config(Case{Event: p.name(hook.PreToolUse), Script: p.Program("deny", h.Deny)}))
	d, err := p.set(dialect.Options{}).Decide(t.Context(), p.Event(hook.PreToolUse, "Bash", hook.KindShell, map[string]string{"command": "ls"}))
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Contains(t, d.Reason, "not this one")
}

func trusted(t *testing.T, h Harness) {
	if h.WorkspaceFile == "" {
		return
	}
	p := newPlace(t, h)
	p.Project(h.WorkspaceFile, h.Config(Case{Event: p.name(hook.PreToolUse), Script: p.Program("deny", "touch '"+p.canary+"'\n"+h.Deny)}))
	e := p.Event(hook.PreToolUse, "Bash", hook.KindShell, map[string]string{"command": "ls"})
	s := p.set(dialect.Options{})
	d, err := s.Decide(t.Context(), e)
	if err == nil {
		assert.Less(t, d.Effect, hook.Deny)
		assert.NotEqual(t, hook.Allow, d.Effect)
	}
	require.NoFileExists(t, p.canary, "an untrusted workspace's hook ran")

	s = p.set(dialect.Options{TrustWorkspace: func(dir string) bool { return dir == p.Workspace }})
	d, err = s.Decide(t.Context(), e)
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, d.Effect, "the hook of a trusted workspace counts")
	require.FileExists(t, p.canary)
}

func timeout(t *testing.T, h Harness) {
	p := newPlace(t, h)
	pids := filepath.Join(p.Out, "pids")
	p.User(h.File, h.Config(Case{Event: p.name(hook.PreToolUse), Timeout: time.Second, Script: p.Program("slow", `
trap '' TERM
sh -c 'trap "" TERM; echo $$ >>"$0"; while :; do sleep 1; done' '`+pids+`' &
(sh -c 'trap "" TERM; echo $$ >>"$0"; while :; do sleep 1; done' '`+pids+`' </dev/null >/dev/null 2>&1 &)
echo $$ >>'`+pids+`'
while :; do sleep 1; done`)}))
	s := p.set(dialect.Options{})
	start := time.Now()
	sum := s.Run(t.Context(), p.Event(hook.PreToolUse, "Bash", hook.KindShell, map[string]string{"command": "ls"}))
	assert.Less(t, time.Since(start), 30*time.Second)
	require.Len(t, sum.Results, 1)
	require.ErrorIs(t, sum.Results[0].Err, process.ErrTimedOut)
	assert.NotEqual(t, hook.Allow, sum.Decision.Effect)
	text, err := os.ReadFile(pids)
	require.NoError(t, err)
	list := strings.Fields(string(text))
	require.NotEmpty(t, list)
	for _, word := range list {
		pid, err := strconv.Atoi(word)
		require.NoError(t, err)
		proc, err := os.FindProcess(pid)
		if err == nil {
			assert.Error(t, proc.Signal(syscall.Signal(0)), "process %d lives on", pid)
		}
	}
}

func badFiles(t *testing.T, h Harness) {
	d := h.New()
	for _, text := range []string{
		"", "{", "[]", "null", "1", "{}{}", `{"hooks":`, `{"hooks":1}`, `{"hooks":{"x":1}}`, `{"hooks":[1,null,"x",[]]}`, `{"hooks":[],"hooks":[]}`, "\xff", "\x00",
		strings.Repeat("[", 10_000), `{"hooks":` + strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 501), strings.Repeat(" ", 2<<20),
	} {
		hooks, _ := d.Read([]byte(text), dialect.Origin{File: "/file"})
		assert.Empty(t, hooks, "%.60q", text)
	}
	for _, text := range []string{"{", "1", `{"hooks":[],"hooks":[]}`, strings.Repeat("[", 10_000)} {
		_, problems := d.Read([]byte(text), dialect.Origin{File: "/file"})
		assert.NotEmpty(t, problems, "%.60q", text)
	}
}
