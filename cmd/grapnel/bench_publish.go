package main

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

func (a *app) benchPublishCommand() *cobra.Command {
	n := 20000
	c := &cobra.Command{
		Use:   "publish",
		Short: "Notification events accepted",
		Long: `Publish notification events from 64 callers and wait for each receipt, beside
JetStream's asynchronous publish of messages of the same size to a stream of the
same kind on the same server.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			a.measuring(fmt.Sprint(n) + " events")
			r, err := benchPublish(c.Context(), n)
			if err != nil {
				return err
			}
			return a.printRates([]rate{r})
		},
	}
	c.Flags().IntVarP(&n, "events", "n", n, "how many events")
	return c
}

func benchPublish(ctx context.Context, n int) (rate, error) {
	r := rate{Yardstick: "JetStream, asynchronous publish", Measured: "notification events accepted, 64 callers", Target: 0.8}
	g, err := newGatherBench(ctx, 0)
	if err != nil {
		return r, err
	}
	defer g.close()
	js, err := jetstream.New(g.plain, jetstream.WithPublishAsyncMaxPending(1024))
	if err != nil {
		return r, err
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "BENCH", Subjects: []string{"bench.>"}, Discard: jetstream.DiscardOld, MaxAge: time.Hour, MaxBytes: 1 << 30, Duplicates: 10 * time.Minute}); err != nil {
		return r, err
	}
	e := g.event
	e.Name = hook.PostToolUse
	// Slices of both in turn, so that neither has the machine at a better time.
	const slices = 10
	var plain, ours time.Duration
	for slice := range slices {
		begin := time.Now()
		for i := range n / slices {
			m := &nats.Msg{Subject: "bench.x", Header: g.header, Data: g.body}
			if _, err := js.PublishMsgAsync(m, jetstream.WithMsgID(fmt.Sprintf("%d-%d", slice, i)), jetstream.WithStallWait(10*time.Second)); err != nil {
				return r, err
			}
		}
		select {
		case <-js.PublishAsyncComplete():
		case <-time.After(time.Minute):
			return r, fmt.Errorf("JetStream did not acknowledge within a minute")
		}
		plain += time.Since(begin)
		begin = time.Now()
		if err := callers(64, n/slices, func(i int) error {
			mine := e
			mine.ID = fmt.Sprintf("p-%d-%d", slice, i)
			_, err := g.agent.Publish(ctx, mine)
			return err
		}); err != nil {
			return r, err
		}
		ours += time.Since(begin)
	}
	total := float64(n / slices * slices)
	r.YardRate, r.Rate = total/plain.Seconds(), total/ours.Seconds()
	return r, nil
}

// callers has k goroutines call f for 0 to n-1, and returns the first error.
func callers(k, n int, f func(i int) error) error {
	work := make(chan int)
	failed := make(chan error, k)
	var wg sync.WaitGroup
	for range k {
		wg.Go(func() {
			for i := range work {
				if err := f(i); err != nil {
					failed <- err
					for range work {
						continue // let the sender finish
					}
					return
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// inProcess makes a dialer what nats.go wants for in-process servers.
type inProcess bus.Dialer

// InProcessConn implements nats.InProcessConnProvider.
func (d inProcess) InProcessConn() (net.Conn, error) { return d() }
