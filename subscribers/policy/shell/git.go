package shell

import (
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// git finds the subcommand behind git's own options, and the directory that it
// works in.
func (o *operandReader) git() {
	c := o.c
	at := o.sc.child()
	fields := o.fields
	for len(fields) > 0 {
		f := fields[0]
		w := f.text
		if !strings.HasPrefix(w, "-") {
			break
		}
		fields = fields[1:]
		name, value, joined := strings.Cut(w, "=")
		switch name {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--exec-path":
			v := field{text: value, dynamic: f.dynamic}
			if !joined || name == "-C" || name == "-c" {
				if len(fields) == 0 {
					return
				}
				v, fields = fields[0], fields[1:]
			}
			switch name {
			case "-C", "--work-tree":
				o.a.cd(at, []field{v})
			case "-c":
				o.gitConfig(v)
			}
		}
	}
	if len(fields) == 0 {
		return
	}
	if fields[0].dynamic {
		o.a.because(c, ReasonArgs, fields[0].text)
		return
	}
	c.Sub = fields[0].text
	c.Directory = at.dir
	words := make([]string, 0, len(fields))
	for _, f := range fields[1:] {
		words = append(words, f.text)
	}
	c.flags, c.Args = parseFlags(words)
	o.sc, o.fields = at, fields[1:]
	here := field{text: "."}
	switch c.Sub {
	case "clean":
		targets := o.plain("-e --exclude")
		if len(targets) == 0 {
			targets = []field{here}
		}
		if c.HasFlag("f", "force") && !c.HasFlag("n", "dry-run") {
			for _, f := range targets {
				if f.text == "." || f.text == "./" || f.text == ":/" {
					f.text, f.glob = "./**/*?", true
				}
				if p := o.add(f, place.Delete); p != nil {
					p.Recursive = true
				}
			}
		}
	case "rm", "add", "stage":
		op := place.Delete
		if c.Sub != "rm" {
			op = place.Use
		}
		if !c.HasFlag("cached") || c.Sub != "rm" {
			o.all(op, o.plain("--pathspec-from-file"))
		}
	case "restore", "checkout":
		words := o.fields
		if c.Sub == "checkout" {
			for i, f := range words {
				if f.text == "--" {
					o.all(place.Write, words[i+1:])
				}
			}
		} else {
			o.all(place.Write, o.plain("-s --source"))
		}
	case "diff", "show", "log", "blame", "grep", "hash-object", "archive", "bundle", "apply":
		for _, f := range o.plain("") {
			if !f.dynamic && (strings.HasPrefix(f.text, "/") || strings.HasPrefix(f.text, "../")) {
				o.add(f, place.Read)
			}
		}
	case "config":
		if v := o.plain("--file -f --type --default"); len(v) >= 2 {
			if strings.HasPrefix(v[len(v)-1].text, "!") || gitRuns(v[len(v)-2].text) {
				o.gitConfig(field{text: v[len(v)-2].text + "=" + v[len(v)-1].text, dynamic: v[len(v)-1].dynamic})
			}
		}
	case "filter-branch":
		for _, f := range o.values("--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter") {
			o.a.evaluate(o.sc.child(), c, []field{f}, around{wrappers: o.out.wrappers})
		}
	case "rebase":
		for _, f := range o.values("-x", "--exec") {
			o.a.evaluate(o.sc.child(), c, []field{f}, around{wrappers: o.out.wrappers})
		}
	case "submodule", "bisect":
		words := o.plain("")
		if len(words) > 1 && (words[0].text == "foreach" || words[0].text == "run") {
			o.a.evaluate(o.sc.child(), c, skipFlags(words[1:]), around{wrappers: o.out.wrappers})
		}
	case "worktree":
		if words := o.plain("-b -B"); len(words) > 1 && words[0].text == "remove" {
			o.allRecursive(place.Delete, words[1:])
		}
	}
}

// gitConfig reads settings whose value git runs.
func (o *operandReader) gitConfig(v field) {
	key, text, _ := strings.Cut(v.text, "=")
	if !gitRuns(key) {
		return
	}
	if v.dynamic {
		o.a.because(o.c, ReasonCode, v.text)
		return
	}
	if strings.HasPrefix(strings.ToLower(key), "alias.") {
		if !strings.HasPrefix(text, "!") {
			// The alias may be a git command: push --force.
			text = "git " + text
		}
		text = strings.TrimPrefix(text, "!")
	}
	if strings.ContainsAny(text, " ;|&$`/") {
		o.a.text(o.sc.child(), text, around{wrappers: with(o.out.wrappers, "git")})
	}
}

func gitRuns(key string) bool {
	key = strings.ToLower(key)
	switch key {
	case "core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.askpass", "sequence.editor", "diff.external", "credential.helper", "gpg.program":
		return true
	}
	return strings.HasPrefix(key, "alias.") || strings.HasPrefix(key, "pager.") || strings.HasSuffix(key, ".textconv") || strings.HasSuffix(key, ".command") ||
		strings.HasSuffix(key, ".cmd") || strings.HasSuffix(key, ".clean") || strings.HasSuffix(key, ".smudge") || strings.HasSuffix(key, ".driver")
}
