package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

// tableEvents are the events of the table that ships, and some that it has not.
func tableEvents(t testing.TB) []hook.Event {
	t.Helper()
	cases, err := policy.ReadTable("default_test.yaml", policy.DefaultTable())
	require.NoError(t, err)
	events := []hook.Event{
		{Name: hook.Stop},
		{Name: hook.PreFileRead, Data: hook.Data{Path: "~/.ssh/id_rsa", CWD: "/home/dev"}},
		{Name: hook.UserPromptSubmit, Data: hook.Data{Prompt: "x"}},
	}
	for _, c := range cases {
		events = append(events, c.Event)
	}
	return events
}

func commandOf(ev hook.Event) string {
	var input struct{ Command string }
	if ev.Data.Tool != nil {
		_ = json.Unmarshal(ev.Data.Tool.Input, &input)
	}
	return input.Command
}

// looped is a directory with a link that leads to itself: a path through it
// becomes unknown when it is first followed.
func looped(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	require.NoError(t, os.Symlink("/etc", filepath.Join(dir, "etc")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".env"), nil, 0o600))
	return dir
}

// mutate makes an event that nobody thought of.
func mutate(rt *rapid.T, events []hook.Event, dir string) hook.Event {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(rt, label) }
	ev := rapid.SampledFrom(events).Draw(rt, "event")
	if ev.Data.Tool == nil {
		return ev
	}
	tool := *ev.Data.Tool
	ev.Data.Tool = &tool
	if text := commandOf(ev); text != "" {
		for range rapid.IntRange(0, 3).Draw(rt, "changes") {
			other := commandOf(rapid.SampledFrom(events).Draw(rt, "other"))
			switch pick("change", "and", "pipe", "wrap", "substitute", "cut", "redirect", "twist", "many") {
			case "and":
				text += pick("joint", " && ", "; ", " || ", "\n") + other
			case "pipe":
				text += " | " + other
			case "wrap":
				text = pick("wrapper", "sudo ", "env X=1 ", "ssh host ", "xargs ", "timeout 5 ", "docker run x ", "rm -rf loop/x; ") + text
			case "substitute":
				text += " $(" + other + ")"
			case "cut":
				text = text[:rapid.IntRange(0, len(text)).Draw(rt, "at")]
			case "redirect":
				text += pick("op", " > ", " >> ", " < ") + pick("file", "~/.bashrc", "/etc/x", "out", "loop/x", "etc/x", "$X", ".env", "/dev/sda", "*")
			case "twist":
				text = strings.ReplaceAll(text, "/", pick("twist", "/../", "/./", "/loop/", "/*/"))
			case "many":
				text = strings.TrimSuffix(strings.Repeat(text+"; ", rapid.IntRange(2, 30).Draw(rt, "times")), "; ")
			}
		}
		input, err := json.Marshal(map[string]string{"command": strings.ToValidUTF8(text, "?")})
		require.NoError(rt, err)
		tool.Input = input
	}
	if rapid.IntRange(0, 9).Draw(rt, "other kind") == 0 {
		tool.Kind = rapid.SampledFrom(hook.Kinds()).Draw(rt, "kind")
	}
	if at := pick("cwd", "", "", "-", "/", "/tmp", dir, dir); at == "-" {
		ev.Data.CWD = ""
	} else if at != "" {
		ev.Data.CWD, ev.Data.Workspace = at, at
	}
	return ev
}

// same demands that a policy decides as CEL alone does, byte by byte.
func same(t require.TestingT, p *policy.Policy, ev hook.Event, about string) {
	short, errShort := p.Decide(context.Background(), ev)
	long, errLong := policy.WithoutShortcuts(p).Decide(context.Background(), ev)
	a, err := json.Marshal(short)
	require.NoError(t, err)
	b, err := json.Marshal(long)
	require.NoError(t, err)
	require.Equal(t, string(b), string(a), "%s: %+v", about, ev)
	require.Equal(t, fmt.Sprint(errLong), fmt.Sprint(errShort), "%s: %+v", about, ev)
}

// exact demands of every shortcut that answers that CEL gives the same answer,
// without an error, and for no higher cost. It counts the answers.
func exact(t require.TestingT, p *policy.Policy, ev hook.Event) (answered, all int) {
	glances, err := policy.Glances(context.Background(), p, ev)
	require.NoError(t, err)
	for _, g := range glances {
		if all++; !g.Answered {
			continue
		}
		answered++
		require.NoError(t, g.Err, "%s: %+v", g.Rule, ev)
		require.Equal(t, g.CELHolds, g.Holds, "%s: %+v", g.Rule, ev)
		require.LessOrEqual(t, g.CELSpent, g.Spent, "cost of %s: %+v", g.Rule, ev)
	}
	return answered, all
}

