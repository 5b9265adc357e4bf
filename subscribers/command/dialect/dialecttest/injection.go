package dialecttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// use is what people write with a variable V.
const use = `
: $V "$V" '$V' x"$V"y ${V} "${V}" "${V:-none}" "a $V b $V"
x=$V; y="$V"; z=${V#x}
[ "$V" = rm ] && :
case $V in rm) :;; esac
for word in $V; do :; done
: <<E
$V ${V}
E
f() { : "$1" $1; }; f "$V"
`

// everywhere puts a value into every place of an event that may have text.
func (p *place) everywhere(n hook.Name, v string) hook.Event {
	e := p.Event(n, "Bash", hook.KindShell, map[string]any{
		"command": v, "file_path": v, "content": v, "deep": map[string]any{"list": []any{v}}, v: 1,
	})
	result, err := json.Marshal(v)
	require.NoError(p.t, err)
	e.Subject, e.SessionID, e.CorrelationID, e.TraceParent = v, v, v, v
	e.Data.CWD, e.Data.PermissionMode, e.Data.Model, e.Data.Prompt, e.Data.Message = v, v, v, v, v
	e.Data.Reason, e.Data.Path, e.Data.Result = v, v, result
	e.Data.Subagent = nil
	e.Data.Native.Event = v
	switch n {
	case hook.PostToolUseFailure, hook.Error:
		e.Data.Error = v
	case hook.PreToolUse, hook.PostToolUse:
		e.Data.Tool.CallID = v
	default:
		e.Data.Tool = nil
	}
	return e
}

// parts is into how many the corpus is divided that a hook is shown: they run
// at the same time, where the machine has the time.
const parts = 4

// injection sends the corpus through standard input and the environment.
func injection(t *testing.T, h Harness) {
	all := len(Corpus(""))
	require.GreaterOrEqual(t, all, 200)
	for part := range parts {
		t.Run(strconv.Itoa(part), func(t *testing.T) {
			t.Parallel()
			newPlace(t, h).inject(part*all/parts, (part+1)*all/parts)
		})
	}
}

// inject sends the strings of the corpus from one to before another.
func (p *place) inject(from, to int) {
	t := p.t
	script := p.Program("show", p.showing())
	r := Runner(t)
	names := []hook.Name{hook.PreToolUse}
	for _, n := range []hook.Name{hook.UserPromptSubmit, hook.Notification, hook.PostToolUse, hook.PostToolUseFailure, hook.Stop, hook.SessionStart, hook.BeforeModel} {
		if _, ok := p.dialect.Vocabulary.Event(n); ok {
			names = append(names, n)
		}
	}
	sets := make(map[hook.Name]*dialect.Set)
	for _, n := range names {
		p.User(p.File, p.Config(Case{Event: p.name(n), Script: script}))
		sets[n] = p.set(dialect.Options{Runner: r})
		sets[n].Hooks(p.Workspace)
		// A set reads its files again when they change, so each has a home of
		// its own from here on.
		p.Home += "x"
		require.NoError(t, os.MkdirAll(p.Home, 0o700))
	}
	ran := 0
	for i, v := range Corpus(p.canary) {
		if i < from || i >= to {
			continue
		}
		for _, n := range []hook.Name{names[0], names[i%len(names)]} {
			if p.show(sets[n], n, v) {
				ran++
			}
			if n == names[i%len(names)] && i%len(names) == 0 {
				break
			}
		}
	}
	assert.Greater(t, ran, to-from, "most values reach the hooks")
}

// showing is a script that writes down what it was given, and uses it. It starts
// few programs: it runs hundreds of times.
func (p *place) showing() string {
	var text strings.Builder
	for name := range p.Variables {
		// Whatever the variables hold, this is what was given; one that is not
		// set has no name here.
		text.WriteString(`printf '%s\0' "${` + name + "+" + name + "=$" + name + "}\" >>'" + p.output + ".env'\n")
	}
	for name := range p.Variables {
		text.WriteString(strings.ReplaceAll(use, "V", name))
		text.WriteString("all=\"$all$" + name + "\"\n")
	}
	if len(p.Variables) > 0 {
		text.WriteString(": $(printf %s $all) \"$(printf %s \"$all\")\"\n")
	}
	return text.String() + p.Pass + "\nexec cat >'" + p.output + ".in'\n"
}

