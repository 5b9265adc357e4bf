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
	feeds    []string
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

func (a *analyzer) stmts(sc *scope, list []*syntax.Stmt, out around) {
	for _, s := range list {
		a.stmt(sc, s, out)
	}
}

func (a *analyzer) stmt(sc *scope, s *syntax.Stmt, out around) {
	if s == nil || len(a.script.Commands) >= MaxCommands {
		if s != nil {
			a.opaque(ReasonTooMany, "commands")
		}
		return
	}
	if !a.enter("commands") {
		return
	}
	defer a.leave()
	if s.Background || s.Coprocess || s.Disown {
		sc = sc.child()
	}
	redirs, in := a.redirects(sc, s)
	out.redirs = append(out.redirs[:len(out.redirs):len(out.redirs)], redirs...)
	if in != nil {
		in.from = append(in.from, out.input.from...)
		out.input = *in
	}
	a.cmd(sc, s.Cmd, out)
}

func (a *analyzer) cmd(sc *scope, cmd syntax.Command, out around) {
	switch c := cmd.(type) {
	case nil:
		a.bare(out)
	case *syntax.CallExpr:
		a.call(sc, c, out)
	case *syntax.BinaryCmd:
		a.binary(sc, c, out)
	case *syntax.Subshell:
		a.stmts(sc.child(), c.Stmts, out)
	case *syntax.Block:
		a.stmts(sc, c.Stmts, out)
	case *syntax.IfClause:
		a.stmts(sc, c.Cond, out)
		a.branch(sc, c.Then, out, false)
		if c.Else != nil {
			branch := sc.child()
			a.cmd(branch, c.Else, out)
			sc.merge(branch)
		}
	case *syntax.WhileClause:
		a.branch(sc, c.Cond, out, true)
		a.branch(sc, c.Do, out, true)
	case *syntax.ForClause:
		a.loop(sc, c, out)
	case *syntax.CaseClause:
		a.inner(sc, c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				a.inner(sc, p)
			}
			a.branch(sc, item.Stmts, out, false)
		}
	case *syntax.FuncDecl:
		a.function(sc, c, out)
	case *syntax.DeclClause:
		a.assign(sc, c.Args)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			a.stmt(sc, c.Stmt, out)
		}
	case *syntax.CoprocClause:
		a.stmt(sc.child(), c.Stmt, out)
	case *syntax.TestDecl:
		a.stmt(sc.child(), c.Body, out)
	default: // arithmetic, tests, let
		a.inner(sc, c)
	}
}

// branch reads statements that may not run, or run more than once.
func (a *analyzer) branch(sc *scope, list []*syntax.Stmt, out around, loop bool) {
	branch := sc.child()
	branch.loops = branch.loops || loop
	if loop {
		a.unsettle(branch, list)
	}
	a.stmts(branch, list, out)
	sc.merge(branch)
}

// unsettle forgets what a loop's body changes: on the second round it holds
// what the first has left there.
func (a *analyzer) unsettle(sc *scope, list []*syntax.Stmt) {
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Assign:
				if n.Name != nil {
					if old, ok := sc.variable(n.Name.Value); ok {
						sc.set(n.Name.Value, value{texts: old.texts, dynamic: true})
					}
				}
			case *syntax.CallExpr:
				if len(n.Args) > 0 {
					if name, ok := literal(n.Args[0]); ok && (name == "cd" || name == "pushd" || name == "popd") {
						if len(n.Args) != 2 || !absoluteWord(n.Args[1]) {
							sc.dir, sc.before = "", ""
						}
					}
				}
			case *syntax.Subshell, *syntax.CmdSubst, *syntax.ForClause, *syntax.WhileClause:
				_, subshell := n.(*syntax.Subshell)
				_, subst := n.(*syntax.CmdSubst)
				return !subshell && !subst
			}
			return true
		})
	}
}

func absoluteWord(w *syntax.Word) bool {
	text, ok := literal(w)
	return ok && strings.HasPrefix(text, "/")
}

func (a *analyzer) loop(sc *scope, c *syntax.ForClause, out around) {
	branch := sc.child()
	branch.loops = true
	a.unsettle(branch, c.Do)
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		var v value
		for _, w := range l.Items {
			a.inner(sc, w)
			for _, f := range a.word(sc, w) {
				switch {
				case f.dynamic:
					v.dynamic = true
				default:
					v.texts = append(v.texts, f.text)
				}
			}
		}
		if len(l.Items) == 0 {
			v.dynamic = true // over the arguments
		}
		branch.set(l.Name.Value, v)
	case *syntax.CStyleLoop:
		a.inner(sc, l)
	}
	a.stmts(branch, c.Do, out)
	sc.merge(branch)
}

// function reads a body where it is defined, as if it was called there.
func (a *analyzer) function(sc *scope, c *syntax.FuncDecl, out around) {
	body := sc.child()
	var defined []string
	if c.Name != nil {
		defined = append(defined, c.Name.Value)
	}
	for _, n := range c.Names {
		defined = append(defined, n.Value)
	}
	body.inside = append(body.inside[:len(body.inside):len(body.inside)], defined...)
	a.stmt(body, c.Body, out)
	if a.functions == nil {
		a.functions = map[string]*scope{}
	}
	for _, name := range defined {
		a.functions[name] = body
	}
}

