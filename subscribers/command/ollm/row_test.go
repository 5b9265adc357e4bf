package ollm_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
	"github.com/grapnel-dev/grapnel/subscribers/command/ollm"
)

// dump is a script that keeps what it was given and lets things go on.
const dump = `cat > in.json; echo '{"continue":true}'`

func TestD1EachEventHasItsData(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		name   hook.Name
		change func(*hook.Event)
		want   string
	}{
		"session_start": {hook.SessionStart, nil, testdata(t, "documented/input-session_start.json")},
		"session_end": {hook.SessionEnd, func(e *hook.Event) {
			e.Data.Native.Payload = json.RawMessage(`{"messages":[{"role":"user","content":"x"}]}`)
		}, `{"event":"session_end","data":{"session_id":"abc123","messages":[{"role":"user","content":"x"}]}}`},
		"before_agent": {hook.UserPromptSubmit, func(e *hook.Event) { e.Data.Prompt = "do it" }, `{"event":"before_agent","data":{"prompt":"do it"}}`},
		"after_agent":  {hook.Stop, func(e *hook.Event) { e.Data.Message = "done" }, `{"event":"after_agent","data":{"response":"done","tool_calls":[]}}`},
		"before_model": {hook.BeforeModel, func(e *hook.Event) {
			e.Data.Native.Payload = json.RawMessage(`{"model":"llama2","messages":[{ "role": "user", "content": "Hello" }]}`)
		}, testdata(t, "documented/input.json")},
		"after_model": {hook.AfterModel, func(e *hook.Event) {
			e.Data.Native.Payload = json.RawMessage(`{"llm_response":{"text":"hi","usageMetadata":{"totalTokenCount":7}}}`)
		}, `{"event":"after_model","data":{"response":"hi","tokens":7}}`},
		"before_tool_selection": {hook.BeforeToolSelection, func(e *hook.Event) {
			e.Data.Native.Payload = json.RawMessage(`{"available_tools":["shell","read_file"]}`)
		}, `{"event":"before_tool_selection","data":{"available_tools":["shell","read_file"]}}`},
		"before_tool": {hook.PreToolUse, func(e *hook.Event) {
			e.Data.Tool = &hook.Tool{Name: "read_file", Kind: hook.KindFileRead, Input: json.RawMessage(`{ "path": "file.txt" }`)}
		}, testdata(t, "documented/input-before_tool.json")},
		"after_tool": {hook.PostToolUse, func(e *hook.Event) {
			e.Data.Tool = &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: json.RawMessage(`{"command":"ls"}`)}
			e.Data.Result = json.RawMessage(`{"stdout":"a"}`)
		}, `{"event":"after_tool","data":{"tool_name":"shell","args":{"command":"ls"},"result":{"stdout":"a"}}}`},
		"after_tool that failed": {hook.PostToolUseFailure, func(e *hook.Event) {
			e.Data.Tool = &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: json.RawMessage(`{"command":"ls"}`)}
			e.Data.Error = "no"
		}, `{"event":"after_tool","data":{"tool_name":"shell","args":{"command":"ls"},"result":null,"error":"no"}}`},
		"pre_compress": {hook.PreCompact, func(e *hook.Event) { e.Data.Reason = "auto" }, `{"event":"pre_compress","data":{"session_id":"abc123","trigger":"auto"}}`},
		"post_compress": {hook.PostCompact, func(e *hook.Event) { e.Data.Reason, e.Data.Message = "auto", "short" },
			`{"event":"post_compress","data":{"session_id":"abc123","trigger":"auto","summary":"short"}}`},
		"notification": {hook.Notification, func(e *hook.Event) { e.Data.Message, e.Data.Reason = "look", "idle" },
			`{"event":"notification","data":{"message":"look","type":"idle"}}`},
	}
	names := map[string]bool{}
	for name, c := range cases {
		event, _, _ := strings.Cut(name, " ")
		names[event] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.user(event, m.entry(m.userDir(), "dump", dump, ""))
			e := m.event(c.name)
			if c.change != nil {
				c.change(&e)
			}
			assert.Equal(t, hook.Decision{}, m.must(e))
			assert.JSONEq(t, c.want, m.read("in.json"))
		})
	}
	assert.Len(t, names, 12)
	assert.Len(t, ollm.New().Vocabulary.Names(), 12)
}

