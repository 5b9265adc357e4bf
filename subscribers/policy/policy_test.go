package policy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

// slow is a time limit for machines that do other things as well.
const slow = 10 * time.Second

func parse(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("test.yaml", []byte(text), &policy.Options{Home: "/home/dev", TimeLimit: slow})
	require.NoError(t, err)
	return p
}

func decide(t *testing.T, p hook.Decider, ev hook.Event) hook.Decision {
	t.Helper()
	d, err := p.Decide(t.Context(), ev)
	require.NoError(t, err)
	return d
}

// A mistake in a policy is told with its file, line and rule, and what to do.
func TestErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":      {"rules:\n  - name: a\n    effect: deny\n    reason: x\n    wehn: 'true'\n", `test.yaml:5: bad policy: unknown key "wehn"; there are name, on, when`},
		"unknown top key":  {"rulez: []\n", `test.yaml:1: bad policy: unknown key "rulez"`},
		"duplicate key":    {"rules:\n  - name: a\n    name: b\n    effect: deny\n", `test.yaml:3: bad policy: mapping key "name" already defined`},
		"no name":          {"rules:\n  - effect: deny\n    reason: x\n", "test.yaml:2: bad policy: a rule without a name"},
		"bad name":         {"rules: [{name: A b, effect: deny, reason: x}]", "rule name"},
		"no effect":        {"rules:\n  - name: a\n    reason: x\n", "test.yaml:2: bad policy: rule a has no effect"},
		"bad effect":       {"rules:\n  - name: a\n    effect: Deny\n    reason: x\n", "test.yaml:3: bad policy: hook: unknown effect"},
		"no reason":        {"rules: [{name: a, effect: ask}]", "rule a has no reason"},
		"bad pattern":      {"rules:\n  - name: a\n    on: pre_tool.bash\n    effect: deny\n    reason: x\n", "test.yaml:3: bad policy: hook: bad event pattern"},
		"empty on":         {"rules: [{name: a, on: [], effect: deny, reason: x}]", "an empty list of events"},
		"syntax of when":   {"rules:\n  - name: a\n    when: 'shell.('\n    effect: deny\n    reason: x\n", "test.yaml:3: bad policy: rule a, when: column"},
		"unknown field":    {"rules: [{name: a, when: shell.comands.size() > 0, effect: deny, reason: x}]", "undefined field 'comands'"},
		"unknown variable": {"rules: [{name: a, when: foo == 1, effect: deny, reason: x}]", "undeclared reference to 'foo'"},
		"type of when":     {"rules: [{name: a, when: '1 + 1', effect: deny, reason: x}]", "the expression gives a int; it has to give a bool"},
		"type of flag":     {"rules: [{name: a, when: 'shell.commands[0].has_flag(1)', effect: deny, reason: x}]", "found no matching overload for 'has_flag'"},
		"unknown set":      {"rules: [{name: a, when: 'paths.exists(p, p.in_set(\"nope\"))', effect: deny, reason: x}]", `there is no path set "nope"`},
		"computed set":     {"rules: [{name: a, when: 'paths.exists(p, p.in_set(event.cwd))', effect: deny, reason: x}]", "has to be written out"},
		"bad set":          {"sets: {a: ['/']}", "it names everything"},
		"rewrite on deny":  {"rules: [{name: a, effect: deny, reason: x, rewrite: {a: b}}]", "a rewrite goes with effect allow or abstain"},
		"rewrite type":     {"rules: [{name: a, effect: allow, rewrite: event.cwd}]", "it has to give a map"},
		"same name":        {"rules: [{name: a, effect: allow}, {name: a, effect: allow}]", "rule a is already in test.yaml:1"},
		"disable nothing":  {"disable: [a]", `there is no earlier rule "a"`},
		"anchor":           {"rules: &a []\n", "anchors, aliases, merge keys and tags are not read"},
		"two documents":    {"rules: []\n---\nrules: []\n", "a second document"},
		"version":          {"version: 2\n", "version 2 is not known"},
		"not a mapping":    {"- a\n", "expected a mapping"},
		"number as name":   {"rules: [{name: 1, effect: allow}]", "expected text"},
		"nul":              {"rules: []\x00", "NUL"},
		"yaml":             {"rules: [\n  {name: a", "test.yaml:"},
		"deep":             {strings.Repeat("[", 1000), "nest too deep"},
		"large":            {strings.Repeat("#", policy.MaxSource+1), "at most"},
		"constructor":      {"rules: [{name: a, when: 'Path{raw: \"x\"}.raw == \"x\"', effect: deny, reason: x}]", ""},
	} {
		_, err := policy.Parse("test.yaml", []byte(c.text), nil)
		if name == "constructor" && err == nil {
			continue // it compiles, and fails when it runs
		}
		require.ErrorIs(t, err, policy.ErrPolicy, name)
		assert.ErrorContains(t, err, c.want, name)
		assert.NotContains(t, err.Error(), "\n", name)
	}
}

