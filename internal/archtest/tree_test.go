package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/grapnel-dev/grapnel"

// file is one Go file of the tree, whatever system it is for.
type file struct {
	path   string // from the root, with slashes
	dir    string
	test   bool
	syntax *ast.File
	lines  int
}

// imports lists the file's imports.
func (f file) imports() []string {
	var list []string
	for _, i := range f.syntax.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// testOnly reports whether the package is a test kit: its name ends in "test".
func testOnly(dir string) bool { return strings.HasSuffix(path.Base(dir), "test") }

// tree is the whole repository.
type tree struct {
	root  string
	files []file
	fset  *token.FileSet
}

func load(t *testing.T) tree {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(root, "go.mod"))
	tr := tree{root: root, fset: token.NewFileSet()}
	tr.walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, ".") {
			return // the go command does not look into .ci either
		}
		full := filepath.Join(root, filepath.FromSlash(name))
		src, err := os.ReadFile(full)
		require.NoError(t, err)
		syntax, err := parser.ParseFile(tr.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		tr.files = append(tr.files, file{
			path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			syntax: syntax, lines: strings.Count(string(src), "\n"),
		})
	})
	require.NotEmpty(t, tr.files)
	return tr
}

// walk calls f for every file of the project but for what git does not know
// and what tests generate.
func (tr tree) walk(t *testing.T, f func(name string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(tr.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(tr.root, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			switch {
			case name == ".git", name == "bin", name == "dist", d.Name() == "testdata":
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			f(name)
		}
		return nil
	}))
}

// packages groups the files that are not tests by directory.
func (tr tree) packages() map[string][]file {
	m := map[string][]file{}
	for _, f := range tr.files {
		if !f.test {
			m[f.dir] = append(m[f.dir], f)
		}
	}
	return m
}

// at is a place for a message.
func (tr tree) at(n ast.Node) string { return tr.fset.Position(n.Pos()).String() }

// calls reports every use of pkg.name, for names in a package that the file
// imports under that name.
func (tr tree) calls(f file, pkg string, names ...string) []string {
	var places []string
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		if !ok || x.Name != pkg {
			return true
		}
		for _, name := range names {
			if s.Sel.Name == name {
				places = append(places, tr.at(s)+": "+pkg+"."+name)
			}
		}
		return true
	})
	return places
}
