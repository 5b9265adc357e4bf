package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// filterFlags select records.
type filterFlags struct {
	since, until, kind string
	f                  audit.Filter
}

func (f *filterFlags) add(c *cobra.Command, limit int) {
	c.Flags().StringVar(&f.since, "since", "", "from this `time` on: RFC 3339, or a duration back such as 2h")
	c.Flags().StringVar(&f.until, "until", "", "before this `time`")
	c.Flags().StringVar(&f.kind, "kind", "", "only this `kind`: verdict, notification, late, refused, fallback, redaction, recovered")
	c.Flags().StringVar(&f.f.Session, "session", "", "only this session `id`, and those started from it")
	c.Flags().StringVar(&f.f.Agent, "agent", "", "only this agent's `name`")
	c.Flags().StringVar(&f.f.Event, "event", "", "only this canonical event `name`")
	c.Flags().StringVar(&f.f.Effect, "effect", "", "only verdicts with this `effect`")
	c.Flags().StringVar(&f.f.Tool, "tool", "", "only this `tool`")
	c.Flags().StringVar(&f.f.EventID, "event-id", "", "only this event's `id`")
	c.Flags().IntVarP(&f.f.Limit, "limit", "n", limit, "at most this many; 0 means all")
}

func (f *filterFlags) filter() (audit.Filter, error) {
	kinds := []hook.RecordKind{"", hook.RecordVerdict, hook.RecordNotification, hook.RecordLate, hook.RecordRefused, hook.RecordFallback, audit.Redaction, audit.Recovered}
	f.f.Kind = hook.RecordKind(f.kind)
	if !slices.Contains(kinds, f.f.Kind) {
		return f.f, fail(exitUsage, fmt.Sprintf("it is one of %v", kinds[1:]), fmt.Errorf("there is no kind of record %.40q", f.kind))
	}
	var err error
	if f.f.Effect != "" {
		if err = new(hook.Effect).UnmarshalText([]byte(f.f.Effect)); err != nil {
			return f.f, fail(exitUsage, "`grapnel audit stats` shows what there is", err)
		}
	}
	if name := hook.Name(f.f.Event); f.f.Event != "" && !name.Known() {
		return f.f, fail(exitUsage, "`grapnel agents` lists the events", fmt.Errorf("there is no event %.60q", name))
	}
	if f.f.Limit < 0 {
		return f.f, fail(exitUsage, "0 means all", fmt.Errorf("a limit of %d records", f.f.Limit))
	}
	if f.f.Since, err = parseTime(f.since); err != nil {
		return f.f, err
	}
	f.f.Until, err = parseTime(f.until)
	return f.f, err
}

func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return time.Now().Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fail(exitUsage, "write it as 2026-11-20, 2026-11-20T15:04:05Z, or 2h for two hours ago", fmt.Errorf("time %.40q is not understood", text))
}

func (a *app) auditListCommand() *cobra.Command {
	var f filterFlags
	c := &cobra.Command{
		Use: "list", Short: "List records, the newest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.listRecords(c, &f) },
	}
	f.add(c, 20)
	return c
}

func (a *app) auditSearchCommand() *cobra.Command {
	var f filterFlags
	c := &cobra.Command{
		Use: "search TEXT", Short: "List records with a text in them, the newest first", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.f.Text = args[0]
			return a.listRecords(c, &f)
		},
	}
	f.add(c, 50)
	return c
}

func (a *app) listRecords(c *cobra.Command, f *filterFlags) error {
	filter, err := f.filter()
	if err != nil {
		return err
	}
	r, err := a.openAudit()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	for record, err := range r.Search(c.Context(), filter) {
		if err != nil {
			return err
		}
		if a.json {
			line, err := json.Marshal(shownRecord(record))
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s\n", line)
			continue
		}
		fmt.Fprintf(a.out, "%6d  %s  %-12s %-8s %-28s %-12.12s %s\n", record.Index, record.Logged.Local().Format(time.DateTime),
			record.Kind, record.Effect, oneLine(eventOf(record.Envelope), 28), oneLine(record.Session, 12), oneLine(whatOf(record), 90))
	}
	return nil
}

func eventOf(e audit.Envelope) string {
	if e.Subject == "" {
		return e.Event
	}
	return e.Event + " " + e.Subject
}