// The strictest rule that matches decides; all rules of that effect are named.
func TestStrictestWins(t *testing.T) {
	t.Parallel()
	p := parse(t, `
rules:
  - {name: one, effect: allow, reason: fine, context: c1}
  - {name: two, on: pre_tool_use.bash, when: 'shell.named("rm").size() > 0', effect: ask, reason: sure?}
  - {name: three, when: 'shell.named("rm").exists(c, c.has_flag("r", "recursive"))', effect: deny, reason: no.}
  - {name: four, when: 'paths.op("delete").exists(p, !p.in_workspace)', effect: deny, reason: never.}
  - {name: five, when: 'paths.exists(p, p.path == "/")', effect: halt, reason: stop}
  - {name: six, on: stop, effect: deny, reason: go on}
`)
	for command, want := range map[string]hook.Decision{
		"ls":          {Effect: hook.Allow, Reason: "fine", Context: "c1", Rules: []string{"one"}},
		"rm x":        {Effect: hook.Ask, Reason: "sure?", Rules: []string{"two"}},
		"rm -r x":     {Effect: hook.Deny, Reason: "no.", Rules: []string{"three"}},
		"rm -r /x":    {Effect: hook.Deny, Reason: "no. never.", Rules: []string{"three", "four"}},
		"rm -r /":     {Effect: hook.Halt, Reason: "stop", Rules: []string{"five"}},
		"$x":          {Effect: hook.Abstain}, // allow does not count
		"sh -c '$x'":  {Effect: hook.Abstain},
		"echo 'x":     {Effect: hook.Abstain},
		"python -c 1": {Effect: hook.Abstain},
	} {
		assert.Equal(t, want, decide(t, p, bash(command)), command)
	}
	assert.Equal(t, hook.Deny, decide(t, p, hook.Event{Name: hook.Stop}).Effect)
	assert.Equal(t, []string{"one", "two", "three", "four", "five", "six"}, p.Rules())
	assert.Len(t, p.Digest(), 64)
}

// A rule that cannot be evaluated is on the side of care, and says so.
func TestRulesThatCannotBeEvaluated(t *testing.T) {
	t.Parallel()
	broken := map[string]string{
		"error":  `event.tool.input.nothing == 1`,
		"index":  `shell.commands[7].name == "x"`,
		"type":   `event.tool.input`,
		"costly": `[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, a + b + c + d + e > 0)))))`,
	}
	for name, when := range broken {
		for effect, want := range map[string]hook.Effect{"halt": hook.Deny, "deny": hook.Deny, "ask": hook.Ask, "allow": hook.Abstain, "abstain": hook.Abstain} {
			p := parse(t, "rules: [{name: a, effect: "+effect+", reason: x, when: '"+when+"'}]")
			d := decide(t, p, bash("ls"))
			assert.Equal(t, want, d.Effect, "%s %s", name, effect)
			if want > hook.Allow {
				assert.Contains(t, d.Reason, "rule a could not be evaluated")
				assert.Equal(t, []string{"a"}, d.Rules)
			}
		}
	}
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse("t", []byte(`
rules:
  - {name: slow, effect: deny, reason: x, when: '[1,2,3,4,5,6,7,8].all(a, [1,2,3,4,5,6,7,8].all(b, [1,2,3,4,5,6,7,8].all(c, [1,2,3,4,5,6,7,8].all(d, [1,2,3,4,5,6,7,8].all(e, [1,2,3,4,5,6,7,8].all(f, [1,2,3,4,5,6,7,8].all(g, a+b+c+d+e+f+g > 0)))))))'}
  - {name: later, effect: ask, reason: x, when: 'event.cwd == "nowhere"'}
`), &policy.Options{CostLimit: 1 << 40, TimeLimit: 20 * time.Millisecond})
	require.NoError(t, err)
	start := time.Now()
	d := decide(t, p, bash("ls"))
	assert.Less(t, time.Since(start), 5*time.Second)
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Contains(t, d.Reason, "time limit of 80ms", "the second try has four times as much")
}

