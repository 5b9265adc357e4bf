package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// injections are values that make a file in dir as soon as any of them is taken
// for syntax.
func injections(dir string) []string {
	canary := filepath.Join(dir, "canary")
	commands := []string{
		"touch " + canary, "touch${IFS}" + canary, ">" + canary, "sh -c 'touch " + canary + "'", "/usr/bin/env touch " + canary,
	}
	frames := []string{
		`P`, `$(P)`, "`P`", `"$(P)"`, `'$(P)'`, "'`P`'", "\"`P`\"", `;P;`, `;P #`, `|P`, `||P`, `&P&`, `&&P`, `x;P`, `";P;"`, `';P;'`,
		`"; P; echo "`, `'; P; echo '`, `'"; P; echo "'`, `\";P;\"`, `\';P;\'`, `"'$(P)'"`, "\nP\n", "x\nP", "\r\nP\r\n", "\rP", "\\\nP",
		`)P(`, `) ; P ; (`, `}; P; {`, `esac; P`, `fi; P; if`, `done; P`, `]; P; [`, `]] ; P ; [[`, `$((P))`, `$[P]`, `a[$(P)]`, `x[$(P)]=1`,
		`<(P)`, `>(P)`, `${x:=$(P)}`, `${x-P}`, `<<<$(P)`, "E\nP\nE", "EOF\nP\nEOF\n", `$'\x3b'P`, `\$(P)`, `\\$(P)`, `%s;P`, `%n$(P)`,
		`() { :;}; P`, `eval P`, `exec P`, `. P`, `!P`, `!!;P`, `-c P`, `-o ProxyCommand=P`, `--exec=P`, `-- ;P`, `{{P}}`, `{{tool.input}};P`,
		`$GRAPNEL_PROMPT;P`, `${GRAPNEL_PROMPT};$(P)`, `$0;P`, `$PATH;P`, `IFS=;P`, "\tP\t", "\vP", "\f;P", "\u2028P", "\u00a0;P", `；P`,
		"\x1b]0;P\x07", "\x1b[31m;P", "%0aP", "%3BP", `&#59;P`, `\u003bP`, `\x60P\x60`, `\n;P`, `~;P`, `*;P`, `?;P`, `[a-z];P`, `a b;P`,
		strings.Repeat("(", 50) + "P", strings.Repeat(`"`, 51) + ";P", strings.Repeat(`'`, 51) + ";P", strings.Repeat("A", 5000) + ";P",
		"\x00;P", "P\x00", "\xff;P", "😀;P",
	}
	var list []string
	for i, frame := range frames {
		list = append(list, strings.ReplaceAll(frame, "P", commands[i%len(commands)]))
		list = append(list, strings.ReplaceAll(frame, "P", commands[(i+1)%len(commands)]))
		list = append(list, strings.ReplaceAll(frame, "P", commands[(i+2)%len(commands)]))
	}
	return list
}

// everywhere puts the value into every place of an event that it may stand in.
func everywhere(t *testing.T, e hook.Event, v string) hook.Event {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	e.Subject, e.Data.Prompt, e.Data.Message, e.Data.Model, e.Data.Path = v, v, v, v, v
	e.Data.PermissionMode, e.Data.Reason, e.Data.Error = v, v, v
	e.Data.Workspace, e.Data.CWD = e.Data.CWD, v
	e.Data.Native.Agent, e.Data.Native.Event = v, v
	e.Data.Tool = &hook.Tool{
		Name: v, Kind: hook.Kind(v), CallID: v,
		Input: json.RawMessage(`{"value":` + string(text) + `,` + string(text) + `:1}`),
	}
	e.SessionID, e.CorrelationID, e.TraceParent = v, v, v
	return e
}

