package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// ErrPolicy is wrapped by every error about the text of a policy.
var ErrPolicy = errors.New("bad policy")

// Source is one policy file.
type Source struct {
	// Name says where it comes from, for people: a path.
	Name string `json:"name"`
	// Content is the YAML text.
	Content []byte `json:"content"`
}

// Limits of one source.
const (
	MaxSource = 1 << 20 // bytes
	MaxRules  = 1000
)

// written is a source as it was read.
type written struct {
	source  string
	on      []hook.Pattern // of rules without their own
	sets    []writtenSet
	disable []mark
	rules   []writtenRule
}

type mark struct {
	text string
	line int
}

type writtenSet struct {
	mark
	patterns []string
}

type writtenRule struct {
	line                  int
	name                  string
	on                    []hook.Pattern
	when, rewrite         mark
	static                json.RawMessage // of a rewrite that is a map
	effect                hook.Effect
	reason, context       string
	hasEffect, hasRewrite bool
}

// fault is an error with its place.
func fault(source string, line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w: %w", source, line, ErrPolicy, fmt.Errorf(format, args...))
}

// read reads one source strictly.
func read(s Source) (*written, error) {
	root, err := document(s)
	if err != nil {
		return nil, err
	}
	w := &written{source: s.Name}
	if root == nil {
		return w, nil
	}
	entries, err := mapping(s.Name, root, "version", "on", "sets", "disable", "rules")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		switch e.key {
		case "version":
			var version int
			if err := decode(s.Name, e.value, &version); err != nil {
				return nil, err
			}
			if version != 1 {
				return nil, fault(s.Name, e.line, "version %d is not known; this program reads version 1", version)
			}
		case "on":
			w.on, err = w.readOn(e.value)
		case "sets":
			err = w.readSets(e.value)
		case "disable":
			err = w.readDisable(e.value)
		case "rules":
			err = w.readRules(e.value)
		}
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

// document parses the YAML text; nil when it is empty.
func document(s Source) (ast.Node, error) {
	if len(s.Content) > MaxSource {
		return nil, fault(s.Name, 1, "it has %d bytes; at most %d are read", len(s.Content), MaxSource)
	}
	if bytes.IndexByte(s.Content, 0) >= 0 {
		return nil, fault(s.Name, 1, "it holds a NUL byte; write it as UTF-8 text")
	}
	if line, deep := tooDeep(s.Content); deep {
		return nil, fault(s.Name, line, "brackets nest too deep")
	}
	file, err := parse(s.Content)
	if err != nil {
		line := 1
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) && syntax.Token != nil {
			line = syntax.Token.Position.Line
			return nil, fault(s.Name, line, "%s", syntax.Message)
		}
		return nil, fault(s.Name, line, "%s", firstLine(err.Error()))
	}
	var root ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
			continue
		}
		if root != nil {
			return nil, fault(s.Name, lineOf(doc.Body), "a second document; one file holds one policy")
		}
		root = doc.Body
	}
	if root == nil {
		return nil, nil
	}
	walker := &refuser{source: s.Name}
	ast.Walk(walker, root)
	return root, walker.err
}

// parse keeps a panic of the YAML reader from ending the process.
func parse(src []byte) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML text cannot be read: %v", r)
		}
	}()
	return parser.ParseBytes(src, 0)
}

// tooDeep bounds the YAML reader's recursion.
func tooDeep(src []byte) (line int, deep bool) {
	depth, line := 0, 1
	run := 0
	for _, c := range src {
		switch c {
		case '[', '{':
			if depth++; depth > 200 {
				return line, true
			}
		case ']', '}':
			depth = max(0, depth-1)
		case '\n':
			line++
			run = 0
		case '-', '?', ':':
			if run++; run > 400 {
				return line, true
			}
		}
	}
	return line, false
}

// refuser finds what makes a YAML text mean more than it shows.
type refuser struct {
	source string
	err    error
}

// Visit implements ast.Visitor.
func (r *refuser) Visit(n ast.Node) ast.Visitor {
	if r.err != nil {
		return nil
	}
	switch n.Type() {
	case ast.AnchorType, ast.AliasType, ast.MergeKeyType, ast.TagType:
		r.err = fault(r.source, lineOf(n), "anchors, aliases, merge keys and tags are not read; write it out")
		return nil
	}
	return r
}

type entry struct {
	key   string
	line  int
	value ast.Node
}

// mapping lists the entries of a mapping and refuses keys that are not known,
// and those that come twice. No known keys means any.
func mapping(source string, n ast.Node, known ...string) ([]entry, error) {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		if n != nil && n.Type() == ast.NullType {
			return nil, nil
		}
		return nil, fault(source, lineOf(n), "expected a mapping (key: value)")
	}
	seen := map[string]bool{}
	var out []entry
	for _, v := range values {
		var key string
		if err := decode(source, v.Key, &key); err != nil {
			return nil, err
		}
		line := lineOf(v.Key)
		if seen[key] {
			return nil, fault(source, line, "%q comes twice", key)
		}
		seen[key] = true
		ok := len(known) == 0
		for _, k := range known {
			ok = ok || k == key
		}
		if !ok {
			return nil, fault(source, line, "unknown key %q; there are %s", key, strings.Join(known, ", "))
		}
		out = append(out, entry{key: key, line: line, value: v.Value})
	}
	return out, nil
}

func sequence(source string, n ast.Node) ([]ast.Node, error) {
	switch s := n.(type) {
	case *ast.SequenceNode:
		return s.Values, nil
	case nil, *ast.NullNode:
		return nil, nil
	}
	return nil, fault(source, lineOf(n), "expected a list")
}

func decode(source string, n ast.Node, v any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fault(source, lineOf(n), "the value cannot be read")
		}
	}()
	if n == nil {
		return fault(source, 1, "a value is missing")
	}
	if text, ok := v.(*string); ok {
		switch n.Type() {
		case ast.StringType, ast.LiteralType:
		default:
			return fault(source, lineOf(n), "expected text; put it in quotes")
		}
		return wrapDecode(source, n, yaml.NodeToValue(n, text))
	}
	return wrapDecode(source, n, yaml.NodeToValue(n, v, yaml.Strict()))
}

func wrapDecode(source string, n ast.Node, err error) error {
	if err == nil {
		return nil
	}
	return fault(source, lineOf(n), "%s", firstLine(err.Error()))
}

// lineOf is where a node begins; a mapping's own token is its first colon.
func lineOf(n ast.Node) int {
	switch m := n.(type) {
	case *ast.MappingNode:
		if len(m.Values) > 0 {
			return lineOf(m.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return lineOf(m.Key)
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1
	}
	return n.GetToken().Position.Line
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if len(line) > 200 {
		line = line[:200] + "…"
	}
	return line
}