func TestCallersContext(t *testing.T) {
	t.Parallel()
	p := parse(t, "rules: [{name: a, effect: allow, when: 'shell.commands.exists(c, true)'}]")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Decide(ctx, bash("ls"))
	require.ErrorIs(t, err, context.Canceled, "an ended context is an error, not an opinion")
}

// Input that is not one well-formed JSON value is no input.
func TestMalformedInput(t *testing.T) {
	t.Parallel()
	p := parse(t, "rules: [{name: a, effect: allow}]")
	for _, input := range []string{`{"command":"ls","command":"rm -rf /"}`, `{"command":"ls"`, `{"command":"ls"} x`, "{\"command\":\"\xff\"}", strings.Repeat("[", 1000)} {
		ev := bash("ls")
		ev.Data.Tool.Input = json.RawMessage(input)
		_, err := p.Decide(t.Context(), ev)
		require.Error(t, err, "%.40s", input)
	}
	ev := bash("ls")
	ev.Data.Tool, ev.DataRef = nil, "blob"
	_, err := p.Decide(t.Context(), ev)
	require.Error(t, err, "data that is elsewhere cannot be judged")
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	p := parse(t, `
rules:
  - name: safe-rm
    on: pre_tool_use.bash
    when: shell.named("rm").exists(c, !c.has_flag("I"))
    effect: abstain
    rewrite: 'event.tool.input.with({"command": event.tool.input.command.replace("rm ", "rm -I ")})'
  - {name: no-x, when: 'shell.named("rm").exists(c, c.has_flag("I") && "x" in c.args)', effect: deny, reason: not x}
`)
	assert.True(t, p.Rewrites())
	ev := bash("rm y")
	ev.Data.Tool.Input = json.RawMessage(`{"command":"rm y","big":12345678901234567890}`)
	d := decide(t, p, ev)
	assert.JSONEq(t, `{"command":"rm -I y","big":12345678901234567890}`, string(d.Rewrite))
	assert.Contains(t, string(d.Rewrite), "12345678901234567890", "what was not touched keeps its bytes")
	assert.Equal(t, []string{"safe-rm"}, d.Rules)

	d = decide(t, p, bash("rm x"))
	assert.Equal(t, hook.Deny, d.Effect, "what runs in the end has to pass too")
	assert.Nil(t, d.Rewrite)
	assert.Nil(t, decide(t, p, bash("ls")).Rewrite)

	clash := parse(t, "rules: [{name: a, effect: allow, rewrite: {command: a}}, {name: b, effect: allow, rewrite: {command: b}}]")
	d = decide(t, clash, bash("ls"))
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Equal(t, []string{"a", "b"}, d.Rules)

	again := parse(t, `rules: [{name: a, effect: allow, rewrite: 'event.tool.input.with({"command": event.tool.input.command + " x"})'}]`)
	assert.Equal(t, hook.Deny, decide(t, again, bash("ls")).Effect, "a rewrite that never comes to rest")

	failing := parse(t, `rules: [{name: a, effect: abstain, rewrite: 'event.tool.input.with({"command": event.tool.input.nothing})'}]`)
	assert.Equal(t, hook.Deny, decide(t, failing, bash("ls")).Effect)
}