func TestD1BeforeEventsCanBeBlockedAndAfterEventsCannot(t *testing.T) {
	t.Parallel()
	for _, event := range ollm.New().Vocabulary.Events {
		m := newMachine(t)
		m.user(event.Name, m.entry(m.userDir(), "no", `echo '{"continue":false,"systemMessage":"no"}'`, ""))
		d := m.must(m.event(event.Canonical))
		blocks := strings.HasPrefix(event.Name, "before") || event.Name == "session_start" || event.Name == "pre_compress"
		assert.Equal(t, blocks, d.Effect == hook.Deny, "%s as %s", event.Canonical, event.Name)
		if !blocks {
			assert.Contains(t, d.Reason, "hooks cannot block "+event.Name)
		}
	}
}

func TestD1ToolsOfOtherAgentsHaveTheDialectsNames(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.user("before_tool", m.entry(m.userDir(), "dump", dump, ""))
	for _, c := range []struct {
		name  hook.Name
		tool  string
		kind  hook.Kind
		input string
		want  string
	}{
		{hook.PreToolUse, "Bash", hook.KindShell, `{"command":"ls"}`, `{"tool_name":"shell","args":{"command":"ls"}}`},
		{hook.PreShell, "Shell", hook.KindShell, `{"cmd":"ls"}`, `{"tool_name":"shell","args":{"cmd":"ls","command":"ls"}}`},
		{hook.PreFileRead, "Read", hook.KindFileRead, `{"file_path":"a"}`, `{"tool_name":"read_file","args":{"file_path":"a","path":"a"}}`},
		{hook.PreToolUse, "Write", hook.KindFileWrite, `{"file_path":"a","content":"b"}`, `{"tool_name":"write_file","args":{"file_path":"a","content":"b","path":"a"}}`},
		{hook.PreToolUse, "MultiEdit", hook.KindFileEdit, `{"file_path":"a"}`, `{"tool_name":"edit_file","args":{"file_path":"a","path":"a"}}`},
		{hook.PreMCPCall, "mcp__github__search", hook.KindMCP, `{}`, `{"tool_name":"mcp__github__search","args":{}}`},
		{hook.PreToolUse, "ponder", hook.KindOther, ``, `{"tool_name":"ponder","args":{}}`},
	} {
		e := m.event(c.name)
		e.Data.Tool = &hook.Tool{Name: c.tool, Kind: c.kind, Input: json.RawMessage(c.input)}
		m.must(e)
		assert.JSONEq(t, `{"event":"before_tool","data":`+c.want+`}`, m.read("in.json"), c.tool)
	}
}

func TestD1APayloadThatCannotBeReadIsNotPassedBlindly(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.user("before_model", m.entry(m.userDir(), "dump", dump, ""))
	e := m.model()
	e.Data.Native.Payload = json.RawMessage(`{"messages":[],"messages":[{"content":"evil"}]}`)
	_, err := m.loaded().Decide(t.Context(), e)
	require.ErrorIs(t, err, dialect.ErrFeed)
	assert.Empty(t, m.read("in.json"))
}

