package shell

import (
	"os"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// Analyze reads a command string that a POSIX-like shell would run in dir. It
// always returns a script; what it could not read makes the script opaque. It
// takes time linear in the text, and looks at the file system only through
// resolver.
func Analyze(text, dir string, resolver *place.Resolver, roots place.Roots) *Script {
	a := &analyzer{script: &Script{Text: text, named: map[string][]*Command{}}, resolver: resolver, places: roots}
	sc := &scope{dir: place.Slash(dir)}
	if roots.Home != "" {
		sc.set("HOME", value{texts: []string{place.Slash(roots.Home)}})
	}
	sc.set("IFS", value{texts: []string{" \t\n"}})
	sc.set("TMPDIR", value{texts: []string{a.temp()}})
	a.text(sc, text, around{})
	for _, c := range a.script.Commands {
		a.script.Paths = append(a.script.Paths, c.Paths...)
	}
	for _, r := range a.script.Redirects {
		if !slices.Contains(a.script.Paths, r.Target) {
			a.script.Paths = append(a.script.Paths, r.Target)
		}
	}
	return a.script
}

// Unreadable returns the opaque script of a text that is in no language that
// this package reads, or of a tool call that holds no text.
func Unreadable(text string, reason Reason) *Script {
	return &Script{Text: text, Opaque: true, Reasons: []Reason{reason}, named: map[string][]*Command{}}
}

type analyzer struct {
	script   *Script
	resolver *place.Resolver
	places   place.Roots

	depth int // nesting
	bytes int // script text parsed
	count int // words expanded

	functions map[string]*scope  // what calling a function may change
	written   map[string]written // files that the script itself wrote
	links     map[string]string  // symbolic links that it made
}

// written is what the script put into a file.
type written struct {
	text  string
	known bool
	by    []string // names of the commands whose output it holds
}

// around is what surrounds a command.
type around struct {
	wrappers []string
	remote   bool
	input    input
	redirs   []*Redirect
	env      []*syntax.Assign
	extra    []string // words that are added by xargs, as far as they are known
	guess    bool     // extra may be followed by words that are not known
}

// input is what a command reads on standard input, as far as it is known.
type input struct {
	from  []string // names of the commands that write it
	text  string
	known bool     // text is all of it
	under []string // it lists paths that match these globs
	here  bool     // it is a here-document or here-string
	file  string   // absolute path of the file it comes from
}

func (a *analyzer) opaque(code, detail string) {
	a.script.Opaque = true
	r := Reason{Code: code, Detail: clip(detail)}
	if len(a.script.Reasons) < 32 && !slices.Contains(a.script.Reasons, r) {
		a.script.Reasons = append(a.script.Reasons, r)
	}
}

// temp is the directory that mktemp uses.
func (a *analyzer) temp() string {
	if len(a.places.Temp) > 0 {
		return strings.TrimSuffix(place.Slash(a.places.Temp[0]), "/")
	}
	return strings.TrimSuffix(place.Slash(os.TempDir()), "/")
}

// enter goes one level down; leave must be called when it reports true.
func (a *analyzer) enter(what string) bool {
	if a.depth >= MaxDepth {
		a.opaque(ReasonTooDeep, what)
		return false
	}
	a.depth++
	return true
}

func (a *analyzer) leave() { a.depth-- }

// text parses a script text and reads it.
func (a *analyzer) text(sc *scope, text string, out around) {
	if a.bytes += len(text); a.bytes > MaxText {
		a.opaque(ReasonTooLong, "")
		return
	}
	if tooNested(text) {
		a.opaque(ReasonTooDeep, "brackets")
		return
	}
	if i := strings.IndexFunc(text, control); i >= 0 {
		a.opaque(ReasonControl, "")
	}
	if !a.enter("script in a script") {
		return
	}
	defer a.leave()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		// Zsh, the login shell of macOS, has syntax of its own; what it can
		// read counts, and the script stays opaque: the shell that runs it
		// is not known.
		a.opaque(ReasonSyntax, err.Error())
		if file, err = syntax.NewParser(syntax.Variant(syntax.LangZsh)).Parse(strings.NewReader(text), ""); err != nil {
			a.salvage(sc, text, out)
			return
		}
	}
	a.stmts(sc, file.Stmts, out)
}

// salvage reads the lines of a text that does not parse one by one: a shell
// that stops at the error has run the lines before it.
func (a *analyzer) salvage(sc *scope, text string, out around) {
	lines := strings.Split(text, "\n")
	if len(lines) < 2 || len(lines) > 200 {
		return
	}
	for _, line := range lines {
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
		if err == nil {
			a.stmts(sc, file.Stmts, out)
		}
	}
}

// control knows the characters that make shells disagree about a text.
func control(r rune) bool {
	return r == 0 || r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f
}

// tooNested bounds the parser's recursion before it starts.
func tooNested(text string) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			if depth++; depth > 400 {
				return true
			}
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
	}
	return false
}

// abs is a path in the working directory, or empty.
func (s *scope) abs(text string) string {
	if strings.HasPrefix(text, "/") {
		return path.Clean(text)
	}
	if s.dir == "" {
		return ""
	}
	return path.Join(s.dir, text)
}

func clip(s string) string {
	if len(s) > 160 {
		return s[:160] + "…"
	}
	return s
}
