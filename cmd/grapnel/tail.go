package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// tailFlags say which events to show.
type tailFlags struct {
	session, agent, effect string
	count                  int
	// run is the session with those that were started from it, as far as they
	// have been seen.
	run map[string]bool
}

func (a *app) tailCommand() *cobra.Command {
	var f tailFlags
	c := &cobra.Command{
		Use:     "tail [FILTER]",
		Short:   "Follow events and verdicts as they happen",
		Long:    "Follow events and verdicts as they happen, one line each, secrets removed.\nFILTER is an event pattern: pre_tool_use.bash, '*.bash', stop.",
		Example: "  grapnel tail 'pre_tool_use.*' --effect deny",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			pattern, err := hook.ParsePattern(strings.Join(args, ""))
			if err != nil {
				return fail(exitUsage, "`grapnel agents` lists the events", err)
			}
			if f.effect != "" {
				if err := new(hook.Effect).UnmarshalText([]byte(f.effect)); err != nil {
					return fail(exitUsage, "", err)
				}
			}
			conn, err := a.client(c.Context(), natsd.Watcher)
			if err != nil {
				return err
			}
			defer conn.Close()
			seen, err := conn.Watch(c.Context(), pattern)
			if err != nil {
				return err
			}
			shown := 0
			f.run = map[string]bool{f.session: true}
			for o, err := range seen {
				if err != nil {
					return fail(exitUnreachable, "the bus has stopped", err)
				}
				if !f.wants(o) {
					continue
				}
				if err := a.show(o); err != nil {
					return err
				}
				if shown++; f.count > 0 && shown == f.count {
					return nil
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&f.session, "session", "", "only this session `id`, and those started from it")
	c.Flags().StringVar(&f.agent, "agent", "", "only this agent's `name`")
	c.Flags().StringVar(&f.effect, "effect", "", "only verdicts with this `effect`")
	c.Flags().IntVarP(&f.count, "count", "n", 0, "end after this many events")
	return c
}

func (f tailFlags) wants(o bus.Observation) bool {
	switch {
	case f.session != "" && !f.inRun(o.Event),
		f.agent != "" && o.Event.Data.Native.Agent != f.agent && !strings.HasSuffix(o.Event.Source, "/"+f.agent),
		f.effect != "" && (o.Verdict == nil || o.Verdict.Effect.String() != f.effect):
		return false
	}
	return true
}

// inRun reports whether e is of the session or one that was started from it, and
// remembers the latter: not every event of a session says where it comes from.
func (f tailFlags) inRun(e hook.Event) bool {
	if f.run[e.SessionID] {
		return true
	}
	from := f.run[e.ParentSession()] || f.run[e.RootSession()]
	if from && e.SessionID != "" {
		f.run[e.SessionID] = true
	}
	return from
}

func (a *app) show(o bus.Observation) error {
	if a.json {
		line, err := json.Marshal(o)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.out, "%s\n", line)
		return err
	}
	effect, why := "-", ""
	if o.Verdict != nil {
		effect = o.Verdict.Effect.String()
		why, _, _ = strings.Cut(o.Verdict.Reason, "\n")
	}
	what := ""
	if t := o.Event.Data.Tool; t != nil {
		what = string(t.Input)
	} else if o.Event.Data.Prompt != "" {
		what = o.Event.Data.Prompt
	}
	what = bySubagent(o.Event.Data.Subagent, what)
	_, err := fmt.Fprintf(a.out, "%s  %s %-24s %-12.12s %s  %s\n", o.Event.Time.Local().Format(time.TimeOnly), a.paint(effect, 8),
		oneLine(o.Event.Key(), 60), oneLine(o.Event.SessionID, 12), oneLine(what, 100), oneLine(why, 160))
	return err
}
