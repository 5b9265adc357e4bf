package install

import (
	"fmt"
	"runtime"

	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// target is what has to be known of an agent's settings.
type target struct {
	agent string
	// user returns the path of the user's settings, a file or the directory of
	// hook files; project is that in a project, empty where an agent reads none.
	user    func(place) (string, error)
	project string
	format  format
	// owned: the file is ours alone, and goes when nothing is left in it. rooms
	// are as many directories above it that are ours, too.
	owned bool
	rooms int
	// without is what happens when the hook program is not there.
	without string
	// inspect adds what else keeps hooks from firing; nil for nothing.
	inspect func(*inspection)
	// note is what somebody who installs it should know, by scope.
	note func(Scope) string
}

// format is a way in which settings hold hooks.
type format interface {
	// plan makes the changes after which exactly the wanted events are
	// registered, none when wanted is empty. left are commands that mention
	// us and are not of our making.
	plan(s *Settings, path string, wanted []registration) (changes []*Change, left []string, err error)
	// read says what is registered.
	read(s *Settings, path string, f *FileStatus)
}

const (
	runs    = "tools run unchecked"
	blocked = "every tool call is blocked"
)

// targetOf finds an agent's settings.
func targetOf(agent string) (target, bool) {
	for _, t := range append(jsonTargets(), otherTargets()...) {
		if t.agent == agent {
			return t, true
		}
	}
	return target{}, false
}

// Agents lists the agents whose settings can be edited, in the order of
// [edge.Agents].
func Agents() []string {
	var list []string
	for _, agent := range edge.Agents() {
		if _, ok := targetOf(agent); ok {
			list = append(list, agent)
		}
	}
	return list
}

// below returns a function for a path in the home directory.
func below(parts ...string) func(place) (string, error) {
	return func(p place) (string, error) { return p.home(parts...) }
}

// belowOr is the same for a directory that a variable can move.
func belowOr(variable, name string, parts ...string) func(place) (string, error) {
	return func(p place) (string, error) { return p.homeOr(variable, name, parts...) }
}

// jsonTargets are the agents whose settings are JSON.
func jsonTargets() []target {
	nothing := func(registration) []member { return nil }
	return []target{
		{
			agent: hookwire.ClaudeCode, without: "tools run unchecked, or, since 2.1.295, are blocked", inspect: inspectClaudeCode,
			user: belowOr("CLAUDE_CONFIG_DIR", ".claude", "settings.json"), project: ".claude/settings.json",
			format: jsonFormat{path: []string{"hooks"}, grouped: always, entry: inSeconds(onGates("onFailure", text("block"))),
				post: postedByClaude, tolerated: []string{"statusMessage"}},
		},
		{
			agent: hookwire.Codex, without: runs, inspect: inspectCodex,
			user: belowOr("CODEX_HOME", ".codex", "hooks.json"), project: ".codex/hooks.json",
			format: jsonFormat{path: []string{"hooks"}, grouped: always, entry: inSeconds(nothing), tolerated: []string{"statusMessage"}},
			note: func(Scope) string {
				return "Codex runs new and changed hooks only after you have trusted them: start it and open /hooks"
			},
		},
		{
			agent: hookwire.GeminiCLI, without: "every tool call and prompt is blocked, and a turn never ends", inspect: inspectGeminiCLI,
			user: below(".gemini", "settings.json"), project: ".gemini/settings.json",
			format: jsonFormat{path: []string{"hooks"}, grouped: always, entry: func(r registration, line string) value {
				return shellEntry(line, "timeout", 1000*r.seconds, []member{{"name", text(hookName)}})
			}, tolerated: []string{"description"}},
		},
		{
			agent: hookwire.Cursor, without: "gates are blocked, other events go on", inspect: inspectCursor,
			user: below(".cursor", "hooks.json"), project: ".cursor/hooks.json",
			format: jsonFormat{path: []string{"hooks"}, root: versionOne(), entry: inSeconds(onGates("failClosed", value{literal: "true"})),
				tolerated: []string{"loop_limit"}},
		},
		{
			agent: hookwire.Copilot, owned: true, without: blocked, inspect: inspectCopilot,
			user: belowOr("COPILOT_HOME", ".copilot", "hooks", "grapnel.json"), project: ".github/hooks/grapnel.json",
			format: jsonFormat{path: []string{"hooks"}, root: versionOne(), entry: func(r registration, line string) value {
				return shellEntry(line, "timeoutSec", r.seconds, nil)
			}, commands: []string{"command", "bash", "powershell", "exec"}},
			note: func(s Scope) string {
				note := "VS Code reads this directory as well; its calls are known and answered in its own words"
				if s == Project {
					note += ". Copilot's cloud agent reads it, too, and denies every tool call where the hook program is not there"
				}
				return note
			},
		},
		{
			agent: hookwire.VSCode, owned: true, without: runs, inspect: inspectVSCode,
			user: below(".copilot", "hooks", "grapnel-vscode.json"), project: ".github/hooks/grapnel-vscode.json",
			format: jsonFormat{path: []string{"hooks"}, entry: inSeconds(nothing), commands: []string{"command", "linux", "osx", "windows"}},
			note: func(Scope) string {
				return "Copilot CLI reads this directory as well and runs these hooks"
			},
		},
		{
			agent: hookwire.QwenCode, without: runs, inspect: inspectDisabled("disableAllHooks"),
			user: below(".qwen", "settings.json"), project: ".qwen/settings.json",
			format: jsonFormat{path: []string{"hooks"}, grouped: always, entry: func(r registration, line string) value {
				// Older versions read milliseconds, newer ones take 1000 and more for them.
				return shellEntry(line, "timeout", 1000*r.seconds, nil)
			}, tolerated: []string{"name", "description", "statusMessage"}},
		},
		{
			agent: hookwire.Windsurf, without: runs,
			user: below(".codeium", "windsurf", "hooks.json"), project: ".windsurf/hooks.json",
			format: jsonFormat{path: []string{"hooks"}, entry: func(_ registration, line string) value {
				key := "command"
				if runtime.GOOS == "windows" {
					key = "powershell"
				}
				return value{members: []member{{key, text(line)}}}
			}, commands: []string{"command", "powershell"}, tolerated: []string{"show_output"}},
		},
		{
			agent: hookwire.FactoryDroid, without: runs, inspect: inspectFactoryDroid,
			user: below(".factory", "hooks.json"), project: ".factory/hooks.json",
			format: jsonFormat{grouped: always, entry: inSeconds(nothing)},
		},
		{
			agent: hookwire.Goose, owned: true, rooms: 2, without: "tools are blocked, or, before 1.48, run unchecked",
			user: below(".agents", "plugins", hookName, "hooks", "hooks.json"), project: ".agents/plugins/grapnel/hooks/hooks.json",
			format: jsonFormat{path: []string{"hooks"}, grouped: always, entry: inSeconds(func(r registration) []member {
				if r.event != "PreToolUse" {
					return nil
				}
				return []member{{"on_failure", text("block")}}
			})},
		},
		{
			agent: hookwire.KiroCLI, owned: true, without: runs, inspect: func(in *inspection) {
				if in.Installed() {
					in.note("%s", kiroNote)
				}
			},
			note: func(Scope) string { return kiroNote },
			user: below(".kiro", "hooks", "grapnel.json"), project: ".kiro/hooks/grapnel.json",
			format: jsonFormat{path: []string{"hooks"}, trigger: "trigger", root: []member{{"version", text("v1")}}, commands: []string{"action.command"},
				entry: func(r registration, line string) value {
					return value{members: []member{
						{"name", text(hookName + " " + r.event)}, {"trigger", text(r.event)},
						{"action", value{members: []member{{"type", text("command")}, {"command", text(line)}}}},
						{"timeout", number(r.seconds)}, {"enabled", value{literal: "true"}},
					}}
				}, tolerated: []string{"description"}},
		},
		{
			agent: hookwire.Antigravity, without: blocked, inspect: inspectAntigravity,
			user: below(".gemini", "config", "hooks.json"), project: ".agents/hooks.json",
			format: jsonFormat{path: []string{hookName}, grouped: func(event string) bool { return event == "PreToolUse" || event == "PostToolUse" },
				entry: inSeconds(nothing), others: []string{"enabled"}},
		},
	}
}

const kiroNote = "this is for Kiro CLI 3 and the IDE; version 2 has hooks in each agent's own configuration and does not read the file"

// hookName is what our hooks are called where they have a name.
const hookName = "grapnel"

func always(string) bool { return true }

func versionOne() []member { return []member{{"version", number(1)}} }

func number(n int) value { return value{literal: fmt.Sprint(n)} }

// shellEntry is an entry with a command for a shell, a time-out and more.
func shellEntry(line, timeout string, n int, more []member) value {
	return value{members: append([]member{{"type", text("command")}, {"command", text(line)}, {timeout, number(n)}}, more...)}
}

// inSeconds makes entries whose time-out is in seconds.
func inSeconds(more func(registration) []member) func(registration, string) value {
	return func(r registration, line string) value { return shellEntry(line, "timeout", r.seconds, more(r)) }
}

// onGates adds a member where a hook that fails has to block.
func onGates(name string, v value) func(registration) []member {
	return func(r registration) []member {
		if !r.gate {
			return nil
		}
		return []member{{name, v}}
	}
}
