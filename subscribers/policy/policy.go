package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sort"
	"time"

	"cel.dev/cel-go/cel"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// Options say where things are on this machine, and set limits. The zero value
// and nil work.
type Options struct {
	// Home is the person's home directory; "" means the one of this process.
	Home string
	// Temp are the directories for temporary files; nil means /tmp, /var/tmp
	// and the one of this process.
	Temp []string
	// Protected are directories that no agent may change: where the bus
	// itself keeps its configuration, state and sockets.
	Protected []string
	// CostLimit bounds the work of one expression in CEL's units; 0 means
	// 100,000.
	CostLimit uint64
	// TimeLimit bounds the evaluation of all rules on one event; 0 means
	// 50 ms. What ran out of time is tried once more with four times as much.
	TimeLimit time.Duration
	// Log gets what people should know; nil means nothing is logged.
	Log *slog.Logger
}

func (o *Options) withDefaults() *Options {
	out := Options{}
	if o != nil {
		out = *o
	}
	if out.Home == "" {
		out.Home, _ = os.UserHomeDir()
	}
	out.Home = place.Slash(out.Home)
	if out.Temp == nil {
		out.Temp = []string{place.Slash(os.TempDir())}
		for _, dir := range []string{"/tmp", "/var/tmp", "/private/tmp", "/var/folders"} {
			if !slices.Contains(out.Temp, dir) {
				out.Temp = append(out.Temp, dir)
			}
		}
	}
	if out.CostLimit == 0 {
		out.CostLimit = 100_000
	}
	if out.TimeLimit == 0 {
		out.TimeLimit = 50 * time.Millisecond
	}
	if out.Log == nil {
		out.Log = slog.New(slog.DiscardHandler)
	}
	return &out
}

type limits struct{ cost uint64 }

// Policy is a compiled set of rules. It is immutable and safe for concurrent
// use.
type Policy struct {
	options  *Options
	env      *environment
	rules    []*rule // strictest first
	order    []string
	patterns []hook.Pattern
	digest   string
	long     bool // takes no shortcuts
}

// rule is a compiled rule.
type rule struct {
	name     string
	source   string
	line     int
	patterns []int // in Policy.patterns; empty matches every event
	when     *condition
	text     string // of when
	effect   hook.Effect
	reason   string
	context  string
	rewrite  cel.Program
	static   json.RawMessage
}

// Parse compiles one source; name says where it comes from. Errors wrap
// [ErrPolicy] and name file, line and rule.
func Parse(name string, src []byte, options *Options) (*Policy, error) {
	return Compile([]Source{{Name: name, Content: src}}, options)
}

// Compile compiles sources into one policy, in this order: a later one may add
// to the path sets of the earlier ones and disable their rules. Names of rules
// are unique. Errors wrap [ErrPolicy] and name file, line and rule.
func Compile(sources []Source, options *Options) (*Policy, error) {
	p := &Policy{options: options.withDefaults()}
	var all []*written
	hash := sha256.New()
	for _, s := range sources {
		w, err := read(s)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
		fmt.Fprintf(hash, "%d %d ", len(s.Name), len(s.Content))
		hash.Write([]byte(s.Name))
		hash.Write(s.Content)
	}
	p.digest = hex.EncodeToString(hash.Sum(nil))
	sets, err := compileSets(all)
	if err != nil {
		return nil, err
	}
	if p.env, err = newEnvironment(sets); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return p, p.compileRules(all)
}

func compileSets(all []*written) (map[string]*place.Set, error) {
	patterns := map[string][]string{}
	for _, w := range all {
		for _, s := range w.sets {
			if _, err := place.NewSet(s.patterns); err != nil {
				return nil, fault(w.source, s.line, "set %s: %w", s.text, err)
			}
			patterns[s.text] = append(patterns[s.text], s.patterns...)
		}
	}
	sets := map[string]*place.Set{}
	for name, list := range patterns {
		set, err := place.NewSet(list)
		if err != nil {
			return nil, err
		}
		sets[name] = set
	}
	return sets, nil
}

func (p *Policy) compileRules(all []*written) error {
	byName := map[string]*rule{}
	for _, w := range all {
		for _, d := range w.disable {
			r, ok := byName[d.text]
			if !ok {
				return fault(w.source, d.line, "there is no earlier rule %q to disable", d.text)
			}
			delete(byName, d.text)
			p.rules = slices.DeleteFunc(p.rules, func(x *rule) bool { return x == r })
		}
		for _, wr := range w.rules {
			if old, twice := byName[wr.name]; twice {
				return fault(w.source, wr.line, "rule %s is already in %s:%d; give it another name, or disable that one", wr.name, old.source, old.line)
			}
			if wr.on == nil {
				wr.on = w.on
			}
			r, err := p.compileRule(w.source, wr)
			if err != nil {
				return err
			}
			byName[wr.name] = r
			p.rules = append(p.rules, r)
		}
	}
	for _, r := range p.rules {
		p.order = append(p.order, r.name)
	}
	sort.SliceStable(p.rules, func(i, j int) bool { return p.rules[i].effect > p.rules[j].effect })
	return nil
}

func (p *Policy) compileRule(source string, w writtenRule) (*rule, error) {
	r := &rule{name: w.name, source: source, line: w.line, text: w.when.text, effect: w.effect, reason: w.reason, context: w.context, static: w.static}
	for _, pattern := range w.on {
		i := slices.IndexFunc(p.patterns, func(known hook.Pattern) bool { return known.String() == pattern.String() })
		if i < 0 {
			i = len(p.patterns)
			p.patterns = append(p.patterns, pattern)
		}
		r.patterns = append(r.patterns, i)
	}
	var err error
	l := limits{cost: p.options.CostLimit}
	if w.when.text != "" {
		if r.when, err = p.env.condition(w.when.text, l); err != nil {
			return nil, fault(source, w.when.line, "rule %s, when: %w", w.name, err)
		}
	}
	if w.rewrite.text != "" {
		if _, r.rewrite, err = p.env.compile(w.rewrite.text, inputType(), l); err != nil {
			return nil, fault(source, w.rewrite.line, "rule %s, rewrite: %w", w.name, err)
		}
	}
	return r, nil
}

// Digest is the SHA-256 of the sources in hex.
func (p *Policy) Digest() string { return p.digest }

// Rules lists the names of all rules, in the order in which they were written.
func (p *Policy) Rules() []string { return slices.Clone(p.order) }

// Rewrites reports whether some rule may change a tool's input: the policy's
// roster entry has to permit it then.
func (p *Policy) Rewrites() bool {
	return slices.ContainsFunc(p.rules, func(r *rule) bool { return r.rewrite != nil || r.static != nil })
}

// Decide implements [hook.Decider]. It returns an error when the event itself
// cannot be understood, when ctx has ended, and when the policy itself is at
// fault; the failure policy of the roster entry counts then.
func (p *Policy) Decide(ctx context.Context, ev hook.Event) (hook.Decision, error) {
	return p.decide(ctx, ev)
}