// show runs the hook for one value and reports whether it ran.
func (p *place) show(s *dialect.Set, n hook.Name, v string) bool {
	t := p.t
	for _, suffix := range []string{".env", ".in"} {
		_ = os.Remove(p.output + suffix)
	}
	e := p.everywhere(n, v)
	sum := s.Run(t.Context(), e)
	p.nothingHappened(v)
	if sum.Err != nil {
		require.ErrorIs(t, sum.Err, dialect.ErrFeed, "%q", v)
		return false
	}
	require.Len(t, sum.Results, 1, "%q: %v", v, sum.Plan.Skipped)
	require.NoError(t, sum.Results[0].Err, "%q: stderr %s", v, sum.Results[0].Report.Stderr)
	stdin, err := os.ReadFile(p.output + ".in")
	require.NoError(t, err, "%q: the script ran to its end", v)
	c, ok := p.dialect.Call(e)
	require.True(t, ok)
	got := p.environment()
	for name, value := range p.Variables {
		want := value(c)
		if strings.Contains(want, "\x00") || len(want) > command.MaxVariable {
			require.NotContains(t, got, name)
			continue
		}
		require.Equal(t, want, got[name], "$%s of %s", name, n)
	}
	if p.NoStdin {
		return true
	}
	require.True(t, json.Valid(stdin), "%q: standard input is JSON: %.200q", v, stdin)
	if utf8.ValidString(v) && (n == hook.PreToolUse || n == hook.UserPromptSubmit || n == hook.Notification) {
		require.True(t, holds(stdin, v), "%q is in the standard input of %s: %.400q", v, n, stdin)
	}
	return true
}

func (p *place) environment() map[string]string {
	list := make(map[string]string)
	if len(p.Variables) == 0 {
		return list
	}
	text, err := os.ReadFile(p.output + ".env")
	require.NoError(p.t, err)
	for _, entry := range strings.Split(string(text), "\x00") {
		if name, value, ok := strings.Cut(entry, "="); ok {
			list[name] = value
		}
	}
	return list
}

// nothingHappened fails when anything was executed.
func (p *place) nothingHappened(v string) {
	p.t.Helper()
	require.NoFileExists(p.t, p.canary, "%q was executed", v)
	require.NoFileExists(p.t, p.Workspace+"/canary", "the workspace's name was executed")
}

// holds reports whether a JSON document has this string somewhere, also in JSON
// that is a string in it.
func holds(raw []byte, v string) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		text, ok := token.(string)
		if !ok {
			continue
		}
		if text == v || strings.HasPrefix(text, "{") && holds([]byte(text), v) {
			return true
		}
	}
}

// texts sends the corpus through the dialect's templates and variables in shell
// text.
func texts(t *testing.T, h Harness) {
	for i, text := range h.Texts {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, h)
			n := text.Event
			if n == "" {
				n = hook.PreToolUse
			}
			p.User(h.File, h.Config(Case{Event: p.name(n), Shell: strings.ReplaceAll(text.Shell, "$OUT", "'"+p.output+"'")}))
			s := p.set(dialect.Options{})
			ran := 0
			for _, v := range Corpus(p.canary) {
				_ = os.Remove(p.output)
				e := p.everywhere(n, v)
				sum := s.Run(t.Context(), e)
				p.nothingHappened(v)
				if errors.Is(sum.Err, dialect.ErrFeed) {
					require.NoFileExists(t, p.output, "%q: what cannot be given in full does not run", v)
					continue
				}
				require.NoError(t, sum.Err, "%q", v)
				require.Len(t, sum.Results, 1)
				require.NoError(t, sum.Results[0].Err, "%q: %s", v, sum.Results[0].Report.Stderr)
				c, ok := p.dialect.Call(e)
				require.True(t, ok)
				got, err := os.ReadFile(p.output)
				require.NoError(t, err, "%q", v)
				require.Equal(t, text.Want(c), strings.Split(strings.TrimSuffix(string(got), "\x00"), "\x00"), "%q", v)
				ran++
			}
			assert.Greater(t, ran, 200, "most values reach the hook")
		})
	}
}

// canaries shows that a value which is executed would be noticed.
func canaries(t *testing.T, h Harness) {
	p := newPlace(t, h)
	text := "cat >/dev/null\n"
	for name := range h.Variables {
		text += `(eval "$` + name + "\")\n" // a syntax error ends a shell
	}
	p.User(h.File, h.Config(Case{Event: p.name(hook.PreToolUse), Script: p.Program("eval", text+h.Pass+"\nexit 0")}))
	s := p.set(dialect.Options{})
	e := p.everywhere(hook.PreToolUse, "touch "+p.canary)
	c, ok := p.dialect.Call(e)
	require.True(t, ok)
	given := false
	for _, value := range h.Variables {
		given = given || value(c) == "touch "+p.canary
	}
	_ = s.Run(t.Context(), e)
	if given {
		require.FileExists(t, p.canary)
	}
}