// userText is shell text as people write it, with the variable V in every
// place but the one of a command.
const userText = `
echo $V "$V" '$V' x"$V"y x'$V'y ${V} "${V}" "${V:-none}" ${V:-none} "a $V b $V" >/dev/null
x=$V; y="$V"; z=${V#x}; export x y z
echo $(echo $V) "$(echo "$V")" ` + "`echo $V` \"`echo \\\"$V\\\"`\"" + ` >/dev/null
printf '%s' "$V" >/dev/null
[ "$V" = rm ] && echo is
[ -n "$V" ] || echo empty
case $V in rm) echo is;; esac
case "$V" in rm) echo is;; esac
for word in $V; do :; done
for word in "$V"; do :; done
set -- $V; set -- "$V"
cat <<E >/dev/null
$V ${V}
E
(echo "$V") >/dev/null
{ echo "$V"; } >/dev/null
echo "$V" | grep -q -e "$V" -- - 2>/dev/null
f() { echo "$1" $1 >/dev/null; }; f "$V"; f $V
`

func TestNoValueIsExecuted(t *testing.T) {
	t.Parallel()
	canaries := t.TempDir()
	list := injections(canaries)
	require.GreaterOrEqual(t, len(list), 200)
	r := runner(t)
	o := &command.Options{Runner: r}

	var text strings.Builder
	for _, name := range []string{
		"PROMPT", "TOOL_NAME", "TOOL_KIND", "TOOL_INPUT", "TOOL_CALL_ID", "SESSION_ID", "SUBJECT", "AGENT", "NATIVE_EVENT", "CWD", "MESSAGE",
		"MODEL", "PATH", "PERMISSION_MODE", "CORRELATION_ID", "TRACEPARENT", "OMITTED",
	} {
		if name == "PROMPT" {
			text.WriteString(strings.ReplaceAll(userText, "V", "GRAPNEL_PROMPT"))
			continue
		}
		name = "GRAPNEL_" + name
		text.WriteString("echo $" + name + " \"$" + name + "\" '$" + name + "' >/dev/null; : ${" + name + "}\n")
	}
	show := filepath.Join(t.TempDir(), "show")
	require.NoError(t, os.WriteFile(show, []byte("#!/bin/sh\nprintf '%s\\0' \"$@\"\n"), 0o755))

	shell := ready(t, command.Hook{Shell: text.String() + "cat >/dev/null; printf '%s\\0' \"$GRAPNEL_PROMPT\""}, o)
	arguments := ready(t, command.Hook{Command: []string{
		show, "--", "{{prompt}}", "{{tool.input.value}}", "{{tool.name}}", "{{tool.kind}}", "{{tool.input}}", "{{message}}", "{{session}}", "{{agent}}", "{{cwd}}",
	}}, o)
	options := ready(t, command.Hook{Command: []string{show, "{{prompt}}"}}, o)

	base := event(t)
	ran := 0
	for _, v := range list {
		e := everywhere(t, base, v)
		for _, c := range []*command.Command{shell, arguments, options} {
			report, err := c.Test(t.Context(), e)
			require.Error(t, err) // either it was not run, or what it printed is no decision
			if report.ExitCode != 0 {
				require.Equal(t, command.NotRun, report.Outcome, "%q: %v, stderr %q", v, err, report.Stderr)
				continue
			}
			ran++
			got, _, _ := strings.Cut(strings.TrimPrefix(string(report.Stdout), "--\x00"), "\x00")
			if c != shell || !strings.Contains(v, "\x00") {
				require.Equal(t, v, got, "a value arrives as it is")
			}
			if c == options {
				require.False(t, strings.HasPrefix(v, "-"), "%q could be taken for an option", v)
			}
		}
		left, err := os.ReadDir(canaries)
		require.NoError(t, err)
		require.Empty(t, left, "%q was executed", v)
	}
	assert.Greater(t, ran, 2*len(list), "most values reach the hooks")
}

// TestTheCanariesSing shows that a value which is executed would be noticed.
func TestTheCanariesSing(t *testing.T) {
	t.Parallel()
	canaries := t.TempDir()
	e := event(t)
	sang := 0
	c := ready(t, command.Hook{Shell: `eval "$GRAPNEL_PROMPT"`}, nil)
	for _, v := range injections(canaries)[:30] {
		e.Data.Prompt = v
		_, _ = c.Test(t.Context(), e)
		if os.Remove(filepath.Join(canaries, "canary")) == nil {
			sang++
		}
	}
	assert.Greater(t, sang, 10)
}
