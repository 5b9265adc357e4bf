package trust

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// Measurement is what a hook would run, with the bytes of all its files as they
// were read.
type Measurement struct {
	gauge      *Gauge
	definition Definition
	digest     Digest
	parts      []Part
	unpinned   []string
	files      []*file // all that were read

	shell    *file   // /bin/sh, for shell text
	body     *script // of a definition with shell text
	argv     []edit  // of one with a command
	declared []*file
	named    string // the path of the script that the hook is, for GRAPNEL_SCRIPT
	highest  int    // descriptor that shell text names

	mu     sync.Mutex
	closed bool
}

// Measure finds out what the definition would run, and reads each of its files
// once. It starts nothing. The caller closes the measurement when no run that
// was bound from it goes on.
//
// The error wraps one of this package's or, when a command is not there or
// cannot be run, one of package process's.
func (g *Gauge) Measure(d Definition) (_ *Measurement, err error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	config, err := d.canonical()
	if err != nil {
		return nil, err
	}
	m := &Measurement{gauge: g, definition: d}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	e := newEncoder("grapnel hook definition v1")
	d.encode(e, config)
	m.parts = []Part{{RoleDefinition, d.ID, d.File, int64(len(config)), e.digest()}}
	p := &plan{Measurement: m, read: map[string]*file{}}
	if err := p.measure(); err != nil {
		return nil, fmt.Errorf("%s: %w", d.label(), err)
	}
	if m.highest = p.highest; m.highest > maxDescriptor {
		return nil, fmt.Errorf("%w: %s: its shell text uses descriptor %d; use at most %d", ErrDefinition, d.label(), m.highest, maxDescriptor)
	}
	e = newEncoder("grapnel hook v1")
	e.number(uint64(len(m.parts)))
	for _, part := range m.parts {
		part.encode(e)
	}
	m.digest = e.digest()
	slices.Sort(m.unpinned)
	return m, nil
}

func (p *plan) measure() (err error) {
	d := &p.definition
	switch {
	case d.Shell != "":
		if p.shell, err = p.file(RoleProgram, shellPath, shellPath); err != nil {
			return err
		}
		if p.body, err = p.text(d.Shell, 1); err != nil {
			return err
		}
	case len(d.Command) > 0:
		words := make([]word, len(d.Command))
		for i, w := range d.Command {
			words[i] = word{w, !isValue(w)}
		}
		if !words[0].known {
			return fmt.Errorf("%w: a value of the event would choose the command %.100q", ErrDefinition, d.Command[0])
		}
		if p.argv, err = p.words(words, place{}); err != nil {
			return err
		}
	}
	for _, name := range d.Files {
		f, err := p.file(RoleFile, name, p.absolute(name))
		if err != nil {
			return err
		}
		p.declared = append(p.declared, f)
	}
	for _, part := range p.parts {
		if part.Role == RoleScript {
			p.named = p.absolute(part.Name)
			if found, err := p.lookup(part.Name); err == nil {
				p.named = found
			}
			break
		}
	}
	return nil
}

// isValue says whether each run puts a value in the word's place.
func isValue(w string) bool { return strings.Contains(w, "{{") }

// Digest is what is approved: a SHA-256 over all parts, and so over the
// definition, every path and every file's SHA-256.
func (m *Measurement) Digest() Digest { return m.digest }

// Definition is what was measured.
func (m *Measurement) Definition() Definition { return m.definition }

// Parts are what was measured: the definition first, then files in the order in
// which they were found.
func (m *Measurement) Parts() []Part { return slices.Clone(m.parts) }

// Unpinned says, for people, what the hook may run besides that could not be
// measured.
func (m *Measurement) Unpinned() []string { return slices.Clone(m.unpinned) }

// Close gives the files up. It is idempotent.
func (m *Measurement) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	var errs []error
	for _, f := range m.files {
		errs = append(errs, m.gauge.release(f.content))
	}
	m.files = nil
	return errors.Join(errs...)
}

// sealedFile is one whose bytes a hook can inherit, or nil.
func (m *Measurement) sealedFile() *os.File {
	for _, f := range m.files {
		if f.sealed != nil {
			return f.sealed
		}
	}
	return nil
}
