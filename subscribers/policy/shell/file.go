package shell

import (
	"path"
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// noteMoved reports the content of what is moved as read: a secret that is
// moved away can be read there.
func (o *operandReader) noteMoved(p *place.Path) {
	q := *p
	q.Op, q.Recursive = place.Read, false
	o.c.Paths = append(o.c.Paths, &q)
}

// linked remembers a symbolic link, whose target is relative to where it lies.
func (o *operandReader) linked(fields []field) {
	if len(fields) == 0 || len(fields) > 2 || fields[0].dynamic || !o.c.HasFlag("s", "symbolic") {
		return
	}
	target, at := fields[0].text, o.sc.abs(base(fields[0].text))
	if len(fields) == 2 {
		at = o.sc.abs(fields[1].text)
	}
	if at == "" || fields[len(fields)-1].dynamic || len(o.a.links) >= 64 {
		o.a.because(o.c, ReasonArgs, "a link to "+target)
		return
	}
	if !strings.HasPrefix(target, "/") {
		target = path.Join(path.Dir(at), target)
	}
	if o.a.links == nil {
		o.a.links = map[string]string{}
	}
	o.a.links[at] = strings.TrimSuffix(target, "/")
}

// copied remembers what is known about a file for its copy.
func (o *operandReader) copied(fields []field) {
	if len(fields) == 2 {
		if w, ok := o.a.written[o.sc.abs(fields[0].text)]; ok {
			if to := o.sc.abs(fields[1].text); to != "" {
				o.a.wrote(to, w)
			}
		}
	}
}

func (o *operandReader) search() {
	c := o.c
	fields := o.plain("-e -f -A -B -C -m -g -t -T --glob --type --regexp --file --max-count --after-context --before-context --context --include --exclude --exclude-dir --color --sort -d -D --iglob --type-not -j --threads -r --replace")
	if c.Name != "rg" {
		fields = o.plain("-e -f -A -B -C -m --regexp --file --max-count --after-context --before-context --context --include --exclude --exclude-dir --color")
	}
	if len(o.values("-e", "--regexp")) == 0 && !c.HasFlag("file", "files") && len(o.values("-f")) == 0 && len(fields) > 0 {
		fields = fields[1:]
	}
	deep := c.Name == "rg" || c.Name == "ag" || c.Name == "ack" || c.Name == "ugrep" || c.HasFlag("r", "R", "recursive", "dereference-recursive")
	for _, f := range fields {
		if p := o.add(f, place.Read); p != nil {
			p.Recursive = deep
		}
	}
}

func (o *operandReader) sed() {
	c := o.c
	fields := o.plain("-e -f -l --expression --file --line-length")
	scripts := o.values("-e", "--expression")
	if len(scripts) == 0 && len(o.values("-f", "--file")) == 0 && len(fields) > 0 {
		scripts, fields = fields[:1], fields[1:]
		// BSD: -i takes a suffix of its own.
		if scripts[0].text == "" && len(fields) > 0 && c.HasFlag("i") {
			scripts, fields = fields[:1], fields[1:]
		}
	}
	inPlace := c.HasFlag("i", "in-place")
	for _, f := range fields {
		o.add(f, place.Read)
		if inPlace {
			o.add(f, place.Write)
		}
	}
	for _, s := range scripts {
		if sedRuns(s.text) {
			o.a.code(c, s)
		}
	}
}

// sedRuns reports whether a sed script may run commands: the e command, or the
// e flag of s.
func sedRuns(script string) bool {
	for part := range strings.FieldsFuncSeq(script, func(r rune) bool { return r == ';' || r == '\n' || r == '{' || r == '}' }) {
		part = strings.TrimSpace(part)
		body := strings.TrimLeft(part, "0123456789,$!~+ ")
		if body == "e" || strings.HasPrefix(body, "e ") {
			return true
		}
		if len(body) > 3 && body[0] == 's' && strings.Count(body, string(body[1])) >= 3 {
			flags := body[strings.LastIndexByte(body, body[1])+1:]
			if strings.Contains(flags, "e") && strings.Trim(flags, "egGiImMpP0123456789") == "" {
				return true
			}
		}
	}
	return false
}

func (o *operandReader) tar() {
	c := o.c
	if len(c.Argv) < 2 {
		return
	}
	mode := c.Argv[1]
	extract := c.HasFlag("extract", "get", "x") || !strings.HasPrefix(mode, "-") && strings.Contains(mode, "x")
	create := c.HasFlag("create", "append", "update", "c", "r", "u") || !strings.HasPrefix(mode, "-") && strings.ContainsAny(mode, "cru")
	for _, f := range o.values("--checkpoint-action", "--to-command", "--use-compress-program", "--rmt-command", "--info-script", "--new-volume-script") {
		text := strings.TrimPrefix(f.text, "exec=")
		if !f.dynamic && strings.Contains(text, " ") {
			o.a.text(o.sc.child(), text, around{wrappers: with(o.out.wrappers, c.Name)})
		}
	}
	at := o.sc
	for _, f := range o.values("-C", "--directory") {
		at = at.child()
		o.a.cd(at, []field{f})
		if extract {
			o.add(f, place.Write)
		}
	}
	if !create {
		return
	}
	fields := o.plain("-f -C -T -X --file --directory --exclude --files-from")
	if !strings.HasPrefix(mode, "-") && len(fields) > 0 {
		if fields = fields[1:]; strings.Contains(mode, "f") && len(fields) > 0 {
			fields = fields[1:]
		}
	} else if len(o.values("--file")) == 0 && strings.HasSuffix(mode, "f") && len(fields) > 0 && !contains("-f", mode) {
		fields = fields[1:] // -czf archive
	}
	for _, f := range fields {
		p := o.a.path(at, f, place.Read)
		p.Recursive = true
		c.Paths = append(c.Paths, p)
	}
}
