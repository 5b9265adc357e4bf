package policy

import (
	"slices"

	"cel.dev/cel-go/common/types"
)

// answer is what a [shortcut] says.
type answer uint8

const (
	unsure answer = iota // CEL has to say
	no
	yes
)

func sure(b bool) answer {
	if b {
		return yes
	}
	return no
}

// shortcut answers a condition in Go: most rules are false of most events, and
// to say so through CEL takes many times as long. It has to be exact, so it goes
// the way that CEL goes, from left to right and no further, over what a rule is
// likely to ask (see [shortcuts]). Where it meets anything else, or where CEL
// could come near its cost limit, it is unsure, and CEL evaluates the condition.
type shortcut func(*glance) answer

// mostGlance bounds the work of one shortcut in CEL's units: it does not look
// at the clock.
const mostGlance = 20_000

// deepest is how many comprehensions may nest.
const deepest = 6

// glance is the state of one shortcut.
type glance struct {
	facts *facts
	left  int // of what may be spent
	items [deepest]item
}

// spend counts what CEL would count, or more, and reports whether that much is
// left.
func (g *glance) spend(cost int) bool {
	g.left -= cost
	return g.left >= 0
}

// answer runs a shortcut. When it is unsure the facts are as they were before.
func (s shortcut) answer(f *facts, limit uint64) (a answer) {
	if s == nil {
		return unsure
	}
	mark := f.resolver.Failed()
	defer func() {
		if recover() != nil { // CEL makes an error of it
			a = unsure
		}
		if a == unsure {
			f.resolver.Retract(mark)
		}
	}()
	g := &f.glance
	g.facts, g.left = f, int(min(limit, mostGlance))
	if a = s(g); g.left < 0 {
		a = unsure
	}
	return a
}

// The parts of a shortcut. The bool of a text and a listing is false when it is
// not known.
type (
	textPart    func(*glance) (string, bool)
	listPart    func(*glance) (items, bool)
	objectPart  func(*glance) any // never unsure
	numberPart  func(*glance) (int64, bool)
	comparePart func(a, b int64) bool
)

// nodeCost is at least what CEL counts for one node and its literals.
const nodeCost = 4

func both(a, b shortcut) shortcut {
	return func(g *glance) answer {
		if x := a(g); x != yes {
			return x
		}
		return b(g)
	}
}

func either(a, b shortcut) shortcut {
	return func(g *glance) answer {
		if x := a(g); x != no {
			return x
		}
		return b(g)
	}
}

func not(a shortcut) shortcut {
	return func(g *glance) answer {
		if !g.spend(nodeCost) {
			return unsure
		}
		switch a(g) {
		case yes:
			return no
		case no:
			return yes
		}
		return unsure
	}
}

// loop is exists (until yes) and all (until no).
func loop(over listPart, depth int, body shortcut, until answer) shortcut {
	otherwise := sure(until == no)
	return func(g *glance) answer {
		l, ok := over(g)
		if !ok {
			return unsure
		}
		for i := range l.size() {
			if !g.spend(2 * nodeCost) {
				return unsure
			}
			g.items[depth] = l.at(i)
			if x := body(g); x == until || x == unsure {
				return x
			}
		}
		return otherwise
	}
}

// compareTexts holds two texts against each other.
func compareTexts(a, b textPart, equal bool) shortcut {
	return func(g *glance) answer {
		x, ok := a(g)
		if !ok {
			return unsure
		}
		y, ok := b(g)
		if !ok || !g.spend(nodeCost+min(len(x), len(y))/8) {
			return unsure
		}
		return sure((x == y) == equal)
	}
}

func compareNumbers(a, b numberPart, holds comparePart) shortcut {
	return func(g *glance) answer {
		x, ok := a(g)
		if !ok {
			return unsure
		}
		y, ok := b(g)
		if !ok || !g.spend(nodeCost) {
			return unsure
		}
		return sure(holds(x, y))
	}
}

// memberOf asks whether a text is one of a list that is written out.
func memberOf(a textPart, of []string) shortcut {
	cost := 3*nodeCost + len(of)
	return func(g *glance) answer {
		x, ok := a(g)
		if !ok || !g.spend(cost) {
			return unsure
		}
		return sure(slices.Contains(of, x))
	}
}

func memberOfList(a textPart, of listPart) shortcut {
	return func(g *glance) answer {
		x, ok := a(g)
		if !ok {
			return unsure
		}
		l, ok := of(g)
		if !ok || !g.spend(nodeCost+l.size()) {
			return unsure
		}
		return sure(slices.Contains(l.texts, x))
	}
}

// textFunction is a function of two texts; cost is what CEL counts for
// their lengths, or more.
func textFunction(a, b textPart, cost func(a, b int) int, do func(a, b string) bool) shortcut {
	return func(g *glance) answer {
		x, ok := a(g)
		if !ok {
			return unsure
		}
		y, ok := b(g)
		if !ok || !g.spend(nodeCost+cost(len(x), len(y))) {
			return unsure
		}
		return sure(do(x, y))
	}
}

// objectFunction is a question about an object that cannot fail.
func objectFunction(on objectPart, do func(any) bool, arguments int) shortcut {
	cost := nodeCost * (2 + arguments)
	return func(g *glance) answer {
		if !g.spend(cost) {
			return unsure
		}
		return sure(do(on(g)))
	}
}

// constant is true or false as written.
func constant(v types.Bool) shortcut {
	a := sure(bool(v))
	return func(*glance) answer { return a }
}
