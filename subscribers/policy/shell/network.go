package shell

import (
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// network reads tools that send and fetch.
func (o *operandReader) network() {
	c := o.c
	switch c.Name {
	case "curl", "curlie":
		o.curl()
	case "wget":
		o.all(place.Send, o.values("--post-file", "--body-file"))
		for _, f := range append(o.values("--post-data", "--body-data"), o.plain("-O -o -P --header --user --password -U")...) {
			c.Sent = append(c.Sent, f.vars...)
		}
		for _, f := range o.values("-O", "--output-document") {
			o.fetched(f)
		}
		if len(o.values("-O", "--output-document")) == 0 {
			o.fetchedByURL(o.plain("-P -o --header"))
		}
	case "http", "https", "xh", "httpie":
		for _, f := range o.plain("-o --output -a --auth") {
			if i := strings.IndexByte(f.text, '@'); i >= 0 && !strings.Contains(f.text, "://") {
				o.add(cut(f, i+1), place.Send)
			}
			c.Sent = append(c.Sent, f.vars...)
		}
	case "nc", "ncat", "netcat", "socat", "telnet", "ftp", "mail", "mutt", "sendmail":
		if in := o.out.input; in.file != "" {
			c.Paths = append(c.Paths, o.a.resolver.Path(in.file, "", place.Send))
		}
		for _, f := range o.values("-a", "-A") {
			if c.Name == "mail" || c.Name == "mutt" {
				o.add(f, place.Send)
			}
		}
		for _, f := range o.fields {
			c.Sent = append(c.Sent, f.vars...)
			for _, part := range strings.FieldsFunc(f.text, func(r rune) bool { return r == ',' }) {
				lower := strings.ToLower(part)
				for _, key := range []string{"exec:", "system:", "file:", "open:"} {
					if strings.HasPrefix(lower, key) {
						rest := part[len(key):]
						if key[0] == 'e' || key[0] == 's' {
							o.a.text(o.sc.child(), strings.Trim(rest, "'\""), around{wrappers: with(o.out.wrappers, c.Name)})
						} else {
							o.add(field{text: rest}, place.Send)
						}
					}
				}
			}
		}
		if (c.Name == "nc" || c.Name == "ncat" || c.Name == "netcat") && c.HasFlag("e", "c", "exec", "sh-exec") {
			c.Shell = true
			o.a.because(c, ReasonPipe, "it runs what comes from the network")
		}
	case "openssl":
		o.all(place.Read, o.values("-in"))
	case "nslookup", "dig", "host":
		for _, f := range o.fields {
			c.Sent = append(c.Sent, f.vars...)
		}
	}
}

func (o *operandReader) curl() {
	c := o.c
	data := o.values("-d", "--data", "--data-binary", "--data-ascii", "--data-urlencode", "--json", "-F", "--form", "--form-string", "--url-query")
	for _, f := range data {
		c.Sent = append(c.Sent, f.vars...)
		if i := strings.IndexAny(f.text, "@<"); i > 0 && c.HasFlag("data-urlencode") && f.text[i] == '@' {
			o.add(cut(f, i+1), place.Send)
		} else if i >= 0 && (i == 0 || f.text[i-1] == '=' || strings.Contains(f.text[:i], "=")) {
			g := cut(f, i+1)
			if at := strings.IndexByte(g.text, ';'); at > 0 {
				g.text = g.text[:at]
			}
			if g.text == "-" {
				o.sendStdin()
			} else {
				o.add(g, place.Send)
			}
		}
	}
	for _, f := range o.values("-T", "--upload-file") {
		if f.text == "-" || f.text == "." {
			o.sendStdin()
		} else {
			o.add(f, place.Send)
		}
	}
	o.all(place.Read, o.values("-K", "--config"))
	for _, f := range o.plain("-d --data --data-binary --data-raw --data-urlencode -F --form -H --header -u --user -o --output -T -X --request -A -b -c -e -m -w -x --proxy --cert --key --cacert --json") {
		c.Sent = append(c.Sent, f.vars...)
		if path, ok := strings.CutPrefix(f.text, "file://"); ok {
			o.add(field{text: path}, place.Read)
		}
	}
	for _, f := range o.values("--data-raw") {
		c.Sent = append(c.Sent, f.vars...)
	}
	for _, f := range o.values("-o", "--output") {
		o.fetched(f)
	}
	if c.HasFlag("O", "remote-name") {
		o.fetchedByURL(o.plain("-H --header -u --user -o --output -X --request"))
	}
}

func (o *operandReader) sendStdin() {
	if in := o.out.input; in.file != "" {
		o.c.Paths = append(o.c.Paths, o.a.resolver.Path(in.file, "", place.Send))
	}
}

// fetched remembers a file that came from elsewhere.
func (o *operandReader) fetched(f field) {
	p := o.add(f, place.Write)
	if p != nil && p.Abs != "" {
		o.a.wrote(p.Abs, written{by: []string{o.c.Name}})
	}
}

func (o *operandReader) fetchedByURL(fields []field) {
	for _, f := range fields {
		name := f.text
		if i := strings.IndexAny(name, "?#"); i >= 0 {
			name = name[:i]
		}
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			if at := o.sc.abs(name[i+1:]); at != "" {
				o.a.wrote(at, written{by: []string{o.c.Name}})
			}
		}
	}
}

// transfer reads scp and rsync: what goes to another machine is sent.
func (o *operandReader) transfer() {
	c := o.c
	fields := o.plain("-i -P -o -F -J -c -l -S -e --rsh --exclude --include --filter -f")
	for _, f := range o.values("-e", "--rsh") {
		if !f.dynamic && strings.Contains(f.text, " ") {
			o.a.text(o.sc.child(), f.text, around{wrappers: with(o.out.wrappers, c.Name)})
		}
	}
	deep := c.HasFlag("r", "a", "R", "recursive", "archive")
	last := len(fields) - 1
	for i, f := range fields {
		if remotePath(f.text) {
			continue
		}
		op := place.Read
		if i == last && i > 0 {
			op = place.Write
		} else if remotePath(fields[last].text) {
			op = place.Send
		}
		p := o.add(f, op)
		if p == nil {
			continue
		}
		p.Recursive = deep
		if op == place.Write && c.Name == "rsync" && c.HasFlag("delete", "delete-after", "delete-before", "delete-during", "delete-excluded", "del") {
			q := *p
			q.Op, q.Recursive = place.Delete, true
			c.Paths = append(c.Paths, &q)
		}
	}
}

// upload reads tools of storage and code hosts: a local file that is copied to
// them is sent.
func (o *operandReader) upload() {
	c := o.c
	c.Sub = firstWord(c.Args)
	words := o.plain("--profile --region -R --repo -d --desc -f --filename")
	sends := false
	for i, f := range words {
		switch f.text {
		case "cp", "mv", "sync", "copy", "put", "upload", "move", "gist", "rsync":
			sends = true
			words = words[i+1:]
		}
		if sends {
			break
		}
	}
	if !sends {
		o.unknown()
		return
	}
	for i, f := range words {
		if remotePath(f.text) || f.text == "-" || f.text == "create" || i > 0 && i == len(words)-1 && c.Name != "gh" && c.Name != "glab" {
			continue
		}
		if p := o.add(f, place.Send); p != nil {
			p.Recursive = true
		}
	}
}

func remotePath(w string) bool {
	i := strings.IndexByte(w, ':')
	return i > 0 && !strings.Contains(w[:i], "/") && !(i == 1 && len(w) > 2 && w[2] == '\\') || strings.Contains(w, "://")
}
