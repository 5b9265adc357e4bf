package shell

import "mvdan.cc/sh/v3/syntax"

// walk is syntax.Walk for trees whose words may have been split at their braces,
// which that does not know.
func walk(n syntax.Node, visit func(syntax.Node) bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		if !ok || !braced(w) {
			return visit(n)
		}
		if visit(w) {
			for _, part := range w.Parts {
				b, ok := part.(*syntax.BraceExp)
				if !ok {
					walk(part, visit)
					continue
				}
				for _, elem := range b.Elems {
					walk(elem, visit)
				}
			}
			visit(nil)
		}
		return false
	})
}