func TestEventVariables(t *testing.T) {
	t.Parallel()
	when := `event.name == "pre_tool_use" && event.agent == "claude-code" && event.session == "s" && event.subject == "Bash"
      && event.cwd == "/home/dev/project" && event.workspace == "/home/dev/project" && event.permission_mode == "plan"
      && event.tool.name == "Bash" && event.tool.kind == "shell" && event.tool.call_id == "c1" && event.tool.input.command == "ls -l a"
      && event.native_event == "PreToolUse" && event.prompt == "" && event.message == "" && event.model == "m" && event.hops == 2
      && event.source == "/host/claude-code" && event.id == "1" && event.reason == "" && event.error == "" && event.path == "" && !event.subagent
      && shell.text == "ls -l a" && !shell.opaque && shell.opaque_reasons.size() == 0 && shell.commands.size() == 1 && shell.redirects.size() == 0
      && shell.commands.all(c, c.name == "ls" && c.argv == ["ls", "-l", "a"] && c.args == ["a"] && c.flags == ["l"] && c.line == "ls -l a" && c.sub == ""
           && !c.dynamic && !c.opaque && c.wrappers.size() == 0 && c.fed_by.size() == 0 && c.feeds.size() == 0 && c.code == "" && !c.shell && c.vars.size() == 0
           && c.sent.size() == 0 && !c.remote && !c.recurses && c.directory == "/home/dev/project" && c.paths.size() == 1)
      && paths.all(p, p.raw == "a" && p.path == "/home/dev/project/a" && p.real == p.path && p.base == "a" && p.op == "list" && !p.unknown && !p.partial
           && !p.glob && !p.recursive && p.in_workspace && p.in_home && !p.in_temp && !p.protected && !p.system && !p.device && !p.covers_workspace && !p.covers_home
           && p.under("~/project") && p.under("/x", "/home/dev") && !p.under("/home/de"))`
	p := parse(t, "rules:\n  - name: a\n    effect: allow\n    when: |\n      "+when+"\n")
	ev := bash("ls -l a")
	ev.Data.PermissionMode, ev.Data.Model, ev.Data.Tool.CallID, ev.Hops = "plan", "m", "c1", 2
	assert.Equal(t, hook.Allow, decide(t, p, ev).Effect)
}

func TestProtectedDirectories(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	require.NoError(t, os.Mkdir(state, 0o700))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(state, link))
	p, err := policy.Parse(policy.DefaultName, policy.Default(), &policy.Options{Home: "/home/dev", Protected: []string{state}, TimeLimit: slow})
	require.NoError(t, err)
	for _, command := range []string{
		"echo x > " + state + "/f", "echo x > " + link + "/f", "rm -rf " + state, "rm -rf " + dir, "rm -rf " + dir + "/*", "mv " + state + " /tmp/x",
		"cd " + dir + " && rm -rf state", "touch " + state + "/../state/f", "chmod 000 " + state,
	} {
		d := decide(t, p, bash(command))
		assert.Equal(t, hook.Deny, d.Effect, "%s: %v", command, d)
		assert.Contains(t, d.Rules, "grapnel-files", command)
	}
}

// Globs and links to secrets are looked up on the real file system.
func TestSecretsOnDisk(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	ws, home := filepath.Join(dir, "home", "ws"), filepath.Join(dir, "home")
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".ssh"), 0o700))
	require.NoError(t, os.MkdirAll(ws, 0o700))
	for _, f := range []string{ws + "/.env", ws + "/a.json", home + "/.ssh/id_x"} {
		require.NoError(t, os.WriteFile(f, nil, 0o600))
	}
	require.NoError(t, os.Symlink(home+"/.ssh/id_x", ws+"/notes"))
	require.NoError(t, os.Symlink(home+"/.ssh", ws+"/dir"))
	p, err := policy.Parse(policy.DefaultName, policy.Default(), &policy.Options{Home: home, TimeLimit: slow})
	require.NoError(t, err)
	for command, want := range map[string]hook.Effect{
		"cat .e*": hook.Ask, "cat .en?": hook.Ask, "cat *.json": hook.Abstain, "cat *": hook.Deny, "cat a*": hook.Abstain, "cat notes": hook.Deny, "cat dir/id_x": hook.Deny, "cat d*/id_x": hook.Deny,
		"cat ../.s*/id_*": hook.Deny, "cat no*": hook.Deny, "cp -r dir /tmp": hook.Deny,
	} {
		ev := bash(command)
		ev.Data.CWD, ev.Data.Workspace = ws, ws
		assert.Equal(t, want, decide(t, p, ev).Effect, command)
	}
}

