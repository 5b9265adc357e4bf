package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// words measures what one command runs, and returns which of its words become
// which others.
func (p *plan) words(words []word, c place) (edits []edit, err error) {
	at := 0
	for {
		w := words[at]
		if !w.known {
			p.note("the command %s is known only when it runs", w.text)
			break
		}
		if c.shell && at == 0 && (c.functions[w.text] || w.text == "") {
			if _, err := p.lookup(w.text); err == nil {
				p.note("%s is a function of the text, or a command where that is not defined yet", w.text)
			}
			break
		}
		builtin := c.shell && isBuiltin(w.text)
		if !builtin {
			pieces, err := p.start(w.text, c, at > 0)
			if err != nil {
				return nil, err
			}
			if pieces != nil {
				edits = append(edits, edit{at, pieces})
			}
		} else if done, err := p.builtin(words[at:], at, c, &edits); done || err != nil {
			return edits, err
		}
		skip, note, ok := prefix(words[at:])
		if note != "" {
			p.note("%s", note)
		}
		if !ok {
			break
		}
		// What a program starts is looked up by that, and not by the shell.
		c.shell = c.shell && builtin && w.text != "exec"
		at += skip
	}
	more, err := p.arguments(words, at, c)
	return append(edits, more...), err
}

// start measures a command that is a file. It returns nothing where it cannot be
// told which.
func (p *plan) start(name string, c place, prefixed bool) ([]piece, error) {
	if c.scope != nil && c.moves && strings.Contains(name, "/") && !filepath.IsAbs(name) {
		p.note("%s is relative to a directory that the text changes to", name)
		return nil, nil
	}
	pieces, err := p.command(name, c.scope != nil || prefixed, 0)
	if c.scope != nil && absent(err) && !errors.Is(err, ErrInterpreter) {
		pieces = p.missing(name)
		if c.reads {
			p.note("%s is no command: it may be a function of what the text reads, or else what is there when it runs", name)
			return nil, nil
		}
		return pieces, nil
	}
	return pieces, err
}

// builtin measures what the shell itself reads or runs. done says that the other
// words are nothing to measure.
func (p *plan) builtin(words []word, at int, c place, edits *[]edit) (done bool, err error) {
	name := words[0].text
	switch name {
	case "eval", "trap", "alias", "enable", "hash":
		p.note("%s: what it makes the shell run is not measured", name)
		return true, nil
	case ".", "source":
		if len(words) < 2 {
			return true, nil
		}
		w := words[1]
		if !w.known || !strings.Contains(w.text, "/") {
			p.note("%s reads %s, which is looked for when it runs", name, w.text)
			return true, nil
		}
		pieces, err := p.script(w.text, c)
		if pieces != nil {
			*edits = append(*edits, edit{at + 1, pieces})
		}
		return true, err
	case "exec", "command", "builtin":
		return false, nil
	}
	return true, nil
}

// script measures a file that an interpreter reads.
func (p *plan) script(name string, c place) ([]piece, error) {
	switch {
	case strings.Contains(name, "://"):
		p.note("%s is downloaded when it runs", name)
		return nil, nil
	case c.scope != nil && c.moves && !filepath.IsAbs(name):
		p.note("%s is relative to a directory that the text changes to", name)
		return nil, nil
	}
	f, err := p.file(RoleScript, name, p.absolute(name))
	if c.scope != nil && errors.Is(err, process.ErrNotFound) {
		return p.missing(name), nil
	}
	if err != nil {
		return nil, err
	}
	return []piece{{file: f}}, nil
}

// arguments measures what the command words[at] is given.
func (p *plan) arguments(words []word, at int, c place) (edits []edit, err error) {
	name, args := words[at].text, words[at+1:]
	if c.shell && isBuiltin(name) || handlesData(name) {
		return nil, nil
	}
	done := -1
	if kind := family(name); kind != "" && words[at].known {
		inv := invoked(kind, args)
		if inv.note != "" {
			if c.scope == nil && filled(args) {
				return nil, fmt.Errorf("%w: a value of the event would choose what %s runs: %s", ErrDefinition, name, inv.note)
			}
			p.note("%s: %s", name, inv.note)
		}
		switch {
		case inv.script >= 0:
			done = inv.script
			pieces, err := p.script(args[done].text, c)
			if err != nil {
				return nil, err
			}
			if pieces != nil {
				edits = append(edits, edit{at + 1 + done, append(scriptFlags(name), pieces...)})
			}
		case inv.text >= 0:
			done = inv.text
			if strings.Contains(args[done].text, "{{") && c.scope == nil {
				return nil, fmt.Errorf("%w: a value of the event would stand in the text that %s runs", ErrDefinition, name)
			}
			nested, err := p.text(args[done].text, c.depth+1)
			if err != nil {
				return nil, err
			}
			edits = append(edits, edit{at + 1 + done, []piece{{nested: nested}}})
		}
	}
	for i, w := range args {
		if i == done || !w.known || c.scope != nil && c.moves && !filepath.IsAbs(w.text) {
			continue
		}
		if path := p.absolute(w.text); p.inWorkspace(path) {
			f, err := p.file(RoleArgument, w.text, path)
			if err != nil {
				return nil, err
			}
			edits = append(edits, edit{at + 1 + i, []piece{{file: f}}})
		}
	}
	return edits, nil
}

// filled says whether some of the words are filled in for each run.
func filled(words []word) bool {
	for _, w := range words {
		if !w.known {
			return true
		}
	}
	return false
}

// inWorkspace says whether path is a regular file in the workspace, by its name
// or by where it leads.
func (p *plan) inWorkspace(path string) bool {
	ws := p.definition.Workspace
	if ws == "" {
		return false
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	if realWS, err := filepath.EvalSymlinks(ws); err == nil && within(realWS, real) {
		return true
	}
	return within(filepath.Clean(ws), path)
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
