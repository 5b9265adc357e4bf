package dialects

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Table says which names the dialects have for what, and what they cannot
// express, as text for people. The package documentation has it.
func Table(all []*dialect.Dialect) string {
	var out strings.Builder
	section := func(title, key string, rows func(write func(cells ...string))) {
		fmt.Fprintf(&out, "%s\n\n", title)
		w := tabwriter.NewWriter(&out, 0, 4, 2, ' ', 0)
		header := []string{key}
		for _, d := range all {
			header = append(header, d.Name)
		}
		fmt.Fprintln(w, strings.Join(header, "\t"))
		rows(func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) })
		w.Flush()
		fmt.Fprintln(&out)
	}
	section("Events; ! marks those that hooks can block there, - that the dialect has no name for it:", "event", func(write func(...string)) {
		for _, n := range hook.Names() {
			cells, any := []string{string(n)}, false
			for _, d := range all {
				e, ok := d.Vocabulary.Event(n)
				switch {
				case !ok:
					cells = append(cells, "-")
					continue
				case e.Blocks:
					e.Name += "!"
				}
				any = true
				cells = append(cells, e.Name)
			}
			if any {
				write(cells...)
			}
		}
	})
	section("Tools, as hooks see those of other agents; * is the agent's own name:", "tool", func(write func(...string)) {
		for _, t := range dialect.Tools() {
			cells := []string{string(t)}
			for _, d := range all {
				i := slices.IndexFunc(d.Vocabulary.Tools, func(n dialect.ToolName) bool { return n.Tool == t })
				switch {
				case i >= 0:
					cells = append(cells, d.Vocabulary.Tools[i].Name)
				case t == dialect.ToolMCP && d.Vocabulary.MCP:
					cells = append(cells, "mcp__server__tool")
				default:
					cells = append(cells, "*")
				}
			}
			write(cells...)
		}
	})
	section("What there is:", "", func(write func(...string)) {
		row := func(what string, has func(*dialect.Dialect) string) {
			cells := []string{what}
			for _, d := range all {
				cells = append(cells, has(d))
			}
			write(cells...)
		}
		row("hooks run", func(d *dialect.Dialect) string {
			if d.Parallel {
				return "at once"
			}
			return "in order"
		})
		row("time-out", func(d *dialect.Dialect) string { return d.Timeout.String() })
		row("rewrites input", func(d *dialect.Dialect) string { return yes(d.Rewrites) })
		row("skips the question", func(d *dialect.Dialect) string { return yes(d.Grants) })
		row("same hook once", func(d *dialect.Dialect) string { return yes(d.Distinct) })
	})
	section("What it cannot express, of the events that block elsewhere:", "", func(write func(...string)) {
		row := []string{"events without a name"}
		for _, d := range all {
			missing := 0
			for _, n := range hook.Names() {
				if _, ok := d.Vocabulary.Event(n); !ok && n.Blocking() {
					missing++
				}
			}
			row = append(row, fmt.Sprint(missing))
		}
		write(row...)
	})
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func yes(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}
