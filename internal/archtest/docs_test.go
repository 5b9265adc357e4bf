package archtest_test

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryPackageHasOneDocumentation(t *testing.T) {
	t.Parallel()
	tr := load(t)
	for dir, files := range tr.packages() {
		var with []string
		for _, f := range files {
			if f.syntax.Doc != nil && strings.TrimSpace(f.syntax.Doc.Text()) != "" {
				with = append(with, f.path)
				want, begin := "Package "+f.syntax.Name.Name+" ", f.syntax.Doc.Text()
				if f.syntax.Name.Name == "main" {
					want = path.Base(dir) + " " // capital or not, and with "Command" before it or not
					begin = strings.TrimPrefix(strings.ToLower(begin), "command ")
				}
				assert.True(t, strings.HasPrefix(begin, want), "%s: the package's documentation begins with %q", f.path, want)
			}
			for _, c := range f.syntax.Comments {
				if c.End() < f.syntax.Package && c != f.syntax.Doc && strings.HasPrefix(c.Text(), "Package ") {
					assert.Fail(t, "detached documentation", "%s: a blank line keeps it from showing", tr.at(c))
				}
			}
		}
		assert.Len(t, with, 1, "%s: exactly one file documents the package", dir)
	}
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	t.Parallel()
	tr := load(t)
	for _, f := range tr.files {
		if f.test || f.syntax.Name.Name == "main" {
			continue
		}
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) {
					documented(t, tr, d, d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() {
							documented(t, tr, s, s.Name, s.Doc, only(d))
							methods(t, tr, s)
						}
					case *ast.ValueSpec:
						for _, name := range s.Names {
							if name.IsExported() {
								documented(t, tr, s, name, s.Doc, s.Comment, d.Doc)
							}
						}
					}
				}
			}
		}
	}
}

// only is the declaration's comment where it has no parentheses, and so is its
// one type's.
func only(d *ast.GenDecl) *ast.CommentGroup {
	if d.Lparen == token.NoPos {
		return d.Doc
	}
	return nil
}

func documented(t *testing.T, tr tree, n ast.Node, name *ast.Ident, comments ...*ast.CommentGroup) {
	t.Helper()
	for _, c := range comments {
		if c != nil && strings.TrimSpace(c.Text()) != "" {
			return
		}
	}
	assert.Fail(t, "undocumented", "%s: %s is exported and has no comment", tr.at(n), name.Name)
}

// methods checks an interface's methods: its comments are the contract.
func methods(t *testing.T, tr tree, s *ast.TypeSpec) {
	t.Helper()
	i, ok := s.Type.(*ast.InterfaceType)
	if !ok || i.Methods.NumFields() < 2 {
		return // the only method is described by the interface's own comment
	}
	for _, m := range i.Methods.List {
		for _, name := range m.Names {
			documented(t, tr, m, name, m.Doc, m.Comment)
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return false
		}
	}
}