func TestD2Outputs(t *testing.T) {
	t.Parallel()
	where := "hook said: hook failed: "
	cases := map[string]struct {
		script string
		effect hook.Effect
		reason string
		ctx    string
	}{
		"continue":               {`echo '{"continue":true}'`, hook.Abstain, "", ""},
		"as documented":          {"cat <<'END'\n" + testdata(t, "documented/output.json") + "END", hook.Abstain, "", "Optional context to add"},
		"a message":              {`echo '{"continue":true,"systemMessage":"look"}'`, hook.Abstain, "", "look"},
		"a warning":              {`echo '{"continue":true,"error":"half of it"}'`, hook.Abstain, "hook said: half of it", ""},
		"nulls":                  {`echo '{"continue":true,"systemMessage":null,"data":null,"error":null}'`, hook.Abstain, "", ""},
		"more members":           {`echo '{"continue":true,"x":1}'`, hook.Abstain, "", ""},
		"stop":                   {`echo '{"continue":false,"systemMessage":"no"}'`, hook.Deny, "no", ""},
		"stop with an error":     {`echo '{"continue":false,"error":"no"}'`, hook.Deny, "no", ""},
		"stop without a word":    {`echo '{"continue":false}'`, hook.Deny, "hook said says not to continue and gave no reason", ""},
		"stop, then fail":        {`echo '{"continue":false,"systemMessage":"no"}'; exit 1`, hook.Deny, "no", ""},
		"stop, then too much":    {`echo '{"continue":false,"systemMessage":"no"}'; head -c 3000000 /dev/zero | tr '\0' x`, hook.Deny, "no", ""},
		"stop among others":      {`echo '{"continue":true}'; echo '{"continue":false,"systemMessage":"no"}'; echo '{"continue":true}'`, hook.Deny, "no", ""},
		"escapes":                {`echo '{"continue":false,"systemMessage":"\u001b[31mred\u202e"}'`, hook.Deny, "red", ""},
		"text around":            {`echo starting; echo '{"continue":true,"systemMessage":"look"}'; echo ready`, hook.Abstain, "", "look"},
		"text on the same line":  {`echo 'Result: {"continue":true}'`, hook.Abstain, where + "stdout is no answer", ""},
		"nothing":                {`true`, hook.Abstain, where + "stdout is no answer: there is nothing", ""},
		"no continue":            {`echo '{"systemMessage":"look"}'`, hook.Abstain, "does not say continue", ""},
		"continue as text":       {`echo '{"continue":"false"}'`, hook.Abstain, where, ""},
		"continue twice":         {`echo '{"continue":true,"continue":false}'`, hook.Abstain, where, ""},
		"Continue":               {`echo '{"Continue":false}'`, hook.Abstain, "does not say continue", ""},
		"two answers":            {`echo '{"continue":true}{"continue":true}'`, hook.Abstain, "2 objects say continue", ""},
		"an answer and half one": {`echo '{"continue":true}'; echo '{"continue":fal'`, hook.Abstain, where, ""},
		"a list":                 {`echo '[{"continue":false}]'`, hook.Abstain, where, ""},
		"data of another kind":   {`echo '{"continue":true,"data":[1]}'`, hook.Abstain, "data is not a JSON object", ""},
		"exit code 1":            {`echo '{"continue":true,"systemMessage":"look"}'; echo broken >&2; exit 1`, hook.Abstain, where + "exit code 1: broken", ""},
		"exit code 2":            {`echo no >&2; exit 2`, hook.Abstain, where + "exit code 2: no", ""},
		"killed":                 {`echo '{"continue":true}'; kill -KILL $$`, hook.Abstain, "signal", ""},
		"many objects":           {`yes '{"a":' | head -n 2000`, hook.Abstain, "more than 16 lines begin like an object", ""},
	}
	runner := dialecttest.Runner(t) // one for all: starting its supervisors takes longer than most of these hooks
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.runner = runner
			m.user("before_tool", m.entry(m.userDir(), "said", c.script, ""))
			d := m.must(m.shell("ls"))
			assert.Equal(t, c.effect, d.Effect)
			assert.Contains(t, d.Reason, c.reason)
			assert.Equal(t, c.reason == "", d.Reason == "", d.Reason)
			assert.Equal(t, c.ctx, d.Context)
			assert.Nil(t, d.Rewrite)
		})
	}
}

func TestD2DataGoesOnToTheNextHook(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.user("before_tool",
		m.entry(m.userDir(), "one", `echo '{"continue":true,"data":{"customField":"value","n":1}}'`, ""),
		m.entry(m.userDir(), "two", `cat > two.json; echo '{"continue":true,"data":{"n":2,"tool_name":"harmless","args":{"command":"true"}}}'`, ""),
		m.entry(m.userDir(), "three", `cat > three.json; echo '{"continue":true}'`, ""))
	m.must(m.shell("ls"))
	assert.JSONEq(t, `{"event":"before_tool","data":{"tool_name":"shell","args":{"command":"ls"},"customField":"value","n":1}}`, m.read("two.json"))
	assert.JSONEq(t, `{"event":"before_tool","data":{"tool_name":"shell","args":{"command":"ls"},"customField":"value","n":2}}`, m.read("three.json"),
		"nothing that is passed on hides what will run")
}

