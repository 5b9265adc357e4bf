package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) benchCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "bench", Short: "Measure here and now, as ratios to plain NATS and to a program that does nothing",
		Long: "Measure here and now, on a bus of its own in a temporary directory, each thing\ninterleaved with what it is compared to, so that the ratio holds whatever else\nthe machine does.",
	}
	c.AddCommand(a.benchHookCommand(), a.benchGatherCommand(), a.benchPublishCommand(), a.benchAuditCommand())
	for _, sub := range c.Commands() {
		sub.PreRunE = atLeastOnce
	}
	return c
}

// atLeastOnce refuses to measure nothing.
func atLeastOnce(c *cobra.Command, _ []string) error {
	if n, err := strconv.Atoi(c.Flags().ShorthandLookup("n").Value.String()); err != nil || n < 1 {
		return fail(exitUsage, "give -n a number of 1 or more", errors.New("there is nothing to measure"))
	}
	return nil
}

// measuring says on a terminal what is going on, since it takes a while.
func (a *app) measuring(what string) {
	if terminal(a.err) {
		fmt.Fprintf(a.err, "measuring %s …\n", what)
	}
}

// series are durations of one thing that is measured.
type series struct {
	Name string        `json:"name"`
	N    int           `json:"n"`
	P50  time.Duration `json:"p50_ns"`
	P99  time.Duration `json:"p99_ns"`

	all []time.Duration
}

func (s *series) add(d time.Duration) { s.all = append(s.all, d) }

func (s *series) finish() {
	slices.Sort(s.all)
	s.N = len(s.all)
	if s.N > 0 {
		s.P50, s.P99 = s.all[s.N/2], s.all[min(s.N*99/100, s.N-1)]
	}
}

// comparison is a measured thing beside its yardstick.
type comparison struct {
	Yardstick series  `json:"yardstick"`
	Measured  series  `json:"measured"`
	RatioP50  float64 `json:"ratio_p50"`
	RatioP99  float64 `json:"ratio_p99"`
	// Target is the most that the ratio at p50 may be; 0 means none is set.
	Target float64 `json:"target,omitempty"`
}

func (c *comparison) finish() {
	c.Yardstick.finish()
	c.Measured.finish()
	if c.Yardstick.P50 > 0 {
		c.RatioP50 = float64(c.Measured.P50) / float64(c.Yardstick.P50)
	}
	if c.Yardstick.P99 > 0 {
		c.RatioP99 = float64(c.Measured.P99) / float64(c.Yardstick.P99)
	}
}

func (a *app) printComparisons(list []*comparison) error {
	for _, c := range list {
		c.finish()
	}
	if a.json {
		return a.printJSON(list)
	}
	for _, c := range list {
		for _, s := range []series{c.Yardstick, c.Measured} {
			fmt.Fprintf(a.out, "%-44s n %-6d p50 %10s  p99 %10s\n", s.Name, s.N, s.P50.Round(time.Microsecond), s.P99.Round(time.Microsecond))
		}
		target := ""
		if c.Target > 0 {
			target = fmt.Sprintf("  (at most %.1f at p50)", c.Target)
		}
		fmt.Fprintf(a.out, "%-44s p50 %9.2fx  p99 %9.2fx%s\n\n", "  ratio", c.RatioP50, c.RatioP99, target)
	}
	return nil
}

// rate is throughput beside its yardstick.
type rate struct {
	Yardstick string  `json:"yardstick"`
	Measured  string  `json:"measured"`
	YardRate  float64 `json:"yardstick_per_second"`
	Rate      float64 `json:"measured_per_second"`
	Ratio     float64 `json:"ratio"`
	// Target is the least that the ratio should be.
	Target float64 `json:"target,omitempty"`
}

func (a *app) printRates(list []rate) error {
	for i := range list {
		list[i].Ratio = list[i].Rate / list[i].YardRate
	}
	if a.json {
		return a.printJSON(list)
	}
	for _, r := range list {
		fmt.Fprintf(a.out, "%-52s %10.0f /s\n%-52s %10.0f /s\n", r.Yardstick, r.YardRate, r.Measured, r.Rate)
		target := ""
		if r.Target > 0 {
			target = fmt.Sprintf("  (at least %.1f)", r.Target)
		}
		fmt.Fprintf(a.out, "%-52s %10.2fx%s\n\n", "  ratio", r.Ratio, target)
	}
	return nil
}