func TestShortcutsAreExact(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse(policy.DefaultName, policy.Default(), &policy.Options{Home: "/home/dev", TimeLimit: slow})
	require.NoError(t, err)
	var answered, all int
	for _, ev := range tableEvents(t) {
		same(t, p, ev, "table")
		a, n := exact(t, p, ev)
		answered, all = answered+a, all+n
	}
	t.Logf("%d of %d questions answered without CEL", answered, all)
	assert.Greater(t, answered*100, all*99, "the policy that ships is written in what shortcuts know")
}

func TestShortcutsOnStrangeEvents(t *testing.T) {
	t.Parallel()
	events, dir := tableEvents(t), looped(t)
	parsed := map[uint64]*policy.Policy{}
	for _, limit := range []uint64{1, 10, 50, 100, 200, 500, 2000, 0} {
		p, err := policy.Parse(policy.DefaultName, policy.Default(), &policy.Options{Home: "/home/dev", Protected: []string{dir + "/own"}, CostLimit: limit, TimeLimit: slow})
		require.NoError(t, err)
		parsed[limit] = p
	}
	rapid.Check(t, func(rt *rapid.T) {
		ev := mutate(rt, events, dir)
		same(rt, parsed[0], ev, "default")
		exact(rt, parsed[0], ev)
		limit := rapid.SampledFrom([]uint64{1, 10, 50, 100, 200, 500, 2000}).Draw(rt, "cost limit")
		same(rt, parsed[limit], ev, fmt.Sprintf("cost limit %d", limit))
	})
}