// whatOf is what a record is about, for one line.
func whatOf(r audit.Record) string {
	if r.Redacted {
		return "(redacted)"
	}
	if r.Payload.Note != "" {
		return r.Payload.Note
	}
	var e struct {
		Data struct {
			Tool struct {
				Input json.RawMessage `json:"input"`
			} `json:"tool"`
			Prompt   string         `json:"prompt"`
			Message  string         `json:"message"`
			Subagent *hook.Subagent `json:"subagent"`
		} `json:"data"`
	}
	if json.Unmarshal(r.Payload.Event, &e) != nil {
		return ""
	}
	what := strings.TrimSpace(e.Data.Prompt + " " + e.Data.Message)
	if e.Data.Tool.Input != nil {
		what = string(e.Data.Tool.Input)
	}
	return bySubagent(e.Data.Subagent, what)
}

// bySubagent says which sub-agent did it, if one did.
func bySubagent(s *hook.Subagent, what string) string {
	if s == nil {
		return what
	}
	return "[" + strings.TrimSpace(s.Type+" "+s.ID) + "] " + what
}

// record is the JSON form of one.
type record struct {
	audit.Envelope
	Redacted bool           `json:"redacted,omitempty"`
	Content  *audit.Payload `json:"content,omitempty"`
}

func shownRecord(r audit.Record) record {
	shown := record{Envelope: r.Envelope, Redacted: r.Redacted}
	if !r.Redacted {
		shown.Content = &r.Payload
	}
	return shown
}

func (a *app) auditShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show INDEX", Short: "Show one record whole", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			index, err := parseIndex(args[0])
			if err != nil {
				return err
			}
			r, err := a.openAudit()
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }()
			record, err := r.Record(index)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(shownRecord(record))
			}
			a.printEnvelope(record.Envelope)
			if record.Redacted {
				fmt.Fprintln(a.out, "content   (redacted)")
				return nil
			}
			return a.printJSON(record.Payload)
		},
	}
}

func (a *app) printEnvelope(e audit.Envelope) {
	row := func(name string, format string, args ...any) {
		fmt.Fprintf(a.out, "%-9s %s\n", name, oneLine(fmt.Sprintf(format, args...), 300))
	}
	row("record", "%d, %s, %s", e.Index, e.Kind, e.Logged.Format(time.RFC3339Nano))
	row("event", "%s %s (%s)", e.Event, e.Subject, e.EventID)
	row("from", "%s %s session %s", e.Source, e.Caller, e.Session)
	if e.ParentSession != "" {
		row("parent", "session %s", e.ParentSession)
	}
	if e.RootSession != "" {
		row("root", "session %s", e.RootSession)
	}
	if e.Effect != "" {
		row("verdict", "%s %v", e.Effect, e.Rules)
	}
	for _, d := range e.Deciders {
		row("decider", "%s %s %s after %d µs", d.Name, d.Outcome, d.Effect, d.ElapsedUS)
	}
}

func (a *app) auditStatsCommand() *cobra.Command {
	since := ""
	c := &cobra.Command{
		Use: "stats", Short: "Count records by kind, effect, event, agent, tool", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			from, err := parseTime(since)
			if err != nil {
				return err
			}
			r, err := a.openAudit()
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }()
			s, err := r.Stats(c.Context(), from)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(s)
			}
			fmt.Fprintf(a.out, "%d records\n", s.Records)
			for _, group := range []struct {
				name   string
				counts map[string]int64
			}{{"kind", s.Kinds}, {"effect", s.Effects}, {"event", s.Events}, {"agent", s.Agents}, {"tool", s.Tools}} {
				for _, key := range sortedKeys(group.counts) {
					fmt.Fprintf(a.out, "%-8s %-32s %d\n", group.name, oneLine(key, 32), group.counts[key])
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&since, "since", "", "from this `time` on: RFC 3339, or a duration back such as 2h")
	return c
}

func (a *app) auditExportCommand() *cobra.Command {
	var f filterFlags
	format := ""
	c := &cobra.Command{
		Use: "export", Short: "Write records for other systems, the oldest first", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			filter, err := f.filter()
			if err != nil {
				return err
			}
			r, err := a.openAudit()
			if err != nil {
				return err
			}
			defer func() { _ = r.Close() }()
			n, err := r.Export(c.Context(), a.out, audit.Format(format), filter)
			if err != nil {
				return fail(exitUsage, fmt.Sprintf("formats: %v", audit.Formats()), err)
			}
			fmt.Fprintf(a.err, "%d records\n", n)
			return nil
		},
	}
	f.add(c, 0)
	c.Flags().StringVar(&format, "format", string(audit.NDJSON), fmt.Sprintf("one of %v", audit.Formats()))
	return c
}
