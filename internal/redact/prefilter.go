package redact

import "fmt"

// prefilter finds all keywords in one pass (Aho and Corasick's automaton, with
// the bytes folded into classes so that the table stays in the first cache).
type prefilter struct {
	class   [256]uint8
	classes int
	// next holds, for state*classes+class, the next state's row; accepting
	// states have the top bit set.
	next []uint32
	// out lists, by state, the keywords that end there.
	out [][]keyword
}

// keyword is one keyword of one rule.
type keyword struct {
	rule   int
	length int
}

const accepting = 1 << 31

// ruleEscape is the number of no rule: its keywords are the escapes that can
// split another keyword.
const ruleEscape = -1

// maxStates keeps the table below 64 MiB whatever the rules are.
const maxStates = 1 << 16

func newPrefilter(words map[string][]int) (*prefilter, error) {
	p := &prefilter{classes: 1}
	for w := range words {
		for i := 0; i < len(w); i++ {
			c := lower(w[i])
			if p.class[c] == 0 {
				if p.classes == 255 {
					return nil, fmt.Errorf("%w: the keywords have too many different bytes", ErrRule)
				}
				p.class[c] = uint8(p.classes)
				p.classes++
			}
		}
	}
	for c := 'A'; c <= 'Z'; c++ {
		p.class[c] = p.class[lower(byte(c))]
	}
	// The trie; -1 is no child.
	var children [][]int
	add := func() int {
		row := make([]int, p.classes)
		for i := range row {
			row[i] = -1
		}
		children = append(children, row)
		p.out = append(p.out, nil)
		return len(children) - 1
	}
	add()
	for w, rules := range words {
		s := 0
		for i := 0; i < len(w); i++ {
			c := p.class[lower(w[i])]
			if children[s][c] < 0 {
				children[s][c] = add()
			}
			s = children[s][c]
		}
		for _, r := range rules {
			p.out[s] = append(p.out[s], keyword{r, len(w)})
		}
	}
	if len(children) > maxStates {
		return nil, fmt.Errorf("%w: too many keywords", ErrRule)
	}
	// Breadth first, failing to the longest suffix that is in the trie.
	fail := make([]int, len(children))
	var queue []int
	for c, child := range children[0] {
		if child < 0 {
			children[0][c] = 0
		} else if child > 0 {
			queue = append(queue, child)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		p.out[s] = append(p.out[s], p.out[fail[s]]...)
		for c, child := range children[s] {
			if child < 0 {
				children[s][c] = children[fail[s]][c]
				continue
			}
			fail[child] = children[fail[s]][c]
			queue = append(queue, child)
		}
	}
	p.next = make([]uint32, len(children)*p.classes)
	for s, row := range children {
		for c, child := range row {
			v := uint32(child * p.classes)
			if len(p.out[child]) > 0 {
				v |= accepting
			}
			p.next[s*p.classes+c] = v
		}
	}
	return p, nil
}

// scan calls hit for each keyword in b with the place of its last byte + 1.
func (p *prefilter) scan(b []byte, hit func(k keyword, end int)) {
	next, class := p.next, &p.class
	s := uint32(0)
	for i, c := range b {
		s = next[s+uint32(class[c])]
		if s&accepting != 0 {
			s &^= accepting
			for _, k := range p.out[int(s)/p.classes] {
				hit(k, i+1)
			}
		}
	}
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
