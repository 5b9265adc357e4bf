package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus"
)

// status is what `grapnel status` shows.
type status struct {
	Health  string    `json:"health"` // "green" or "red"
	Reasons []string  `json:"reasons,omitempty"`
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
	State   string    `json:"state"`
	Hooks   string    `json:"hooks"`
	NATS    string    `json:"nats"`

	RosterRevision uint64    `json:"roster_revision"`
	Deciders       []string  `json:"deciders"`
	PolicyRules    int       `json:"policy_rules"`
	PolicyDigest   string    `json:"policy_digest"`
	AuditRecords   int64     `json:"audit_records"`
	AuditHead      string    `json:"audit_head"`
	Gateway        bus.Stats `json:"gateway"`

	Streams bus.StreamStatus `json:"streams"`
}

func (d *daemon) status(ctx context.Context, conn *bus.Conn) status {
	s := status{
		Health: "green", Version: version(), Since: d.started.UTC(), State: d.paths.state, Hooks: d.paths.socket,
		NATS: withoutPassword(d.broker), PolicyRules: len(d.policy.Policy().Rules()), PolicyDigest: d.policy.Policy().Digest(),
		AuditRecords: d.journal.Size(), Gateway: d.gateway.Stats(),
	}
	if s.NATS == "" {
		s.NATS = "embedded"
	}
	checkpoint := d.journal.Checkpoint()
	s.AuditHead = fmt.Sprintf("%d %s", checkpoint.Size, checkpoint.Root)
	entries, revision := d.roster.Entries()
	s.RosterRevision = revision
	for _, e := range entries {
		s.Deciders = append(s.Deciders, e.Entry.Name)
	}
	var streams error
	s.Streams, streams = conn.Streams(ctx)
	for _, part := range []struct {
		what string
		err  error
	}{{"policy", d.policy.Health()}, {"audit log", d.journal.Health()}, {"broker", streams}} {
		if part.err != nil {
			s.Health = "red"
			s.Reasons = append(s.Reasons, part.what+": "+part.err.Error())
		}
	}
	return s
}

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Is it up, since when, and is it well", Args: cobra.NoArgs,
		Long: "Show the running bus: version, roster, audit head, counters and health with\nreasons. Exits with 3 when the health is red, with 4 when nothing runs.",
		RunE: func(c *cobra.Command, _ []string) error {
			var s status
			if err := a.ask(c.Context(), verbStatus, nil, &s); err != nil {
				return err
			}
			if a.json {
				if err := a.printJSON(s); err != nil {
					return err
				}
			} else {
				a.printStatus(s)
			}
			if s.Health != "green" {
				return silent(exitFound)
			}
			return nil
		},
	}
}

func (a *app) printStatus(s status) {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	defer func() { _ = w.Flush() }()
	row := func(name, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	row("health", "%s", s.Health)
	for _, r := range s.Reasons {
		row("", "%s", r)
	}
	row("up", "since %s (%s), version %s", s.Since.Local().Format(time.DateTime), time.Since(s.Since).Round(time.Second), s.Version)
	row("state", "%s", s.State)
	row("hooks", "%s", s.Hooks)
	row("nats", "%s", s.NATS)
	row("roster", "revision %d: %v", s.RosterRevision, s.Deciders)
	row("policy", "%d rules, %.12s", s.PolicyRules, s.PolicyDigest)
	row("audit", "%d records, head %s", s.AuditRecords, s.AuditHead)
	v := s.Gateway.Verdicts
	row("verdicts", "%d abstain, %d allow, %d ask, %d deny, %d halt; p50 under %d µs, p99 under %d µs",
		v["abstain"], v["allow"], v["ask"], v["deny"], v["halt"], s.Gateway.P50, s.Gateway.P99)
	row("stream", "%s: %d events, %d bytes", s.Streams.Name, s.Streams.Messages, s.Streams.Bytes)
	for _, h := range s.Streams.Handlers {
		row("", "handler %s: %d pending, %d under way, %d redelivered", h.Name, h.Pending, h.Unacknowledged, h.Redelivered)
	}
	row("events", "%d notifications, %d repeated, %d refused, %d overloaded, %d unrecorded",
		s.Gateway.Notifications, s.Gateway.Repeated, s.Gateway.Refused, s.Gateway.Overloaded, s.Gateway.Unrecorded)
}

// version is the program's, from what the Go tool built in.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			v := map[string]string{"version": version()}
			if info != nil {
				v["go"] = info.GoVersion
				for _, dep := range info.Deps {
					if dep.Path == "github.com/nats-io/nats-server/v2" {
						v["nats-server"] = dep.Version
					}
				}
			}
			if a.json {
				return a.printJSON(v)
			}
			fmt.Fprintf(a.out, "grapnel %s (%s, nats-server %s)\n", v["version"], v["go"], v["nats-server"])
			return nil
		},
	}
}
