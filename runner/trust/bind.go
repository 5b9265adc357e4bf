package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// firstPinned is the first descriptor that pinned files are given. Scripts use
// lower ones for themselves, and POSIX shells know no others.
const firstPinned = 10

// maxDescriptor is the highest that a shell text may name.
const maxDescriptor = 19

// binder writes the words of one run.
type binder struct {
	m      *Measurement
	files  []*os.File
	number map[*content]int
	free   int // the first descriptor that may be given
}

// Bind returns the specification changed so that the measured bytes run. s must
// be for the measured definition: its Shell the same text; or its Command the
// same words but for the first, which may be the path found for it, and for
// words with "{{", which may be anything; its Dir the same directory; and each
// of Definition.Vars in its Env. It must have no Program.
//
// Files are added to s.Files, and variables to s.Env. Close the measurement
// only after the run. The error wraps ErrMismatch, ErrTooLarge, ErrSeal or
// ErrClosed.
func (m *Measurement) Bind(s process.Spec) (process.Spec, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return s, fmt.Errorf("%w: the measurement", ErrClosed)
	}
	if err := m.matches(s); err != nil {
		return s, err
	}
	b := &binder{m: m, number: map[*content]int{}, free: max(firstPinned, m.highest+1)}
	if filler := m.sealedFile(); filler != nil && len(s.Files) < b.free-3 {
		// Descriptors are handed down without gaps.
		b.files = slices.Clone(s.Files)
		for len(b.files) < b.free-3 {
			b.files = append(b.files, filler)
		}
	} else {
		b.files, b.free = slices.Clone(s.Files), 3+len(s.Files)
	}
	var err error
	if m.body != nil {
		err = b.shell(&s)
	} else {
		err = b.command(&s)
	}
	if err != nil {
		return s, err
	}
	s.Env = slices.Clone(s.Env)
	if m.named != "" {
		s.Env = append(s.Env, "GRAPNEL_SCRIPT="+m.named)
	}
	for i, f := range m.declared {
		if f.sealed != nil && b.number[f.content] == 0 && len(b.files) == process.MaxFiles {
			break
		}
		path, err := b.path(piece{file: f})
		if err != nil {
			return s, err
		}
		s.Env = append(s.Env, "GRAPNEL_FILE_"+strconv.Itoa(i+1)+"="+path)
	}
	if len(b.number) > 0 {
		s.Files = b.files
	}
	return s, nil
}

// matches reports why the specification is not one of what was measured.
func (m *Measurement) matches(s process.Spec) error {
	d := &m.definition
	differs := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s: %s", ErrMismatch, d.label(), fmt.Sprintf(format, args...))
	}
	switch {
	case len(d.Command) == 0 && d.Shell == "":
		return differs("the definition has no command")
	case s.Program != "":
		return differs("a program is set besides the command")
	case s.Shell != d.Shell || len(s.Command) != len(d.Command):
		return differs("it is another command")
	case filepath.Clean(s.Dir) != filepath.Clean(d.Dir):
		return differs("it is to run in %q, and was measured for %q", s.Dir, d.Dir)
	}
	for i, w := range d.Command {
		if i > 0 && !isValue(w) && s.Command[i] != w {
			return differs("word %d is %.100q in place of %.100q", i+1, s.Command[i], w)
		}
	}
	if len(d.Command) > 0 && s.Command[0] != d.Command[0] {
		p := plan{Measurement: m}
		if path, err := p.lookup(d.Command[0]); err != nil || path != s.Command[0] {
			return differs("the command is %.200q in place of %.200q", s.Command[0], d.Command[0])
		}
	}
	for name, value := range d.Vars {
		// The last one counts, so that there may be one only.
		n, right := 0, false
		for _, v := range s.Env {
			if len(v) > len(name) && v[:len(name)] == name && v[len(name)] == '=' {
				n, right = n+1, v[len(name)+1:] == value
			}
		}
		if n != 1 || !right {
			return differs("the environment does not have %s=%s once", name, value)
		}
	}
	return nil
}

// shell binds shell text. The words in it that name files become others, and
// /bin/sh is what was measured.
func (b *binder) shell(s *process.Spec) error {
	program, err := b.path(piece{file: b.m.shell})
	if err != nil {
		return err
	}
	text, err := b.m.body.render(b.path)
	if err != nil {
		return err
	}
	s.Shell, s.Program = text, program
	return nil
}

// command binds an argument vector.
func (b *binder) command(s *process.Spec) error {
	var words []string
	at := 0
	for _, e := range sortedEdits(b.m.argv) {
		words = append(words, s.Command[at:e.index]...)
		for _, p := range e.pieces {
			w, err := b.path(p)
			if err != nil {
				return err
			}
			words = append(words, w)
		}
		at = e.index + 1
	}
	words = append(words, s.Command[at:]...)
	// What runs is the first word; what it is told that its name is stays.
	first := b.m.argv[0].pieces[0]
	s.Program, words[0] = words[0], first.file.path
	s.Command = words
	return nil
}

func sortedEdits(edits []edit) []edit {
	return slices.SortedFunc(slices.Values(edits), func(a, b edit) int { return a.index - b.index })
}

// path writes one piece.
func (b *binder) path(p piece) (string, error) {
	switch {
	case p.nested != nil:
		return p.nested.render(b.path)
	case p.literal != "" || p.file == nil:
		return p.literal, nil
	case p.file.byPath():
		return p.file.path, nil
	case p.file.copied != "":
		return p.file.copied, nil
	}
	n, ok := b.number[p.file.content]
	if !ok {
		if len(b.files) >= process.MaxFiles {
			return "", fmt.Errorf("%w: %s: it runs more than %d files", ErrTooLarge, b.m.definition.label(), process.MaxFiles-(firstPinned-3))
		}
		n = b.free
		b.number[p.file.content] = n
		b.files = append(b.files, p.file.sealed)
		b.free++
	}
	if p.as != "" {
		return b.m.gauge.link(n, p.as)
	}
	return descriptorPath(n), nil
}
