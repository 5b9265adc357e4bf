package pack

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Placeholder stands in configuration files for the directory that the pack is
// installed in.
const Placeholder = "${GRAPNEL_PACK}"

// sample is what the placeholder stands for while a pack is not installed.
const sample = "/grapnel-pack"

// plainPath are the paths that mean the same in JSON, in shell text, quoted or
// not, and in an argument.
var plainPath = regexp.MustCompile(`^(/[A-Za-z0-9._+@,=:-]+)+$`)

// placed fills the placeholder in.
func placed(text []byte, dir string) ([]byte, error) {
	if !bytes.Contains(text, []byte(Placeholder)) {
		return text, nil
	}
	if !plainPath.MatchString(dir) {
		return nil, fmt.Errorf("%w: the pack's files use %s, and the path %.200q has characters that mean something to a shell; use another state directory", ErrRoot, Placeholder, dir)
	}
	return bytes.ReplaceAll(text, []byte(Placeholder), []byte(dir)), nil
}

// configuration is the files that are installed besides the pack's own: where
// dialects read their hooks from.
func (p *Pack) configuration(dir string) (map[string]file, error) {
	files := make(map[string]file)
	for name, source := range p.manifest.Dialects {
		text, err := placed(p.files[source].data, dir)
		if err != nil {
			return nil, err
		}
		if len(text) > dialect.MaxFile {
			return nil, fmt.Errorf("%w: %s has more than %d bytes with the pack's directory filled in", ErrTooLarge, source, dialect.MaxFile)
		}
		files[configurationName(name)] = file{data: text}
	}
	return files, nil
}

func configurationName(dialectName string) string { return "hooks." + dialectName + ".json" }

// read has a dialect read its file.
func (p *Pack) read(d *dialect.Dialect) error {
	source := p.manifest.Dialects[d.Name]
	text, err := placed(p.files[source].data, sample)
	switch {
	case err != nil:
		return err
	case len(text) > dialect.MaxFile:
		return fmt.Errorf("%w: %s has more than %d bytes", ErrTooLarge, source, dialect.MaxFile)
	}
	from := dialect.Origin{File: sample + "/" + configurationName(d.Name), Source: trust.Downloaded, Base: sample}
	hooks, problems := d.Read(text, from)
	for _, problem := range problems {
		problem.File = source
		problem.Text = shown(problem.Text)
		p.problems = append(p.problems, problem)
	}
	if len(hooks) == 0 {
		text := "it has no hooks"
		if len(problems) > 0 {
			text = shown(problems[0].Error())
		}
		return fmt.Errorf("%w: %s does not load as %s: %s", ErrFormat, source, d.Name, text)
	}
	for _, h := range hooks {
		if h.Origin.Source.Loosens() {
			return fmt.Errorf("%w: %s: hook %s claims to be from %s", ErrFormat, source, h.Label(), h.Origin.Source)
		}
		if name, ours := program(h); ours {
			if _, ok := p.files[name]; !ok {
				return fmt.Errorf("%w: %s: hook %s runs %.200q, which is not in the pack", ErrContent, source, h.Label(), shown(h.Command[0]))
			}
		}
		p.hooks = append(p.hooks, Hook{Dialect: d.Name, Name: h.Label(), Events: slices.Clone(h.Events), Runs: shown(h.Text())})
	}
	return nil
}

// program is the file of the pack that a hook runs; empty where it leads out of
// the pack. What shell text runs is for the approval to find out.
func program(h dialect.Hook) (name string, ours bool) {
	if len(h.Command) == 0 || strings.Contains(h.Command[0], "{{") {
		return "", false
	}
	name = filepath.ToSlash(h.Command[0])
	inside := strings.HasPrefix(name, sample+"/")
	relative := strings.Contains(name, "/") && !strings.HasPrefix(name, "~/") && !filepath.IsAbs(h.Command[0])
	switch {
	case relative:
		name = path.Join(sample, name)
	case inside:
		name = path.Clean(name)
	default:
		return "", false
	}
	name, ours = strings.CutPrefix(name, sample+"/")
	if !ours {
		return "", true
	}
	return name, true
}

// shown puts the placeholder where the sample is.
func shown(text string) string { return strings.ReplaceAll(text, sample, Placeholder) }