func TestD2NoFurtherHookRunsAfterContinueFalse(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.user("before_tool",
		m.entry(m.userDir(), "one", `echo one >> ran; echo '{"continue":true,"systemMessage":"seen"}'`, ""),
		m.entry(m.userDir(), "two", `echo two >> ran; echo '{"continue":false,"systemMessage":"no"}'`, ""),
		m.entry(m.userDir(), "three", `echo three >> ran; echo '{"continue":true}'`, ""))
	d := m.must(m.shell("ls"))
	assert.Equal(t, hook.Deny, d.Effect)
	assert.Equal(t, "no", d.Reason)
	assert.Equal(t, "one\ntwo\n", m.read("ran"))

	m.user("before_tool",
		m.entry(m.userDir(), "bad", `echo bad >> ran; exit 1`, ""),
		m.entry(m.userDir(), "three", `echo three >> ran; echo '{"continue":true}'`, ""))
	m.must(m.shell("ls"))
	assert.Equal(t, "one\ntwo\nbad\nthree\n", m.read("ran"), "after one that failed they do")
}

func TestD2ThereIsNoShell(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	script := m.put(m.userDir(), "args.sh", `for a; do printf '%s\n' "$a"; done > args; echo '{"continue":true}'`)
	m.user("before_tool", fmt.Sprintf(`{"id":"a","name":"A","command":"/bin/sh","args":[%q,"a b","*","~","%%s","it's","\"q\"","-n","\\"]}`, script))
	for _, v := range []string{"$(touch canary)", "`touch canary`", "; touch canary", "\n touch canary", "'; touch canary; '", "{{x}}", "-rf"} {
		e := m.shell(v)
		e.SessionID, e.Data.Tool.Name, e.Data.Tool.Kind = v, v, hook.KindOther
		m.must(e)
		assert.Equal(t, "a b\n*\n~\n%s\nit's\n\"q\"\n-n\n\\\n", m.read("args"))
		require.NoFileExists(t, filepath.Join(m.dir, "canary"))
	}
}

func TestD5CommandsAreChecked(t *testing.T) {
	t.Parallel()
	ok := []string{`"/usr/bin/true"`, `"/opt/my tool/x.sh"`, `"node"`, `"python"`, `"python3"`, `"bash"`, `"sh"`, `"npx"`, `"uvx"`, `"C:\\hooks\\x.exe"`}
	bad := []string{`""`, `" "`, `"ruby"`, `"./hook.sh"`, `"hook.sh"`, `"../sh"`, `"~/hook.sh"`, `"Node"`, `"node "`, `"sh -c"`, `"C:x"`, `"/bin/sh\u0000"`, `1`, `null`}
	for _, c := range ";&|`$(){}[]<>" {
		bad = append(bad, `"/bin/a`+string(c)+`b"`)
	}
	read := func(entry string) ([]dialect.Hook, []dialect.Problem) {
		return ollm.New().Read([]byte(file("before_tool", entry, `{"id":"other","command":"sh"}`)), dialect.Origin{File: "/f", Source: trust.User})
	}
	for _, command := range ok {
		hooks, problems := read(`{"id":"x","command":` + command + `}`)
		assert.Empty(t, problems, command)
		assert.Len(t, hooks, 2, command)
	}
	for _, command := range bad {
		hooks, problems := read(`{"id":"x","command":` + command + `}`)
		require.Len(t, problems, 1, command)
		assert.Equal(t, "hooks.before_tool[0].command", problems[0].Where)
		assert.Len(t, hooks, 1, "%s: the others load", command)
	}
	for _, c := range ";&|`$(){}[]<>\n" {
		arg, err := json.Marshal("a" + string(c) + "b")
		require.NoError(t, err)
		hooks, problems := read(`{"id":"x","command":"sh","args":["fine",` + string(arg) + `]}`)
		require.Len(t, problems, 1, string(arg))
		assert.Equal(t, "hooks.before_tool[0].args", problems[0].Where)
		assert.Contains(t, problems[0].Text, "put what needs that into a script")
		assert.Len(t, hooks, 1)
	}
}

