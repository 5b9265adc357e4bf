package claudecode

import (
	"fmt"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// feed makes what a run gets. Standard input ends with a newline, as Claude
// Code's does: a shell's read wants one.
func feed(h dialect.Hook, c *dialect.Call) (dialect.Feed, error) {
	stdin, err := payload(c)
	if err != nil {
		return dialect.Feed{}, err
	}
	f := dialect.Feed{Shell: h.Shell, Stdin: append(stdin, '\n')}
	const project = "${CLAUDE_PROJECT_DIR}"
	for _, word := range h.Command {
		if c.Workspace == "" && strings.Contains(word, project) {
			return dialect.Feed{}, fmt.Errorf("%w: the command names %s, and the event has no workspace", dialect.ErrFeed, project)
		}
		f.Command = append(f.Command, strings.ReplaceAll(word, project, c.Workspace))
	}
	if c.Workspace != "" {
		f.Env = append(f.Env, "CLAUDE_PROJECT_DIR="+c.Workspace)
	}
	if root := pluginRoot(h); root != "" {
		f.Env = append(f.Env, "CLAUDE_PLUGIN_ROOT="+root)
	}
	if level := effort(c); level != "" {
		f.Env = append(f.Env, "CLAUDE_EFFORT="+level)
	}
	return f, nil
}

// effort is Claude Code's own word for how hard the model tries.
func effort(c *dialect.Call) string {
	n := c.Event.Data.Native
	if n.Agent != Agent {
		return ""
	}
	var p struct {
		Effort struct {
			Level string `json:"level"`
		} `json:"effort"`
	}
	if strictjson.UnmarshalOpen(n.Payload, &p, 0) != nil {
		return ""
	}
	return p.Effort.Level
}
