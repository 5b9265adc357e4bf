//go:build unix

package main_test

import (
	"encoding/base32"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMalformedInput: whatever comes in, a gate is denied with the reason and
// everything else passes, from either program, with and without a daemon.
func TestMalformedInput(t *testing.T) {
	t.Parallel()
	const mebibyte = 1 << 20
	inputs := map[string]string{
		"nothing":              "",
		"space":                " \n\t ",
		"no JSON":              "rm -rf /",
		"NUL":                  "\x00\x00\x00",
		"an array":             `[{"hook_event_name":"EVENT"}]`,
		"null":                 "null",
		"a string":             `"EVENT"`,
		"cut":                  bash("ls")[:60],
		"two documents":        bash("ls") + bash("rm -rf /"),
		"text after it":        bash("ls") + "and more",
		"a key twice":          `{"hook_event_name":"EVENT","session_id":"s","cwd":"/","tool_name":"Read","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}`,
		"a key twice, deeper":  `{"hook_event_name":"EVENT","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls","command":"rm -rf /"}}`,
		"a key twice, escaped": `{"hook_event_name":"EVENT","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls","c\u006fmmand":"rm -rf /"}}`,
		"not UTF-8":            `{"hook_event_name":"EVENT","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"` + "\xff\xfe" + `"}}`,
		"half a surrogate":     `{"hook_event_name":"EVENT","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"\ud800"}}`,
		"wrong types":          `{"hook_event_name":"EVENT","session_id":7,"cwd":[],"tool_name":{"a":1},"tool_input":"ls"}`,
		"nested":               `{"hook_event_name":"EVENT","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":` + strings.Repeat("[", mebibyte) + strings.Repeat("]", mebibyte) + `}`,
		"nested and cut":       strings.Repeat(`{"a":`, mebibyte),
		"10 MB":                `{"hook_event_name":"EVENT","session_id":"s","cwd":"/","tool_name":"Write","tool_input":{"content":"` + strings.Repeat("x", 10*mebibyte) + `"}}`,
		"10 MB of space":       strings.Repeat(" ", 10*mebibyte),
		"more than is read":    `{"hook_event_name":"EVENT","x":"` + strings.Repeat("x", 17*mebibyte) + `"}`,
	}
	for _, mode := range []string{"with a daemon", "without"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.configure("start_daemon: false\n")
			var d *daemon
			if mode == "with a daemon" {
				d = s.up()
			}
			for name, input := range inputs {
				for _, way := range ways {
					for event, check := range map[string]func(testing.TB, string, result){
						"PreToolUse":        func(t testing.TB, e string, r result) { denied(t, e, r, "grapnel") },
						"PermissionRequest": func(t testing.TB, e string, r result) { denied(t, e, r, "grapnel") },
						"Stop":              passed, "PostToolUse": passed,
					} {
						if mode == "without" && (event == "PermissionRequest" || event == "PostToolUse") {
							continue // as the first two, with the same code behind it
						}
						r := s.hook(way, event, strings.ReplaceAll(input, "EVENT", event))
						if (event == "Stop" || event == "PostToolUse") && namesAnother(input) {
							continue // it names PreToolUse; which of the two it is, nobody knows
						}
						check(t, event, r)
						if t.Failed() {
							t.Fatalf("%s, %s, %s: %s", name, way, event, r)
						}
					}
				}
			}
			if d == nil {
				return
			}
			assert.Equal(t, "green", s.status().Health)
			denied(t, "PreToolUse", s.hook(ways[0], "PreToolUse", bash("rm -rf /")))
			s.verified()
			s.stop(d)
		})
	}
}

// namesAnother says that a payload names PreToolUse whatever it is sent as.
func namesAnother(input string) bool {
	return strings.Contains(input, `"hook_event_name":"PreToolUse"`)
}

// TestNamesOfEveryKind: no name of a tool breaks anything, gets past the
// policy, or reaches another subject than its own.
func TestNamesOfEveryKind(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.up()
	names := []string{
		"a.b.c", "with space", " ", "*", ">", "bash.>", "hooks.*", "x_abcdefghijklmnop", "_", "$SYS.REQ.>", "..", "a..b",
		"nul\x00nul", "\x00", "line\nbreak\r\n", "🪝", "ｂａｓｈ", "Bash\u200b", "İ", "\u202ehsaB", `quote"back\slash`, "%2e%2e",
		"mcp__files__write", strings.Repeat("n", 10_000), strings.Repeat("🪝", 10_000), base32.StdEncoding.EncodeToString([]byte("x_")),
	}
	for i, name := range names {
		way := ways[i%2]
		r := s.hook(way, "PreToolUse", call("PreToolUse", name, map[string]any{"command": "rm -rf /", "file_path": s.state("node.key")}))
		oneDocument(t, r)
		r = s.hook(way, "PostToolUse", call("PostToolUse", name, map[string]string{"command": "ls"}))
		passed(t, "PostToolUse", r)
	}
	blocking, notified := make(map[string]bool), make(map[string]bool)
	for _, r := range s.records() {
		switch r.Kind {
		case "verdict":
			blocking[r.Subject] = true
		case "notification":
			notified[r.Subject] = true
		}
	}
	for _, name := range names {
		if len(name) > 1000 {
			continue // an index keeps the head of it
		}
		assert.True(t, blocking[name], "%q has its verdict on record", name)
		assert.True(t, notified[name], "%q is on record", name)
	}
	assert.Equal(t, "green", s.status().Health)
	s.verified()
	s.stop(d)
}

// TestUnknownEvents: what an agent has learnt since goes through and is on
// record; where it carries a tool call, or nobody can read it, it is denied.
func TestUnknownEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.configure("start_daemon: false\n")
	d := s.up()
	events := []string{"MoonPhase", "preToolUse", "PRETOOLUSE", "Stop.>", "*", "🪝", "with space", strings.Repeat("E", 10_000)}
	for _, event := range events {
		for _, way := range ways {
			passed(t, event, s.hook(way, event, happened(event)))
			denied(t, "PreToolUse", s.hook(way, event, call(event, "Bash", map[string]string{"command": "ls"})), "grapnel")
			denied(t, "PreToolUse", s.hook(way, event, "not JSON"), "grapnel")
		}
	}
	assert.Len(t, s.records("--event", "other", "--kind", "notification"), len(events)*len(ways))
	assert.True(t, poll(func() bool {
		return len(s.records("--event", "other", "--kind", "refused")) == 2*len(events)*len(ways)
	}), "what was refused is on record, too")
	assert.Equal(t, "green", s.status().Health)
	s.stop(d)
	for _, way := range ways {
		denied(t, "PreToolUse", s.hook(way, "MoonPhase", call("MoonPhase", "Bash", map[string]string{"command": "ls"})), "grapnel")
		passed(t, "MoonPhase", s.hook(way, "MoonPhase", happened("MoonPhase")))
	}
}
