package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

func (a *app) benchGatherCommand() *cobra.Command {
	n := 2000
	c := &cobra.Command{
		Use:   "gather",
		Short: "The gateway with 1, 4 and 16 deciders",
		Long: `Gather decisions from 1, 4 and 16 deciders, each on a connection of its own,
interleaved with as many plain NATS requests on one shared inbox. The first row
has the same responders on both sides, plain NATS ones, so that the difference is
the gateway alone; the second has deciders in Go, which read the event strictly;
the third is an agent's whole request to those. Nothing is recorded here; see
bench audit.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var list []*comparison
			for _, deciders := range []int{1, 4, 16} {
				a.measuring(fmt.Sprint(deciders) + " deciders, " + fmt.Sprint(n) + " runs")
				g, err := newGatherBench(c.Context(), deciders)
				if err != nil {
					return err
				}
				pair, err := g.run(c.Context(), n)
				g.close()
				if err != nil {
					return err
				}
				list = append(list, pair...)
			}
			return a.printComparisons(list)
		},
	}
	c.Flags().IntVarP(&n, "runs", "n", n, "how often to gather")
	return c
}

// gatherBench is a bus with some deciders, and as many plain responders.
type gatherBench struct {
	deciders int
	gateway  *bus.Gateway
	agent    *bus.Conn
	plain    *nats.Conn
	inbox    *nats.Subscription
	prefix   string
	header   nats.Header
	body     []byte
	event    hook.Event
	closers  []func()
}

func (g *gatherBench) close() {
	for i := len(g.closers) - 1; i >= 0; i-- {
		g.closers[i]()
	}
}

func newGatherBench(ctx context.Context, deciders int) (g *gatherBench, err error) {
	g = &gatherBench{deciders: deciders}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	dir, err := os.MkdirTemp("", "grapnel-bench-")
	if err != nil {
		return nil, err
	}
	g.closers = append(g.closers, func() { _ = os.RemoveAll(dir) })
	server, err := natsd.Start(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	g.closers = append(g.closers, server.Close)
	connect := func(r natsd.Role) (*bus.Conn, error) {
		c, err := server.Connect(ctx, r, bus.ConnectOptions{Name: "bench"})
		if err == nil {
			g.closers = append(g.closers, c.Close)
		}
		return c, err
	}
	control, err := connect(natsd.Gateway)
	if err != nil {
		return nil, err
	}
	roster, err := bus.OpenRoster(ctx, control, nil)
	if err != nil {
		return nil, err
	}
	g.closers = append(g.closers, roster.Close)
	if g.gateway, err = bus.NewGateway(control, roster, nil); err != nil {
		return nil, err
	}
	if g.agent, err = connect(natsd.Agent); err != nil {
		return nil, err
	}
	g.event = shellEvent("go test ./... && git status")
	g.event.SessionID, g.event.Data.Native = "bench", hook.Native{Agent: "bench", Event: "PreToolUse", Payload: padding(700)}
	var header map[string][]string
	if header, g.body, err = cloudevent.Encode(g.event); err != nil {
		return nil, err
	}
	g.header = header
	var entries []hook.Entry
	for i := range deciders {
		name := fmt.Sprintf("d%d", i)
		entries = append(entries, hook.Entry{Name: name, Filter: "pre_tool_use.read"},
			hook.Entry{Name: "plain" + name, Filter: "pre_tool_use.bash"})
		c, err := connect(natsd.Decider)
		if err != nil {
			return nil, err
		}
		s, err := c.Respond(name, hook.DeciderFunc(func(context.Context, hook.Event) (hook.Decision, error) {
			return hook.Decision{Context: "nothing to say about this one, as about most"}, nil
		}), nil)
		if err != nil {
			return nil, err
		}
		g.closers = append(g.closers, s.Close)
		if err := g.plainResponder(server, "decide.plain"+name+".>"); err != nil {
			return nil, err
		}
	}
	if _, err := roster.Sync(ctx, entries); err != nil {
		return nil, err
	}
	if g.plain, err = dialPlain(server, natsd.Gateway); err != nil {
		return nil, err
	}
	g.closers = append(g.closers, g.plain.Close)
	g.prefix = g.plain.NewRespInbox()
	if g.inbox, err = g.plain.SubscribeSync(g.prefix + ".*"); err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.gateway.Run(running) }()
	g.closers = append(g.closers, func() { cancel(); <-ended })
	select {
	case <-g.gateway.Ready():
		return g, nil
	case err := <-ended:
		ended <- err
		return nil, err
	}
}

// plainResponder answers as a decider does, with nothing around it.
func (g *gatherBench) plainResponder(server *natsd.Server, subject string) error {
	nc, err := dialPlain(server, natsd.Gateway)
	if err != nil {
		return err
	}
	g.closers = append(g.closers, nc.Close)
	answer := []byte(`{"effect":"abstain","context":"nothing to say about this one, as about most"}`)
	if _, err := nc.Subscribe(subject, func(m *nats.Msg) { _ = nc.Publish(m.Reply, answer) }); err != nil {
		return err
	}
	return nc.Flush()
}

func dialPlain(server *natsd.Server, r natsd.Role) (*nats.Conn, error) {
	return nats.Connect("", nats.InProcessServer(inProcess(server.Dial)), nats.UserInfo(string(r), server.Password(r)),
		nats.CustomInboxPrefix(bus.InboxPrefix(string(r))))
}

// run measures four things in turn: plain requests, the gateway's gather from
// the same responders, its gather from deciders in Go, and an agent's whole
// request.
func (g *gatherBench) run(ctx context.Context, n int) ([]*comparison, error) {
	plain := series{Name: fmt.Sprintf("%d plain requests on one inbox", g.deciders)}
	same := &comparison{Measured: series{Name: fmt.Sprintf("gateway, the same %d responders", g.deciders)}}
	deciders := &comparison{Measured: series{Name: fmt.Sprintf("gateway, %d deciders in Go", g.deciders)}}
	whole := &comparison{Measured: series{Name: fmt.Sprintf("an agent's request, %d deciders in Go", g.deciders)}}
	if g.deciders == 4 {
		same.Target = 1.5
	}
	read := g.event
	read.Subject = "Read"
	tool := *read.Data.Tool
	tool.Name = read.Subject
	read.Data.Tool = &tool
	gather := func(e hook.Event) error {
		e.Raw = g.body
		bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		v := g.gateway.Verdict(bounded, e)
		if v.Effect != hook.Abstain || len(v.Outcomes) != g.deciders {
			return fmt.Errorf("the verdict is %s of %d: %s", v.Effect, len(v.Outcomes), v.Reason)
		}
		return nil
	}
	steps := []struct {
		to *series
		do func() error
	}{
		{&plain, g.plainRequests},
		{&same.Measured, func() error { return gather(g.event) }},
		{&deciders.Measured, func() error { return gather(read) }},
		{&whole.Measured, func() error {
			bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			read.ID = rand.Text() // the same call twice is decided once
			_, err := g.agent.Request(bounded, read)
			return err
		}},
	}
	for i := range n + n/10 {
		for _, step := range steps {
			begin := time.Now()
			if err := step.do(); err != nil {
				return nil, err
			}
			if took := time.Since(begin); i >= n/10 { // the first ones warm up
				step.to.add(took)
			}
		}
	}
	list := []*comparison{same, deciders, whole}
	for _, c := range list {
		c.Yardstick = plain
	}
	return list, nil
}

func (g *gatherBench) plainRequests() error {
	for i := range g.deciders {
		token := make([]byte, 8)
		_, _ = rand.Read(token)
		m := &nats.Msg{Subject: fmt.Sprintf("decide.plaind%d.pre_tool_use.bash", i), Reply: g.prefix + "." + hex.EncodeToString(token), Header: g.header, Data: g.body}
		if err := g.plain.PublishMsg(m); err != nil {
			return err
		}
	}
	for range g.deciders {
		if _, err := g.inbox.NextMsg(5 * time.Second); err != nil {
			return err
		}
	}
	return nil
}

// padding makes a payload of about n bytes.
func padding(n int) []byte {
	b := make([]byte, 0, n+16)
	b = append(b, `{"padding":"`...)
	for len(b) < n {
		b = append(b, 'x')
	}
	return append(b, `"}`...)
}
