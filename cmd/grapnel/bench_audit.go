package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

func (a *app) benchAuditCommand() *cobra.Command {
	n := 20000
	c := &cobra.Command{
		Use:   "audit",
		Short: "Verdicts on record",
		Long: `Two things: one record appended, beside writing and syncing as many bytes to a
file; and verdicts per second with policy and record on disk, from 64 callers,
beside plain NATS request-reply from 64 callers.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			a.measuring(fmt.Sprint(n) + " verdicts")
			dir, err := os.MkdirTemp("", "grapnel-bench-")
			if err != nil {
				return err
			}
			defer func() { _ = os.RemoveAll(dir) }()
			d, err := startTemporary(c.Context(), dir)
			if err != nil {
				return err
			}
			defer d.stop()
			one, err := benchAppend(c.Context(), d, dir, max(n/40, 100))
			if err != nil {
				return err
			}
			if err := a.printComparisons([]*comparison{one}); err != nil {
				return err
			}
			r, err := benchVerdicts(c.Context(), d, n)
			if err != nil {
				return err
			}
			return a.printRates([]rate{r})
		},
	}
	c.Flags().IntVarP(&n, "events", "n", n, "how many verdicts")
	return c
}

func benchAppend(ctx context.Context, d *daemon, dir string, n int) (*comparison, error) {
	c := &comparison{Yardstick: series{Name: "write and sync 2 KiB to a file"}, Measured: series{Name: "append one record"}}
	f, err := os.Create(filepath.Join(dir, "yardstick"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	e := shellEvent("go test ./...")
	e.Data.Native = hook.Native{Agent: "bench", Event: "PreToolUse", Payload: padding(700)}
	block := make([]byte, 2048)
	for i := range n {
		begin := time.Now()
		if _, err := f.Write(block); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		c.Yardstick.add(time.Since(begin))
		e.ID = fmt.Sprintf("append-%d", i)
		begin = time.Now()
		if _, err := d.journal.Append(ctx, hook.Record{Kind: hook.RecordVerdict, Time: begin, Event: e, Verdict: &hook.Verdict{EventID: e.ID}}); err != nil {
			return nil, err
		}
		c.Measured.add(time.Since(begin))
	}
	return c, nil
}

func benchVerdicts(ctx context.Context, d *daemon, n int) (rate, error) {
	r := rate{Yardstick: "plain NATS request-reply, 64 callers", Measured: "verdicts with policy and record, 64 callers", Target: 0.2}
	agent, err := d.connect(ctx, natsd.Agent, "bench")
	if err != nil {
		return r, err
	}
	defer agent.Close()
	options := d.access.options(natsd.Gateway, "", d.log)
	plain := func() (*nats.Conn, error) {
		return nats.Connect("", nats.InProcessServer(inProcess(options.Dial)), nats.UserInfo(options.User, options.Password),
			nats.CustomInboxPrefix("_INBOX_"+options.User))
	}
	responder, err := plain()
	if err != nil {
		return r, err
	}
	defer responder.Close()
	if _, err := responder.Subscribe("bench.echo", func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil {
		return r, err
	}
	if err := responder.Flush(); err != nil {
		return r, err
	}
	requester, err := plain()
	if err != nil {
		return r, err
	}
	defer requester.Close()
	e := shellEvent("go test ./... && git status")
	e.Data.Native = hook.Native{Agent: "bench", Event: "PreToolUse", Payload: padding(700)}
	const slices = 10
	var yard, ours time.Duration
	for slice := range slices {
		begin := time.Now()
		if err := callers(64, n/slices, func(int) error {
			_, err := requester.Request("bench.echo", e.Data.Native.Payload, 5*time.Second)
			return err
		}); err != nil {
			return r, err
		}
		yard += time.Since(begin)
		begin = time.Now()
		if err := callers(64, n/slices, func(i int) error {
			mine := e
			mine.ID = fmt.Sprintf("v-%d-%d", slice, i)
			bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			v, err := agent.Request(bounded, mine)
			if err == nil && v.Record == nil {
				err = fmt.Errorf("a verdict came without a record: %s", v.Reason)
			}
			return err
		}); err != nil {
			return r, err
		}
		ours += time.Since(begin)
	}
	total := float64(n / slices * slices)
	r.YardRate, r.Rate = total/yard.Seconds(), total/ours.Seconds()
	return r, nil
}
