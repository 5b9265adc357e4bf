package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxFrontMatter is how large a front matter may be, in bytes.
const MaxFrontMatter = 64 << 10

// maxDepth bounds how deep YAML nests.
const maxDepth = 64

// ErrFrontMatter is wrapped by the errors about a front matter.
var ErrFrontMatter = errors.New("bad front matter")

// frontMatter returns the name in a Markdown file's front matter, and its hooks
// as the JSON text of an object with that one key; {} when it has none.
func frontMatter(text []byte) (object []byte, name string, err error) {
	none := []byte("{}")
	block, ok := cut(text)
	if !ok || !bytes.Contains(block, []byte("hooks")) {
		return none, "", nil
	}
	root, err := parse(block)
	if err != nil {
		return none, "", err
	}
	object = none
	for _, v := range values(root) {
		key := v.Key.String()
		switch strings.Trim(key, `"'`) {
		case "name":
			if s, ok := v.Value.(*ast.StringNode); ok {
				name = s.Value
			}
		case "hooks":
			var b bytes.Buffer
			b.WriteString(`{"hooks":`)
			if err := write(&b, v.Value, 1); err != nil {
				return none, "", err
			}
			b.WriteByte('}')
			object = b.Bytes()
		}
	}
	return object, name, nil
}

// cut takes the text between the first two lines that are "---".
func cut(text []byte) ([]byte, bool) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	first, rest, ok := bytes.Cut(text, []byte("\n"))
	if !ok || string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, false
	}
	for from := 0; from < len(rest); {
		line, _, more := bytes.Cut(rest[from:], []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			return rest[:from], true
		}
		if from += len(line) + 1; !more {
			break
		}
	}
	return nil, false
}

func bad(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %w: "+format, append([]any{line + 1, ErrFrontMatter}, args...)...)
}

// parse reads the YAML text strictly.
func parse(block []byte) (ast.Node, error) {
	switch {
	case len(block) > MaxFrontMatter:
		return nil, bad(0, "it has %d bytes, at most %d are read", len(block), MaxFrontMatter)
	case bytes.IndexByte(block, 0) >= 0:
		return nil, bad(0, "it holds a NUL byte")
	}
	if line, deep := tooDeep(block); deep {
		return nil, bad(line, "it nests deeper than %d levels", maxDepth)
	}
	file, err := parseYAML(block)
	if err != nil {
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) && syntax.Token != nil {
			return nil, bad(syntax.Token.Position.Line, "%.200s", syntax.Message)
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, bad(0, "%.200s", first)
	}
	var root ast.Node
	for _, d := range file.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType || d.Body.Type() == ast.NullType {
			continue
		}
		if root != nil {
			return nil, bad(0, "it holds a second document")
		}
		root = d.Body
	}
	w := &refuser{}
	if root != nil {
		ast.Walk(w, root)
	}
	return root, w.err
}

// parseYAML keeps a panic of the YAML reader from ending the process.
func parseYAML(block []byte) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be read: %v", r)
		}
	}()
	return parser.ParseBytes(block, 0)
}

// tooDeep bounds the YAML reader's recursion, by brackets, by indicators on one
// line, and by how far lines are indented.
func tooDeep(block []byte) (line int, deep bool) {
	depth, indicators, indent := 0, 0, 0
	start := true
	line = 1
	for _, c := range block {
		switch c {
		case '\n':
			line, indicators, indent, start = line+1, 0, 0, true
			continue
		case ' ':
			if start {
				indent++
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '-', '?', ':':
			indicators++
		}
		start = false
		if depth > maxDepth || indicators > 8*maxDepth || indent > 4*maxDepth {
			return line, true
		}
	}
	return line, false
}

// refuser finds what makes a YAML text mean more than it shows.
type refuser struct{ err error }

// Visit implements ast.Visitor.
func (r *refuser) Visit(n ast.Node) ast.Visitor {
	if r.err != nil {
		return nil
	}
	switch n.Type() {
	case ast.AnchorType, ast.AliasType, ast.MergeKeyType, ast.TagType:
		r.err = bad(lineOf(n), "anchors, aliases, merge keys and tags are not read; write it out")
		return nil
	}
	return r
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

func values(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// write writes a node as JSON. The reader of the JSON refuses keys that come
// twice.
func write(b *bytes.Buffer, n ast.Node, depth int) error {
	if depth > maxDepth {
		return bad(lineOf(n), "it nests deeper than %d levels", maxDepth)
	}
	var scalar any
	switch n := n.(type) {
	case nil, *ast.NullNode:
	case *ast.MappingNode, *ast.MappingValueNode:
		return writeMapping(b, values(n), depth)
	case *ast.SequenceNode:
		b.WriteByte('[')
		for i, v := range n.Values {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, v, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case *ast.StringNode:
		scalar = n.Value
	case *ast.LiteralNode:
		scalar = n.Value.Value
	case *ast.BoolNode:
		scalar = n.Value
	case *ast.IntegerNode:
		scalar = n.Value
	case *ast.FloatNode:
		scalar = n.Value
	default:
		return bad(lineOf(n), "%s is not read here", n.Type())
	}
	text, err := json.Marshal(scalar)
	if err != nil {
		return bad(lineOf(n), "%v", err)
	}
	b.Write(text)
	return nil
}

func writeMapping(b *bytes.Buffer, list []*ast.MappingValueNode, depth int) error {
	b.WriteByte('{')
	for i, v := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		var key string
		switch k := v.Key.(type) {
		case *ast.StringNode:
			key = k.Value
		default:
			key = strings.TrimSpace(v.Key.String())
		}
		text, err := json.Marshal(key)
		if err != nil {
			return bad(lineOf(v), "%v", err)
		}
		b.Write(text)
		b.WriteByte(':')
		if err := write(b, v.Value, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}
