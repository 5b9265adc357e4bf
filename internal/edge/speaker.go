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
	// Title is what people call the agent, Quirks what its users should know.
	Title  string
	Quirks []string
}

func speaks(a *protocol.Agent) speaker {
	return speaker{Event: a.Event, Refuse: a.Refuse, Answer: a.AnswerTo, Capabilities: a.Capabilities, Title: a.Title, Quirks: a.Quirks}
}

// speakers finds an agent's protocol by its name on the command line.
func speakers(agent string) (speaker, bool) {
	switch agent {
	case hookwire.ClaudeCode:
		answer := func(e hook.Event, v hook.Verdict) protocol.Answer { return claudecode.Answer(e.Data.Native.Event, v) }
		return speaker{Event: claudecode.Event, Refuse: claudecode.Refuse, Answer: answer, Capabilities: claudecode.Capabilities, Title: "Claude Code"}, true
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

// Describe returns what people call an agent and what its users should know,
// each with its source; nothing for an agent that the edge does not know.
func Describe(agent string) (title string, quirks []string) {
	s, _ := speakers(agent)
	return s.Title, s.Quirks
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
