package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// maxTexts is how deep shell text may stand in shell text (sh -c).
const maxTexts = 4

// maxCalls is how many simple commands are looked at.
const maxCalls = 1000

// Limits of what is said about that which cannot be pinned.
const (
	maxNotes = 100
	maxNote  = 300 // bytes
)

// shellPath is what [process.Spec] runs shell text with.
const shellPath = "/bin/sh"

// plan finds out what a definition would run, and measures it into m.
type plan struct {
	*Measurement
	read    map[string]*file // by path as looked up
	highest int              // descriptor that shell text names
	calls   int
	total   int64
}

// place is where a word stands.
type place struct {
	*scope      // nil in an argument vector
	depth  int  // of shell text
	shell  bool // the shell runs it, and gives it its name
}

// file measures what path leads to, once.
func (p *plan) file(role Role, name, path string) (*file, error) {
	f, err := p.load(path, role == RoleProgram)
	if err != nil {
		return nil, err
	}
	p.add(Part{role, name, f.real, f.size, f.sum})
	return f, nil
}

func (p *plan) load(path string, program bool) (*file, error) {
	if f := p.read[path]; f != nil {
		return f, nil
	}
	if len(p.read) >= MaxFiles {
		return nil, fmt.Errorf("%w: more than %d files", ErrTooLarge, MaxFiles)
	}
	limit := int64(MaxFileSize)
	if program {
		limit = MaxProgramSize
	}
	f, err := p.gauge.read(path, limit)
	if err != nil {
		return nil, err
	}
	p.read[path] = f
	p.files = append(p.files, f)
	if p.total += f.size; p.total > MaxTotalSize {
		return nil, fmt.Errorf("%w: its files have more than %d bytes together", ErrTooLarge, int64(MaxTotalSize))
	}
	return f, nil
}

func (p *plan) add(part Part) {
	if !slices.Contains(p.parts, part) {
		p.parts = append(p.parts, part)
	}
}

// note puts down for people what cannot be pinned. It quotes what others wrote,
// so that it is made fit to be shown.
func (p *plan) note(format string, args ...any) {
	s := process.Text(fmt.Appendf(nil, format, args...), maxNote)
	if len(p.unpinned) == maxNotes {
		s = "and more"
	}
	if len(p.unpinned) <= maxNotes && !slices.Contains(p.unpinned, s) {
		p.unpinned = append(p.unpinned, s)
	}
}

// absolute is where a name with a directory leads; the definition's directory is
// the working directory.
func (p *plan) absolute(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(p.definition.Dir, name)
}

// lookup finds a command.
func (p *plan) lookup(name string) (string, error) {
	if strings.Contains(name, "/") || filepath.IsAbs(name) {
		name = p.absolute(name)
	}
	return process.Lookup(name, p.definition.SearchPath)
}

// command measures a command and the interpreters it needs, and returns the
// words that start it: the binary, then what #! lines add, then the scripts.
// named says that the first word is all the name that the binary is given.
func (p *plan) command(name string, named bool, depth int) ([]piece, error) {
	if depth > maxInterpreters {
		return nil, fmt.Errorf("%w: %s: more than %d of them, one for the other", ErrInterpreter, name, maxInterpreters)
	}
	path, err := p.lookup(name)
	if err != nil {
		return nil, err
	}
	f, err := p.load(path, true)
	if err != nil {
		return nil, err
	}
	loose := launcher(path)
	if loose != "" {
		p.note("%s", loose)
	}
	line, ok, err := parseShebang(f.head)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	role, serves := RoleProgram, depth > 0 || ok && family(path) != "" // an interpreter
	if serves {
		role = RoleInterpreter
	} else if ok {
		role = RoleScript
	}
	p.add(Part{role, name, f.real, f.size, f.sum})
	if f.mode.Perm()&0o111 == 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%w: %s has no execute permission; chmod +x it", process.ErrNotExecutable, path)
	}
	if loose != "" && ok || f.mode&(os.ModeSetuid|os.ModeSetgid) != 0 {
		// What it runs is not pinned anyway, and without its neighbours or its
		// rights it would not work.
		p.note("%s is started by its path", path)
		return []piece{{literal: path, file: f}}, nil
	}
	if !ok {
		w := piece{file: f}
		if named && filepath.Base(path) != filepath.Base(f.real) {
			w.as = filepath.Base(path)
			if !f.byPath() && p.gauge.options.Dir == "" {
				p.note("%s is started by its path, because it goes by its name and there is no directory for links", path)
				w.literal, w.as = path, ""
			}
		}
		return []piece{w}, nil
	}
	var words []string
	runs, rest, env, err := line.env()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case env:
		words = rest
	default:
		runs = line.interpreter
		if line.argument != "" {
			words = []string{line.argument}
		}
	}
	pieces, err := p.command(runs, named, depth+1)
	if err != nil {
		return nil, fmt.Errorf("the interpreter of %s: %w", path, err)
	}
	given, err := p.given(path, runs, words)
	if err != nil {
		return nil, err
	}
	pieces = append(pieces, given...)
	if f.byPath() {
		return append(pieces, piece{file: f}), nil
	}
	pieces = append(pieces, scriptFlags(runs)...)
	if !serves {
		return append(pieces, piece{file: f}), nil
	}
	// An interpreter that is a script chooses by its name what it starts.
	p.note("%s is a script that starts the interpreter of its choice", path)
	w := piece{file: f, as: filepath.Base(path)}
	if p.gauge.options.Dir == "" {
		w.as = ""
	}
	return append(pieces, w), nil
}