func (a *analyzer) binary(sc *scope, c *syntax.BinaryCmd, out around) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		a.pipe(sc, c, out)
	case syntax.AndStmt:
		// The parts of a && b && c see what the ones before have done;
		// what comes after the list does not know how far it went.
		chain := flatten(c, syntax.AndStmt)
		a.stmt(sc, chain[0], out)
		branch := sc.child()
		a.stmts(branch, chain[1:], out)
		sc.merge(branch)
	default:
		a.stmt(sc, c.X, out)
		branch := sc.child()
		a.stmt(branch, c.Y, out)
		sc.merge(branch)
	}
}

// flatten lists the parts of a left-leaning chain of one operator.
func flatten(c *syntax.BinaryCmd, ops ...syntax.BinCmdOperator) []*syntax.Stmt {
	var out []*syntax.Stmt
	for {
		out = append(out, c.Y)
		x, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || !slices.Contains(ops, x.Op) || len(c.X.Redirs) > 0 || c.X.Negated {
			out = append(out, c.X)
			slices.Reverse(out)
			return out
		}
		c = x
	}
}

func (a *analyzer) pipe(sc *scope, c *syntax.BinaryCmd, out around) {
	stages := flatten(c, syntax.Pipe, syntax.PipeAll)
	in := out.input
	var spans [][2]int
	for i, s := range stages {
		stage := out
		stage.input = in
		start := len(a.script.Commands)
		a.stmt(sc.child(), s, stage)
		spans = append(spans, [2]int{start, len(a.script.Commands)})
		if i+1 < len(stages) {
			in = a.piped(sc, s, in, a.script.Commands[start:])
		}
	}
	// What a command feeds is known once the rest has been read.
	for i, span := range spans[:len(spans)-1] {
		var feeds []string
		for _, later := range spans[i+1:] {
			for _, c := range a.script.Commands[later[0]:later[1]] {
				if feeds = append(feeds, c.Name); len(feeds) >= 64 {
					break
				}
			}
		}
		for _, c := range a.script.Commands[span[0]:span[1]] {
			c.Feeds = append(c.Feeds, feeds...)
		}
	}
}

// piped is what a stage hands to the next.
func (a *analyzer) piped(sc *scope, s *syntax.Stmt, in input, ran []*Command) input {
	next := input{from: in.from}
	for _, c := range ran {
		name := c.Name
		if name == "" {
			name = "?"
		}
		if len(next.from) < 64 {
			next.from = append(next.from[:len(next.from):len(next.from)], name)
		}
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(s.Redirs) == 0 && len(call.Args) > 0 {
		next.text, next.known = a.printed(sc, a.words(sc, call.Args))
	}
	if len(ran) > 0 {
		switch first := ran[0]; first.Name {
		case "find", "fd", "fdfind":
			for _, p := range first.Paths {
				if !p.Unknown {
					next.under = append(next.under, strings.TrimSuffix(p.Dir(), "/")+found(first))
				}
			}
		case "ls":
			for _, p := range first.Paths {
				switch {
				case p.Glob:
					next.under = append(next.under, p.Abs)
				case !p.Unknown:
					next.under = append(next.under, strings.TrimSuffix(p.Abs, "/")+"/*")
				}
			}
			if len(first.Paths) == 0 && first.Directory != "" {
				next.under = []string{strings.TrimSuffix(first.Directory, "/") + "/*"}
			}
		case "grep", "egrep", "rg", "sort", "head", "tail", "uniq", "sed", "cut", "tr", "awk":
			for _, glob := range in.under {
				next.under = append(next.under, strings.TrimSuffix(strings.TrimSuffix(glob, "/*"), "/**")+"/**/*?")
			}
		case "cat":
			if in.here {
				next.text, next.known = in.text, in.known
			}
		}
	}
	return next
}

// found is the pattern of what find prints below a root: everything, or what
// its tests select.
func found(find *Command) string {
	if find.Name != "find" || find.HasFlag("name", "iname", "path", "ipath", "regex", "newer", "mtime", "size", "empty", "mmin", "perm") {
		return "/**/*?"
	}
	return "/**"
}

// bare is a redirection without a command, which empties the file.
func (a *analyzer) bare(out around) {
	if len(out.redirs) == 0 {
		return
	}
	c := a.record(&Command{Name: ":", Argv: []string{":"}}, out)
	c.Directory = ""
}

// inner reads the substitutions in a node.
func (a *analyzer) inner(sc *scope, n syntax.Node) []string {
	var from []string
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			from = append(from, a.nested(sc, n.Stmts)...)
			return false
		case *syntax.ProcSubst:
			from = append(from, a.nested(sc, n.Stmts)...)
			return false
		}
		return true
	})
	return from
}

func (a *analyzer) nested(sc *scope, list []*syntax.Stmt) []string {
	start := len(a.script.Commands)
	if !a.enter("substitution") {
		return nil
	}
	defer a.leave()
	a.stmts(sc.child(), list, around{})
	var out []string
	for _, c := range a.script.Commands[start:] {
		if len(out) >= 32 {
			break
		}
		if c.Name == "" {
			out = append(out, "?")
		} else {
			out = append(out, c.Name)
		}
	}
	return out
}

// abs is a path in the working directory, or empty.
func (sc *scope) abs(text string) string {
	if strings.HasPrefix(text, "/") {
		return path.Clean(text)
	}
	if sc.dir == "" {
		return ""
	}
	return path.Join(sc.dir, text)
}

func clip(s string) string {
	if len(s) > 160 {
		return s[:160] + "…"
	}
	return s
}