// conditions writes conditions in the words of the manual, those that shortcuts
// know and those that they do not, and some that fail.
func conditions(rt *rapid.T, depth int, scope map[string]string) string {
	pick := func(from ...string) string { return rapid.SampledFrom(from).Draw(rt, "word") }
	inner := func(name, kind string) map[string]string {
		out := map[string]string{name: kind}
		for k, v := range scope {
			if k != name {
				out[k] = v
			}
		}
		return out
	}
	if depth > 0 {
		switch pick("and", "or", "not", "choose", "loop", "loop", "leaf") {
		case "and":
			return "(" + conditions(rt, depth-1, scope) + " && " + conditions(rt, depth-1, scope) + ")"
		case "or":
			return "(" + conditions(rt, depth-1, scope) + " || " + conditions(rt, depth-1, scope) + ")"
		case "not":
			return "!(" + conditions(rt, depth-1, scope) + ")"
		case "choose":
			return "(" + conditions(rt, 0, scope) + " ? " + conditions(rt, depth-1, scope) + " : " + conditions(rt, depth-1, scope) + ")"
		case "loop":
			lists := map[string]string{`shell.commands`: "c", `shell.named("rm", "git", "cat")`: "c", `shell.redirects`: "r", `paths`: "p", `paths.op("read")`: "p", `paths.op("delete")`: "p",
				`["a", "b"]`: "t", `shell.opaque_reasons`: "t"}
			for name, kind := range scope {
				if kind == "c" {
					lists[name+".args"], lists[name+".argv"], lists[name+".flags"], lists[name+".paths"] = "t", "t", "t", "p"
				}
			}
			keys := make([]string, 0, len(lists))
			for k := range lists {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			over := pick(keys...)
			name := pick("c", "p", "x", "y")
			return over + "." + pick("exists", "exists", "all", "exists_one") + "(" + name + ", " + conditions(rt, depth-1, inner(name, lists[over])) + ")"
		}
	}
	leaves := []string{
		"true", "false", "shell.opaque", `shell.because("piped-code", "dynamic-name")`, `event.tool.kind == "shell"`, `event.cwd != event.workspace`, `event.subagent`,
		`shell.named("rm").size() > 0`, `shell.commands.size() >= 2`, `size(paths) == 1`, `shell.text.matches("r.*m")`, `shell.text.contains("rm ")`, `event.tool.input.command == "ls"`,
		`event.tool.input.nothing == 1`, `shell.commands[7].opaque`, `has(event.tool.input.command)`, `event.hops > 1`, `shell.text.size() > 10`, `cel.bind(z, shell.text, z == "ls")`,
		`"git" in shell.commands.map(q, q.name)`, `paths.map(q, q.op).exists(o, o == "read")`, `event.agent in ["claude-code", "codex"]`,
	}
	names := make([]string, 0, len(scope))
	for name := range scope {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, v := range names {
		switch scope[v] {
		case "c":
			leaves = append(leaves, v+`.name == "rm"`, v+`.name in ["git", "cat", "rm"]`, v+`.has_flag("r", "force")`, v+`.because("dynamic-args")`, v+`.opaque`, `"x" in `+v+`.args`, v+`.name in `+v+`.feeds`,
				v+`.args.size() < 2`, v+`.line.matches("^rm|push")`, v+`.argv[3] == "x"`, v+`.code == ""`, v+`.sub.startsWith("pu")`)
		case "p":
			leaves = append(leaves, v+`.op == "write"`, v+`.op in ["read", "delete"]`, v+`.in_workspace`, v+`.unknown`, v+`.in_set("s")`, v+`.covers_set("s")`, v+`.system`, v+`.under("~/x", "/etc")`, v+`.real == `+v+`.path`,
				v+`.base.endsWith("v")`, v+`.device`, v+`.covers_home`, `!`+v+`.unknown && !`+v+`.in_home`)
		case "r":
			leaves = append(leaves, v+`.op == "write"`, v+`.target.in_workspace`, v+`.append`, v+`.target.unknown`)
		case "t":
			leaves = append(leaves, v+` == "x"`, v+`.startsWith("-")`, v+` in ["a", "-rf"]`, v+`.matches("[a-f]+")`, v+`.contains("a")`, v+`.lowerAscii() == "a"`)
		}
	}
	return pick(leaves...)
}

// Any policy decides with shortcuts as it decides without.
func TestShortcutsInAnyPolicy(t *testing.T) {
	t.Parallel()
	events, dir := tableEvents(t), looped(t)
	var answered, all int
	rapid.Check(t, func(rt *rapid.T) {
		var text strings.Builder
		text.WriteString("sets: {s: [.env, '~/.ssh', /etc]}\nrules:\n")
		for i := range rapid.IntRange(1, 4).Draw(rt, "rules") {
			effect := rapid.SampledFrom([]string{"abstain", "allow", "ask", "deny", "halt"}).Draw(rt, "effect")
			fmt.Fprintf(&text, "- {name: r%d, effect: %s, reason: r%d, when: '%s'}\n", i, effect, i, conditions(rt, 3, nil))
		}
		limit := rapid.SampledFrom([]uint64{0, 0, 0, 5, 20, 100}).Draw(rt, "cost limit")
		p, err := policy.Parse("any.yaml", []byte(text.String()), &policy.Options{Home: "/home/dev", CostLimit: limit, TimeLimit: slow})
		require.NoError(rt, err, text.String())
		for range 5 {
			ev := mutate(rt, events, dir)
			same(rt, p, ev, text.String())
			a, n := exact(rt, p, ev)
			answered, all = answered+a, all+n
		}
	})
	t.Logf("%d of %d questions answered without CEL", answered, all)
	assert.Greater(t, answered*10, all, "the test has to exercise them")
	assert.Less(t, answered, all, "and what they do not know")
}

// What a shortcut could not settle leaves no trace: a path that became unknown
// while it looked is not unknown yet when CEL looks.
func TestShortcutsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	dir := looped(t)
	ev := bash("cat loop/x")
	ev.Data.CWD, ev.Data.Workspace = dir, dir
	p := parse(t, `rules: [{name: a, effect: deny, reason: x, when: 'paths.exists(p, !p.unknown && !p.in_workspace && p.raw.lowerAscii() == "loop/x")'}]`)
	assert.Equal(t, hook.Deny, decide(t, policy.WithoutShortcuts(p), ev).Effect)
	assert.Equal(t, hook.Deny, decide(t, p, ev).Effect)
}

// A name means the innermost variable, whatever it hides.
func TestShortcutsKnowTheirNames(t *testing.T) {
	t.Parallel()
	ev := bash("rm a; cat b")
	for when, want := range map[string]bool{
		`shell.commands.exists(x, x.name == "rm" && shell.commands.exists(x, x.name == "cat"))`:                  true,
		`shell.commands.exists(x, x.name == "cat" && x.args.exists(x, x == "a"))`:                                false,
		`shell.commands.exists(x, x.name == "rm" && x.args.exists(x, x == "a"))`:                                 true,
		`shell.commands.exists(shell, shell.name == "cat" && shell.args.exists(event, event == "b"))`:            true,
		`paths.exists(paths, paths.base == "a") && shell.commands.exists(paths, paths.paths.size() == 1)`:        true,
		`shell.commands.all(x, x.paths.all(y, x.args.exists(z, z == y.raw && x.name != "rm")))`:                  false,
		`shell.commands.all(x, x.name == "cat" || x.paths.all(y, x.args.exists(z, z == y.raw && x.name != z)))`:  true,
		`shell.commands.exists(x, shell.commands.exists(y, x.name == "rm" && y.name == "cat" && y.name != "x"))`: true,
	} {
		p := parse(t, "rules: [{name: a, effect: deny, reason: x, when: '"+when+"'}]")
		answered, _ := exact(t, p, ev)
		assert.Equal(t, 1, answered, when)
		same(t, p, ev, when)
		assert.Equal(t, want, decide(t, p, ev).Effect == hook.Deny, when)
	}
}
