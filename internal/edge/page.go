package edge

import (
	"fmt"
	"strings"
	"time"
)

// Page is the documentation of all agents, in Markdown: what a hook can do on
// each of their events, and what their users should know.
func Page() string {
	var b strings.Builder
	b.WriteString("# Agents\n\n" +
		"Written by the program itself from the tables that it answers by: `grapnel agents --markdown`.\n\n" +
		"**Block**: a deny keeps it from happening. **Ask**: the person can be asked; elsewhere an ask is a deny. **Grant**: an\n" +
		"allow skips the agent's own question. **Rewrite**: the tool's input can be changed; elsewhere a change is a deny. **Add**:\n" +
		"text can be added to the model's context. **Continue**: a deny makes the agent carry on. **Halt**: the session or turn can be\n" +
		"ended. **Time-out**: the agent's own when its settings say nothing. **Known**: seen on a real agent, or from its\n" +
		"documentation. An event in *italics* is not registered by our installer; the note says why.\n")
	for _, name := range Agents() {
		s, ok := speakers(name)
		if !ok {
			continue
		}
		m := s.About.Manner
		fmt.Fprintf(&b, "\n## %s (`%s`)\n\n", s.About.Title, name)
		fmt.Fprintf(&b, "Hooks of one event run: %s. A tool call whose hook fails: %s. Time-outs in its settings: %s. (%s)\n\n", m.Order, m.Failure, m.Unit, m.Evidence)
		b.WriteString("| event | canonical | class | block | ask | grant | rewrite | add | continue | halt | time-out | known |\n")
		b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
		var notes []string
		for _, c := range s.Capabilities() {
			event := "`" + c.Event + "`"
			if !c.Installed {
				event = "*" + event + "*"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", event, c.Canonical, c.Class,
				tick(c.Block), tick(c.Ask), tick(c.Grant), tick(c.Rewrite), tick(c.Context), tick(c.Continue), tick(c.Halt), timeout(c.TimeoutMS), c.Evidence)
			if c.Note != "" {
				notes = append(notes, event+": "+c.Note)
			}
		}
		for _, note := range append(notes, s.About.Quirks...) {
			fmt.Fprintf(&b, "\n- %s", note)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func tick(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

func timeout(ms int64) string {
	if ms == 0 {
		return "none known"
	}
	return (time.Duration(ms) * time.Millisecond).String()
}
