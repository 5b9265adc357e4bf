package install

import (
	"fmt"
	"strings"
)

// contextLines stand around each change.
const contextLines = 3

// unified compares two texts line by line.
func unified(fromName, toName, from, to string) string {
	a, b := lines(from), lines(to)
	ops := compare(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", fromName, toName)
	for i := 0; i < len(ops); {
		if ops[i].kind == ' ' {
			i++
			continue
		}
		// A hunk goes on while fewer than two contexts lie between changes.
		start, end := max(i-contextLines, 0), i
		for j := i; j < len(ops) && j <= end+2*contextLines; j++ {
			if ops[j].kind != ' ' {
				end = j
			}
		}
		i = min(end+contextLines+1, len(ops))
		hunk(&out, ops[start:i])
	}
	return out.String()
}

// op is one line of a comparison, with its number in both texts from 0.
type op struct {
	kind byte
	line string
	a, b int
}

func hunk(out *strings.Builder, ops []op) {
	var olds, news int
	for _, o := range ops {
		if o.kind != '+' {
			olds++
		}
		if o.kind != '-' {
			news++
		}
	}
	// An empty side is numbered by the line before it.
	at := func(n, count int) int {
		if count == 0 {
			return n
		}
		return n + 1
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", at(ops[0].a, olds), olds, at(ops[0].b, news), news)
	for _, o := range ops {
		out.WriteByte(o.kind)
		out.WriteString(o.line)
		if !strings.HasSuffix(o.line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// lines splits s into lines that keep their ends.
func lines(s string) []string {
	list := strings.SplitAfter(s, "\n")
	if list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// maxCells bounds the table of the comparison; beyond it the middle counts as
// changed altogether.
const maxCells = 4 << 20

// compare finds a longest common subsequence between what differs at both ends.
func compare(a, b []string) []op {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	m, n := a[head:len(a)-tail], b[head:len(b)-tail]
	width := len(n) + 1
	var table []int
	if len(m) > 0 && len(n) > 0 && len(m) < maxCells/width {
		table = make([]int, (len(m)+1)*width)
		for i := len(m) - 1; i >= 0; i-- {
			for j := len(n) - 1; j >= 0; j-- {
				if m[i] == n[j] {
					table[i*width+j] = table[(i+1)*width+j+1] + 1
				} else {
					table[i*width+j] = max(table[(i+1)*width+j], table[i*width+j+1])
				}
			}
		}
	}
	var ops []op
	i, j := 0, 0
	add := func(kind byte, line string) {
		ops = append(ops, op{kind, line, i, j})
		if kind != '+' {
			i++
		}
		if kind != '-' {
			j++
		}
	}
	for i < head {
		add(' ', a[i])
	}
	for i-head < len(m) || j-head < len(n) {
		x, y := i-head, j-head
		switch {
		case x < len(m) && y < len(n) && table != nil && m[x] == n[y]:
			add(' ', m[x])
		case x < len(m) && (y == len(n) || table == nil || table[(x+1)*width+y] >= table[x*width+y+1]):
			add('-', m[x])
		default:
			add('+', n[y])
		}
	}
	for i < len(a) {
		add(' ', a[i])
	}
	return ops
}