// The workspace is never the whole disk.
func TestWorkspaceOfARoot(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse(policy.DefaultName, policy.Default(), &policy.Options{Home: "/home/dev", TimeLimit: slow})
	require.NoError(t, err)
	for _, root := range []string{"", "/", "/home", "//", "/home/.."} {
		ev := bash("rm -rf /srv/x")
		ev.Data.Workspace, ev.Data.CWD = root, root
		assert.Equal(t, hook.Deny, decide(t, p, ev).Effect, "%q", root)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	p, err := policy.Compile([]policy.Source{policy.DefaultSource(), {Name: "mine.yaml", Content: []byte("rules:\n- {name: bad, when: 'event.tool.input.x == 1', effect: ask, reason: x}\n- {name: fine, effect: allow}\n")}},
		&policy.Options{Home: "/home/dev", TimeLimit: slow})
	require.NoError(t, err)
	x, err := p.Explain(t.Context(), bash("sudo rm -rf / | $x"))
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, x.Decision.Effect)
	assert.True(t, x.Opaque)
	assert.NotEmpty(t, x.Reasons)
	assert.Equal(t, "/home/dev/project", x.Workspace)
	rules := map[string]policy.ExplainedRule{}
	for _, r := range x.Rules {
		rules[r.Name] = r
	}
	assert.Len(t, rules, len(p.Rules()))
	assert.True(t, rules["delete-everything"].Decided)
	assert.True(t, rules["other-user"].Matched)
	assert.False(t, rules["other-user"].Decided)
	assert.False(t, rules["force-push"].Matched)
	assert.NotEmpty(t, rules["bad"].Error)
	assert.Contains(t, rules["fine"].Note, "not understood")
	assert.Equal(t, "mine.yaml:3", rules["fine"].Where)
	require.NotEmpty(t, x.Commands)
	require.NotEmpty(t, x.Paths)
	b, err := json.Marshal(x)
	require.NoError(t, err)
	assert.Contains(t, string(b), `"effect":"deny"`)
}

func TestWhen(t *testing.T) {
	t.Parallel()
	when, err := policy.CompileWhen(`event.tool.kind == "shell" && shell.named("git").size() > 0`)
	require.NoError(t, err)
	for command, want := range map[string]bool{"git status": true, "ls": false, "sh -c 'git log'": true} {
		got, err := when(bash(command))
		require.NoError(t, err)
		assert.Equal(t, want, got, command)
	}
	_, err = policy.CompileWhen("event.nothing")
	require.ErrorIs(t, err, policy.ErrPolicy)
	broken, err := policy.CompileWhen("event.tool.input.x == 1")
	require.NoError(t, err)
	_, err = broken(bash("ls"))
	require.Error(t, err)
}

func TestDecider(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	var log bytes.Buffer
	options := &policy.DeciderOptions{Options: policy.Options{Home: "/home/dev", TimeLimit: slow, Log: slog.New(slog.NewTextHandler(&log, nil))}}

	_, err := policy.NewDecider([]string{file}, options)
	require.ErrorIs(t, err, os.ErrNotExist, "at first start everything has to be there")
	write("rules: [{name: a}]")
	_, err = policy.NewDecider([]string{file}, options)
	require.ErrorIs(t, err, policy.ErrPolicy)

	write("rules: [{name: no-ls, when: 'shell.named(\"ls\").size() > 0', effect: deny, reason: x}]\ndisable: [other-user]\n")
	d, err := policy.NewDecider([]string{file}, options)
	require.NoError(t, err)
	require.NoError(t, d.Health())
	assert.Equal(t, hook.Deny, decide(t, d, bash("ls")).Effect)
	assert.Equal(t, hook.Deny, decide(t, d, bash("rm -rf /")).Effect, "with the policy that ships")
	assert.Equal(t, hook.Abstain, decide(t, d, bash("sudo true")).Effect, "without a rule that is disabled")
	good := d.Policy().Digest()

	write("rules: [")
	err = d.Reload(t.Context())
	require.ErrorIs(t, err, policy.ErrPolicy)
	require.ErrorIs(t, d.Health(), policy.ErrPolicy)
	assert.Equal(t, good, d.Policy().Digest(), "the last good one stays")
	assert.Equal(t, hook.Deny, decide(t, d, bash("ls")).Effect)
	assert.Contains(t, log.String(), "reload failed")

	require.NoError(t, os.Remove(file))
	require.Error(t, d.Reload(t.Context()))
	write("rules: []")
	require.NoError(t, d.Reload(t.Context()))
	require.NoError(t, d.Health())
	assert.Equal(t, hook.Abstain, decide(t, d, bash("ls")).Effect)
	assert.Len(t, d.Sources(), 2)
}

// Adding a rule that is no allow never makes a decision looser.
func TestRulesOnlyTighten(t *testing.T) {
	t.Parallel()
	conditions := []string{`true`, `false`, `shell.opaque`, `shell.named("rm").size() > 0`, `paths.exists(p, !p.in_workspace)`, `event.tool.input.missing == 1`, `event.name == "stop"`}
	effects := []string{"abstain", "ask", "deny", "halt"}
	events := []hook.Event{bash("ls"), bash("rm -rf /x"), bash("$x"), {Name: hook.Stop}}
	rapid.Check(t, func(rt *rapid.T) {
		rule := func(name string) string {
			return "- {name: " + name + ", effect: " + rapid.SampledFrom(effects).Draw(rt, "effect") + ", reason: x, when: '" + rapid.SampledFrom(conditions).Draw(rt, "when") + "'}\n"
		}
		text := "rules:\n"
		for i := range rapid.IntRange(1, 3).Draw(rt, "rules") {
			text += rule("r" + string(rune('a'+i)))
		}
		fewer, more := parse(t, text), parse(t, text+rule("z"))
		for _, ev := range events {
			a, b := decide(t, fewer, ev), decide(t, more, ev)
			require.GreaterOrEqual(rt, b.Effect, a.Effect, "%s", text)
		}
	})
}