// given measures the words that a #! line puts between interpreter and script.
func (p *plan) given(script, interpreter string, words []string) ([]piece, error) {
	all := make([]word, len(words), len(words)+1)
	for i, w := range words {
		all[i] = word{w, true}
	}
	inv := invocation{script: len(words)}
	if kind := family(interpreter); kind != "" {
		inv = invoked(kind, append(all, word{script, true}))
	}
	if inv.script != len(words) {
		p.note("the #! line of %s gives %s more than options: %s", script, interpreter, strings.Join(words, " "))
	}
	var pieces []piece
	for _, w := range words {
		if path := p.absolute(w); p.inWorkspace(path) {
			f, err := p.file(RoleArgument, w, path)
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, piece{file: f})
			continue
		}
		pieces = append(pieces, piece{literal: w})
	}
	return pieces, nil
}

// scriptFlags are what an interpreter needs to take a script that has no name.
func scriptFlags(interpreter string) []piece {
	if family(interpreter) == "node" {
		return []piece{{literal: "--preserve-symlinks-main"}}
	}
	return nil
}

// missing stands for a command or script that is not there: nothing can ever
// appear under this path.
func (p *plan) missing(name string) []piece {
	p.add(Part{Role: RoleMissing, Name: name})
	return []piece{{literal: "/dev/null/" + filepath.Base(name)}}
}

func absent(err error) bool {
	return errors.Is(err, process.ErrNotFound) || errors.Is(err, process.ErrNotExecutable)
}

// text measures what shell text runs.
func (p *plan) text(text string, depth int) (*script, error) {
	if depth > maxTexts {
		return nil, fmt.Errorf("%w: shell text in shell text, more than %d deep", ErrTooLarge, maxTexts)
	}
	if len(text) > MaxShell { // in an argument
		return nil, fmt.Errorf("%w: more than %d bytes of shell text", ErrTooLarge, MaxShell)
	}
	f, err := parseShell(text)
	if err != nil {
		return nil, err
	}
	sc := scopeOf(f)
	p.highest = max(p.highest, sc.highest)
	for _, n := range sc.notes {
		p.note("%s", n)
	}
	s := &script{text: text}
	syntax.Walk(f, func(n syntax.Node) bool {
		if err != nil {
			return false
		}
		switch n := n.(type) {
		case *syntax.CmdSubst:
			if n.Backquotes {
				p.note("%s: write $( ) in place of backquotes", text[n.Pos().Offset():n.End().Offset()])
				return false
			}
		case *syntax.TimeClause:
			p.note("time is a command of its own in some shells, and looked for when it runs")
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				err = p.call(s, n, place{&sc, depth, true})
			}
		}
		return true
	})
	slices.SortFunc(s.edits, func(a, b textEdit) int { return a.start - b.start })
	return s, err
}

// call measures one simple command of a shell text.
func (p *plan) call(s *script, n *syntax.CallExpr, c place) error {
	if p.calls++; p.calls > maxCalls {
		return fmt.Errorf("%w: more than %d commands in its shell text", ErrTooLarge, maxCalls)
	}
	words := make([]word, len(n.Args))
	for i, w := range n.Args {
		words[i] = c.static(w, s.text, p.definition.Vars)
	}
	edits, err := p.words(words, c)
	for _, e := range edits {
		w := n.Args[e.index]
		s.edits = append(s.edits, textEdit{int(w.Pos().Offset()), int(w.End().Offset()), e.pieces})
	}
	return err
}