func TestD6Limits(t *testing.T) {
	t.Parallel()
	d := ollm.New()
	assert.Equal(t, 30*time.Second, d.Timeout)
	assert.Equal(t, 1<<20, d.MaxOutput)
	assert.False(t, d.Parallel)

	m := newMachine(t)
	m.user("before_tool",
		m.entry(m.userDir(), "slow", `sleep 1000`, `"timeout":200`),
		m.entry(m.userDir(), "loud", `echo '{"continue":true,"systemMessage":"heard"}'; head -c 1100000 /dev/zero | tr '\0' ' '`, ""),
		m.entry(m.userDir(), "next", `echo $$ >> pids; echo '{"continue":true}'`, ""),
		m.entry(m.userDir(), "last", `echo $$ >> pids; echo '{"continue":true}'`, ""))
	start := time.Now()
	got := m.must(m.shell("ls"))
	assert.Equal(t, hook.Abstain, got.Effect)
	assert.Contains(t, got.Reason, "hook slow: "+process.ErrTimedOut.Error())
	assert.Contains(t, got.Reason, "hook loud: hook failed: stdout is no answer: it is longer than 1048576 bytes")
	assert.Empty(t, got.Context)
	assert.Less(t, time.Since(start), 30*time.Second)
	pids := strings.Fields(m.read("pids"))
	require.Len(t, pids, 2)
	assert.NotEqual(t, pids[0], pids[1], "one process each")

	m.put(m.userDir(), "hooks.json", `{"timeout":150,"hooks":{"before_tool":[`+m.entry(m.userDir(), "slow", `sleep 1000`, "")+`,`+
		m.entry(m.userDir(), "own", `echo '{"continue":true}'`, `"timeout":20000`)+`]}}`)
	hooks, problems := m.set().Hooks("")
	require.Empty(t, problems)
	assert.Equal(t, 150*time.Millisecond, hooks[0].Timeout)
	assert.Equal(t, 20*time.Second, hooks[1].Timeout)
	assert.Contains(t, m.must(m.shell("ls")).Reason, process.ErrTimedOut.Error())
}

func TestD6HooksCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.put(m.userDir(), "hooks.json", `{"enabled":false,"hooks":{"before_tool":[`+m.entry(m.userDir(), "x", dump, "")+`]}}`)
	m.must(m.shell("ls"))
	assert.Empty(t, m.read("in.json"))
}

func TestD3WhatIsWrongIsSaidAndTheOthersLoad(t *testing.T) {
	t.Parallel()
	good := `{"id":"good","command":"sh"}`
	cases := map[string]struct {
		text, want string
		hooks      int
	}{
		"no JSON":             {`{`, "", 0},
		"no hooks":            {`{}`, "hooks: there are none", 0},
		"an unknown event":    {`{"hooks":{"before_tools":[{}],"before_tool":[` + good + `]}}`, "there is no such event", 1},
		"an unknown key":      {`{"hook":{},"hooks":{"before_tool":[` + good + `]}}`, "hook: the key is not known", 1},
		"a hook's":            {file("before_tool", good, `{"id":"x","command":"sh","arg":[]}`), `"arg" is not known`, 2},
		"no object":           {file("before_tool", good, `"sh"`), "not a JSON object", 1},
		"no list":             {`{"hooks":{"before_tool":{},"before_model":[` + good + `]}}`, "not a list", 1},
		"no id":               {file("before_tool", good, `{"command":"sh"}`), "id: it is missing", 2},
		"args as text":        {file("before_tool", good, `{"id":"x","command":"sh","args":"a"}`), "not a list of strings", 1},
		"a time-out of zero":  {file("before_tool", good, `{"id":"x","command":"sh","timeout":0}`), "not a time", 1},
		"a huge priority":     {file("before_tool", good, `{"id":"x","command":"sh","priority":1000001}`), "is not between", 1},
		"an unknown source":   {file("before_tool", good, `{"id":"x","command":"sh","source":"friend"}`), "none of builtin", 1},
		"a pattern":           {file("before_tool", good, `{"id":"x","command":"sh","matcher":"sh.*"}`), "no list of tools", 1},
		"a matcher":           {file("before_model", good, `{"id":"x","command":"sh","matcher":"shell"}`), "no list of tools", 1},
		"an id twice":         {file("before_tool", good, `{"id":"good","command":"bash"}`), `"good" is the id of another hook`, 1},
		"a hook twice":        {file("before_tool", good, good), `"good" is the id of another hook`, 1},
		"enabled as text":     {`{"enabled":"no","hooks":{"before_tool":[` + good + `]}}`, "enabled: this is not true or false", 1},
		"a bad file time-out": {`{"timeout":-5,"hooks":{"before_tool":[` + good + `]}}`, "timeout: ", 1},
	}
	for name, c := range cases {
		m := newMachine(t)
		m.put(m.userDir(), "hooks.json", c.text)
		hooks, problems := m.set().Hooks(m.dir)
		assert.Len(t, hooks, c.hooks, name)
		require.NotEmpty(t, problems, name)
		var all []string
		for _, p := range problems {
			all = append(all, p.Error())
		}
		assert.Contains(t, strings.Join(all, "\n"), c.want, name)
	}
	hooks, problems := ollm.New().Read([]byte(`{"hooks":{"before_tool":[`+good+`],"after_tool":[`+good+`]}}`), dialect.Origin{Source: trust.User})
	assert.Empty(t, problems, "one hook may stand under several events")
	assert.Len(t, hooks, 2)
}

