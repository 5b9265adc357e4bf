package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) upCommand() *cobra.Command {
	d := new(daemon)
	optional := false
	c := &cobra.Command{
		Use:   "up",
		Short: "Run the bus",
		Long: `Run the bus: gateway, policy, hook commands, audit log and hook socket, on a NATS
server inside this process, or with --nats on one of your own (deploy/nats holds
its configuration; the passwords of its users are read from
GRAPNEL_<USER>_PASSWORD). Prints where everything is, then "ready". SIGTERM and
Ctrl-C finish what is under way and stop; SIGHUP reads the policy anew.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			log, err := a.logger(a.err)
			if err != nil {
				return err
			}
			privateFiles()
			a.paths.configGiven = a.paths.configGiven && !optional
			d.paths, d.log = a.paths, log
			return a.up(c.Context(), d)
		},
	}
	c.Flags().StringVar(&d.broker, "nats", "", "`URL` of a NATS server of your own; nothing is embedded then")
	c.Flags().StringVar(&d.listen, "nats-listen", "", "loopback `address` on which the embedded server takes NATS clients")
	c.Flags().StringVar(&d.http, "http", "", "loopback `address` on which agents may post their hooks, and programs CloudEvents")
	c.MarkFlagsMutuallyExclusive("nats", "nats-listen")
	c.Flags().BoolVar(&optional, "config-optional", false, "the file named with --config need not exist")
	return c
}

func (a *app) up(ctx context.Context, d *daemon) error {
	begin := time.Now()
	if err := d.start(ctx); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "state   %s\n", d.paths.state)
	fmt.Fprintf(a.out, "hooks   %s\n", d.paths.socket)
	switch {
	case d.broker != "":
		fmt.Fprintf(a.out, "nats    %s\n", withoutPassword(d.broker))
	case d.access.URL != "":
		fmt.Fprintf(a.out, "nats    %s and %s\n", d.access.URL, d.access.Socket)
	default:
		fmt.Fprintf(a.out, "nats    %s (listens on no port)\n", d.access.Socket)
	}
	if d.access.HTTP != "" {
		fmt.Fprintf(a.out, "http    %s, token in %s\n", d.access.HTTP, d.paths.httpToken())
	}
	fmt.Fprintf(a.out, "audit   %s, %d records\n", d.paths.auditDir(), d.journal.Size())
	fmt.Fprintf(a.out, "policy  %d rules, %d hook commands\n", len(d.policy.Policy().Rules()), len(d.hooks))
	if len(d.sets) > 0 {
		names := make([]string, len(d.sets))
		for i, s := range d.sets {
			names[i] = s.Dialect().Name
		}
		fmt.Fprintf(a.out, "hooks of %s\n", strings.Join(names, ", "))
	}
	fmt.Fprintf(a.out, "ready   after %d ms\n", time.Since(begin).Milliseconds())

	reload := make(chan os.Signal, 1)
	signal.Notify(reload, hangup())
	defer signal.Stop(reload)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		for {
			select {
			case <-reload:
				if err := d.reload(ctx); err != nil {
					d.log.Error("daemon: the policy was not reloaded; the last good one stays", "error", err)
				}
			case <-ctx.Done():
				return
			case <-d.down:
				return
			}
		}
	}()
	err := d.wait(ctx)
	d.once.Do(func() { close(d.down) })
	<-watching
	d.stop()
	d.access.remove(d.paths)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, "stopped")
	return nil
}