func TestManual(t *testing.T) {
	t.Parallel()
	p := parse(t, `
on: pre_tool_use.bash
rules:
  - {name: has, when: 'has(event.tool.input.extra) && event.tool.input.extra == 1', effect: ask, reason: x}
  - {name: bind, when: 'cel.bind(x, "a-b".split("-"), x[1] == "b") && sets.contains([1, 2], [1])', effect: allow}
`)
	assert.Equal(t, hook.Allow, decide(t, p, bash("ls")).Effect)
	assert.Equal(t, hook.Abstain, decide(t, p, hook.Event{Name: hook.Stop}).Effect, "the file's own on")
	ev := bash("ls")
	ev.Data.Tool.Input = json.RawMessage(`{"command":"ls","extra":1}`)
	assert.Equal(t, hook.Ask, decide(t, p, ev).Effect)

	p, err := policy.Compile([]policy.Source{
		{Name: "a", Content: []byte("sets: {s: [one]}\nrules: [{name: a, when: 'paths.exists(p, p.in_set(\"s\"))', effect: deny, reason: x}]")},
		{Name: "b", Content: []byte("sets: {s: [two]}")},
	}, &policy.Options{TimeLimit: slow})
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, decide(t, p, bash("cat one")).Effect)
	assert.Equal(t, hook.Deny, decide(t, p, bash("cat two")).Effect, "a later file adds to a set")
	assert.Equal(t, hook.Abstain, decide(t, p, bash("cat three")).Effect)
}

// A file tool whose path cannot be found is not understood.
func TestFileToolWithoutPath(t *testing.T) {
	t.Parallel()
	p := parse(t, "rules: [{name: a, effect: allow}]")
	ev := bash("")
	ev.Data.Tool = &hook.Tool{Name: "Write", Kind: hook.KindFileWrite, Input: json.RawMessage(`{"target":{"somewhere":"x"}}`)}
	assert.Equal(t, hook.Abstain, decide(t, p, ev).Effect)
	ev.Data.Tool.Input = json.RawMessage(`{"file_path":"x"}`)
	assert.Equal(t, hook.Allow, decide(t, p, ev).Effect)
}

// Agents call the command of a shell by different names.
func TestCommandsOfAllAgents(t *testing.T) {
	t.Parallel()
	p := parse(t, "rules: [{name: a, on: [pre_tool_use, pre_shell], when: 'shell.named(\"rm\").size() > 0', effect: deny, reason: no}]")
	for _, key := range []string{"command", "CommandLine", "command_line", "cmd", "script"} {
		ev := bash("")
		ev.Name = hook.PreShell
		ev.Data.Tool = &hook.Tool{Name: "run_command", Kind: hook.KindShell, Input: json.RawMessage(`{"` + key + `":"rm -rf /","cwd":"/home/dev"}`)}
		assert.Equal(t, hook.Deny, decide(t, p, ev).Effect, key)
		ev.Name, ev.Data.Tool.Kind = hook.PreToolUse, hook.KindOther
		assert.Equal(t, hook.Deny, decide(t, p, ev).Effect, "%s of a tool that says it is no shell", key)
	}
}

func TestConcurrentDecisions(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse(policy.DefaultName, policy.Default(), &policy.Options{Home: "/home/dev", TimeLimit: slow})
	require.NoError(t, err)
	var wait sync.WaitGroup
	for _, command := range []string{"ls", "rm -rf /", "cat .env", "git push -f", "sh -c 'rm -rf ~'", "$x"} {
		want := decide(t, p, bash(command))
		for range 4 {
			wait.Go(func() {
				for range 10 {
					got, err := p.Decide(t.Context(), bash(command))
					assert.NoError(t, err)
					assert.Equal(t, want, got)
				}
			})
		}
	}
	wait.Wait()
}