func TestD3AHookCanBeLessTrustedThanItsFileAndNeverMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file     trust.Source
		said     string
		want     trust.Source
		problems int
	}{
		{trust.User, "", trust.User, 0},
		{trust.User, "user", trust.User, 0},
		{trust.User, "builtin", trust.User, 1},
		{trust.User, "workspace", trust.Workspace, 0},
		{trust.User, "downloaded", trust.Downloaded, 0},
		{trust.User, "extension", trust.Extension, 0},
		{trust.Workspace, "user", trust.Workspace, 1},
		{trust.Workspace, "builtin", trust.Workspace, 1},
		{trust.Workspace, "downloaded", trust.Downloaded, 0},
		{trust.Extension, "user", trust.Extension, 1},
		{trust.Extension, "workspace", trust.Extension, 1},
	} {
		text := file("before_tool", `{"id":"x","command":"sh","source":"`+c.said+`","sourcePath":"/x.sh","extensionName":"e"}`)
		hooks, problems := ollm.New().Read([]byte(text), dialect.Origin{File: "/f", Source: c.file})
		require.Len(t, hooks, 1)
		assert.Equal(t, c.want, hooks[0].Origin.Source, "%s in a file of %s", c.said, c.file)
		assert.Len(t, problems, c.problems)
		assert.Equal(t, []string{"/x.sh"}, hooks[0].Files, "what is at sourcePath is approved, too")
	}
}

func TestD3TrustWorkspaceIsThePersonsWordAlone(t *testing.T) {
	t.Parallel()
	good := file("before_tool", `{"id":"x","command":"sh"}`)
	text := []byte(strings.Replace(good, `{`, `{"trustWorkspace":true,`, 1))
	assert.True(t, ollm.TrustsWorkspaces(text))
	for _, no := range []string{good, `{"trustWorkspace":false}`, `{"trustWorkspace":"true"}`, `{"trustWorkspace":1}`, `{"TrustWorkspace":true}`,
		`{"trustWorkspace":true,"trustWorkspace":true}`, `{"trustWorkspace":true`, ``, `true`, `{"hooks":{"trustWorkspace":true}}`} {
		assert.False(t, ollm.TrustsWorkspaces([]byte(no)), no)
	}
	hooks, problems := ollm.New().Read(text, dialect.Origin{File: "/f", Source: trust.User})
	assert.Empty(t, problems)
	assert.Len(t, hooks, 1)
	for _, source := range []trust.Source{trust.Workspace, trust.Extension, trust.Downloaded} {
		hooks, problems = ollm.New().Read(text, dialect.Origin{File: "/f", Source: source})
		assert.Len(t, hooks, 1)
		require.Len(t, problems, 1)
		assert.Contains(t, problems[0].Text, "counts for nothing")
		assert.Equal(t, source, hooks[0].Origin.Source)
	}
}
