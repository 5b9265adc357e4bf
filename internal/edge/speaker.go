package edge

import (
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/antigravity"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode"
	"github.com/grapnel-dev/grapnel/internal/edge/cline"
	"github.com/grapnel-dev/grapnel/internal/edge/codex"
	"github.com/grapnel-dev/grapnel/internal/edge/copilot"
	"github.com/grapnel-dev/grapnel/internal/edge/cursor"
	"github.com/grapnel-dev/grapnel/internal/edge/factorydroid"
	"github.com/grapnel-dev/grapnel/internal/edge/geminicli"
	"github.com/grapnel-dev/grapnel/internal/edge/goose"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/kimicode"
	"github.com/grapnel-dev/grapnel/internal/edge/kirocli"
	"github.com/grapnel-dev/grapnel/internal/edge/opencode"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/edge/qwencode"
	"github.com/grapnel-dev/grapnel/internal/edge/vscode"
	"github.com/grapnel-dev/grapnel/internal/edge/windsurf"
)

// speaker is one agent's protocol.
type speaker struct {
	// Event reads a call.
	Event func(protocol.Call) (hook.Event, error)
	// Refuse answers a call that Event would not take.
	Refuse func(protocol.Call, error) protocol.Answer
	// Answer says a verdict on an event that Event read.
	Answer func(e hook.Event, v hook.Verdict) protocol.Answer
	// Capabilities lists what the agent can be made to do.
	Capabilities func() []protocol.Capability
	// About is what else there is to know of the agent.
	About About
}

func speaks(a *protocol.Agent) speaker {
	return speaker{Event: a.Event, Refuse: a.Refuse, Answer: a.AnswerTo, Capabilities: a.Capabilities, About: About{a.Title, a.Manner, a.Quirks}}
}

// speakers finds an agent's protocol by its name on the command line.
func speakers(agent string) (speaker, bool) {
	switch agent {
	case hookwire.ClaudeCode:
		answer := func(e hook.Event, v hook.Verdict) protocol.Answer { return claudecode.Answer(e.Data.Native.Event, v) }
		return speaker{Event: claudecode.Event, Refuse: claudecode.Refuse, Answer: answer, Capabilities: claudecode.Capabilities, About: claudeCode()}, true
	case hookwire.Codex:
		return speaks(codex.New()), true
	case hookwire.GeminiCLI:
		return speaks(geminicli.New()), true
	case hookwire.Cursor:
		return speaks(cursor.New()), true
	case hookwire.Copilot:
		return speaks(copilot.New()), true
	case hookwire.VSCode:
		return speaks(vscode.New()), true
	case hookwire.QwenCode:
		return speaks(qwencode.New()), true
	case hookwire.OpenCode:
		return speaks(opencode.New()), true
	case hookwire.Windsurf:
		return speaks(windsurf.New()), true
	case hookwire.Cline:
		return speaks(cline.New()), true
	case hookwire.FactoryDroid:
		return speaks(factorydroid.New()), true
	case hookwire.Goose:
		return speaks(goose.New()), true
	case hookwire.KimiCode:
		return speaks(kimicode.New()), true
	case hookwire.KiroCLI:
		return speaks(kirocli.New()), true
	case hookwire.Antigravity:
		return speaks(antigravity.New()), true
	}
	return speaker{}, false
}

// Agents lists the agents that the edge knows, by their name on the command
// line.
func Agents() []string {
	return []string{
		hookwire.ClaudeCode, hookwire.Codex, hookwire.GeminiCLI, hookwire.Cursor, hookwire.Copilot, hookwire.VSCode, hookwire.QwenCode, hookwire.OpenCode,
		hookwire.Windsurf, hookwire.Cline, hookwire.FactoryDroid, hookwire.Goose, hookwire.KimiCode, hookwire.KiroCLI, hookwire.Antigravity,
	}
}

// About is what there is to know of an agent as a whole.
type About struct {
	// Title is what people call it.
	Title string `json:"title"`
	// Manner is how it runs hooks.
	Manner protocol.Manner `json:"manner"`
	// Quirks are what its users should know, each with its source.
	Quirks []string `json:"quirks"`
}

// Describe returns what there is to know of an agent; nothing for one that the
// edge does not know.
func Describe(agent string) About {
	s, _ := speakers(agent)
	return s.About
}

func claudeCode() About {
	return About{
		Title: "Claude Code",
		Manner: protocol.Manner{
			Order:    "at the same time; the same command in two places runs once",
			Failure:  "it runs; since 2.1.295 our entries' onFailure is honoured, with which it does not",
			Unit:     "seconds",
			Evidence: protocol.Seen,
		},
		Quirks: []string{
			"a line of text before the JSON loses the whole answer, and the tool runs (seen, 2.1.329)",
			"an answer that names another event is dropped (seen)",
			"headless sessions ask nobody: an ask is then a denial (seen)",
			"settings of a project are read only once the folder is trusted, but not with -p (hooks reference)",
			"hooks get CLAUDE_CODE_MESSAGING_TOKEN in their environment, which grapnel-hook never passes on (seen)",
		},
	}
}

// Capability is what an agent can be made to do on one of its events.
type Capability = protocol.Capability

// Capabilities lists what the agents can be made to do, one entry an event.
func Capabilities() []Capability {
	var list []Capability
	for _, name := range Agents() {
		if s, ok := speakers(name); ok {
			list = append(list, s.Capabilities()...)
		}
	}
	return list
}
