package trust

import "mvdan.cc/sh/v3/syntax"

// ActAs makes the gauge take user for the one whose write access counts.
func (g *Gauge) ActAs(user int) *Gauge { g.user = user; return g }

// Copy makes the gauge do without sealed memory.
func (g *Gauge) Copy() *Gauge { g.copies = true; return g }

// Held counts what is kept, and its bytes.
func (g *Gauge) Held() (files int, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.cached), g.bytes
}

// EncodingOf is the digest of lists of fields.
func EncodingOf(lists [][]string) Digest {
	e := newEncoder("test")
	for _, l := range lists {
		e.list(l)
	}
	return e.digest()
}

// ParseShebang reads a #! line to its words: the interpreter, and those after it.
func ParseShebang(head []byte) (words []string, ok bool, err error) {
	s, ok, err := parseShebang(head)
	if err != nil || !ok {
		return nil, ok, err
	}
	if name, args, env, err := s.env(); env {
		return append([]string{name}, args...), true, err
	}
	words = []string{s.interpreter}
	if s.argument != "" {
		words = append(words, s.argument)
	}
	return words, true, nil
}

// ParseLedger reads a file of approvals.
func ParseLedger(b []byte) (approvals []Approval, err error) {
	_, l, err := parseLedger(b)
	if err != nil {
		return nil, err
	}
	return l.Approvals, nil
}

// EncodeLedger writes one.
func EncodeLedger(approvals []Approval) ([]byte, error) {
	return (&ledger{Approvals: approvals}).encode()
}

// Commands counts the simple commands of the bound shell text, and is -1 when there
// are more or fewer than in the text itself.
func Commands(m *Measurement) int {
	count := func(text string) (n int) {
		f, err := parseShell(text)
		if err != nil {
			return -2
		}
		syntax.Walk(f, func(n2 syntax.Node) bool {
			if c, ok := n2.(*syntax.CallExpr); ok && len(c.Args) > 0 {
				n++
			}
			return true
		})
		return n
	}
	b := &binder{m: m, number: map[*content]int{}, free: firstPinned}
	bound, err := m.body.render(b.path)
	if n := count(m.body.text); err != nil || n != count(bound) {
		return -1
	} else {
		return n
	}
}
