package archtest_test

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// maxLines is how long a file may be that is not a test: nobody holds more in
// mind.
const maxLines = 400

func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	for _, f := range load(t).files {
		if !f.test {
			assert.LessOrEqual(t, f.lines, maxLines, "%s: split it by noun", f.path)
		}
	}
}

func TestNoInit(t *testing.T) {
	t.Parallel()
	tr := load(t)
	for _, f := range tr.files {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				assert.Fail(t, "init", "%s: what runs on import cannot be ordered, tested or left out", tr.at(fn))
			}
		}
	}
}

// stateless are calls whose result nobody can change.
var stateless = map[string]bool{
	"errors.New": true, "fmt.Errorf": true, "regexp.MustCompile": true,
	"crc32.MakeTable": true, // one of the package's own tables
}

func TestNoPackageLevelState(t *testing.T) {
	t.Parallel()
	tr := load(t)
	for _, f := range tr.files {
		if f.test || testOnly(f.dir) {
			continue
		}
		for _, d := range f.syntax.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				if embedded(g, v) {
					continue
				}
				for i, name := range v.Names {
					if name.Name == "_" || (i < len(v.Values) && isStateless(v.Values[i])) {
						continue
					}
					assert.Fail(t, "package-level state", "%s: var %s; package variables are for errors, regular expressions and embedded files", tr.at(v), name.Name)
				}
			}
		}
	}
}

func isStateless(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && stateless[x.Name+"."+s.Sel.Name]
}

func embedded(g *ast.GenDecl, v *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{g.Doc, v.Doc} {
		if doc == nil {
			continue
		}
		for _, c := range doc.List {
			if strings.HasPrefix(c.Text, "//go:embed ") {
				return true
			}
		}
	}
	return false
}

func TestOnlyCommandsExitAndPrint(t *testing.T) {
	t.Parallel()
	tr := load(t)
	for _, f := range tr.files {
		if f.test || fits("cmd/...", f.dir) {
			continue
		}
		assert.Empty(t, tr.calls(f, "os", "Exit"), "a library returns an error")
		assert.Empty(t, tr.calls(f, "fmt", "Print", "Printf", "Println"), "a library prints nothing")
		assert.Empty(t, tr.calls(f, "slog", "Default", "SetDefault", "Debug", "Info", "Warn", "Error"), "the logger is passed in")
	}
}
