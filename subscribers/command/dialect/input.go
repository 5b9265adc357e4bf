package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Field is what a member of a tool's input holds, whatever agents call it.
type Field string

// The fields.
const (
	FieldCommand     Field = "command"
	FieldPath        Field = "path"
	FieldContent     Field = "content"
	FieldOld         Field = "old"
	FieldNew         Field = "new"
	FieldPattern     Field = "pattern"
	FieldURL         Field = "url"
	FieldQuery       Field = "query"
	FieldPrompt      Field = "prompt"
	FieldDescription Field = "description"
)

// fieldNames are what agents call a field of a tool, the most common first.
func fieldNames(t Tool, f Field) []string {
	switch f {
	case FieldCommand:
		return []string{"command", "cmd", "script", "CommandLine", "commandLine", "command_line"}
	case FieldPath:
		if t == ToolGlob || t == ToolGrep || t == ToolList {
			return []string{"path", "dir_path", "directory", "DirectoryPath", "SearchPath"}
		}
		return []string{"file_path", "path", "absolute_path", "filePath", "filename", "target_file", "TargetFile", "AbsolutePath", "notebook_path"}
	case FieldContent:
		return []string{"content", "contents", "file_text", "CodeContent", "text"}
	case FieldOld:
		return []string{"old_string", "old_str", "oldString", "TargetContent"}
	case FieldNew:
		return []string{"new_string", "new_str", "newString", "ReplacementContent"}
	case FieldPattern:
		return []string{"pattern", "glob_pattern", "Pattern", "Query", "query"}
	case FieldURL:
		return []string{"url", "Url", "uri"}
	case FieldQuery:
		return []string{"query", "q", "search_term"}
	case FieldPrompt:
		return []string{"prompt", "task", "message", "instructions"}
	case FieldDescription:
		return []string{"description", "title"}
	}
	return nil
}

// view is a tool's input as a dialect's hooks see it: the members that the
// agent wrote, and, where the dialect calls one of them otherwise, the same
// value under the dialect's name. Nothing is taken away.
type view struct {
	input json.RawMessage
	// added maps the dialect's names to the agent's.
	added map[string]string
}

// viewOf makes the view of a tool's input. An input that is no JSON object is
// seen as it is.
func (v Vocabulary) viewOf(t Tool, input json.RawMessage) view {
	out := view{input: input}
	trimmed := bytes.TrimSpace(input)
	if len(trimmed) == 0 || trimmed[0] != '{' {
		return out
	}
	var members map[string]json.RawMessage
	for _, f := range v.Fields {
		if f.Tool != t {
			continue
		}
		if members == nil {
			if err := strictjson.UnmarshalOpen(trimmed, &members, 0); err != nil {
				return out
			}
		}
		if _, there := members[f.Name]; there {
			continue
		}
		for _, name := range fieldNames(t, f.Field) {
			if value, ok := members[name]; ok {
				if out.added == nil {
					out.added = make(map[string]string)
				}
				out.added[f.Name] = name
				// Put before the closing brace, so that the agent's bytes stay.
				key, _ := json.Marshal(f.Name)
				out.input = slices.Concat(bytes.TrimSuffix(bytes.TrimSpace(out.input), []byte("}")), []byte(","), key, []byte(":"), value, []byte("}"))
				break
			}
		}
	}
	return out
}

// ErrRewrite is wrapped by the errors about an answer that changes the input
// in a way that cannot be said to the agent.
var ErrRewrite = errors.New("hook changes the tool's input in a way that cannot be used")

// back turns a new input in the dialect's words into the agent's.
func (w view) back(rewrite json.RawMessage) (json.RawMessage, error) {
	if len(w.added) == 0 || len(rewrite) == 0 {
		return rewrite, nil
	}
	var before, after map[string]json.RawMessage
	if err := strictjson.UnmarshalOpen(w.input, &before, 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	if err := strictjson.UnmarshalOpen(rewrite, &after, 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	for ours, theirs := range w.added {
		value, there := after[ours]
		delete(after, ours)
		if !there || bytes.Equal(value, before[ours]) {
			continue
		}
		if old, both := after[theirs]; both && !bytes.Equal(old, before[theirs]) && !bytes.Equal(old, value) {
			return nil, fmt.Errorf("%w: it sets %q and %q, which are the same, to different values", ErrRewrite, ours, theirs)
		}
		after[theirs] = value
	}
	return json.Marshal(after)
}

// patched merges a patch into an object, member by member (one level).
func patched(input, patch json.RawMessage) (json.RawMessage, error) {
	var members, changes map[string]json.RawMessage
	if len(bytes.TrimSpace(input)) > 0 {
		if err := strictjson.UnmarshalOpen(input, &members, 0); err != nil {
			return nil, fmt.Errorf("%w: the tool's input is no object: %w", ErrRewrite, err)
		}
	}
	if err := strictjson.UnmarshalOpen(patch, &changes, 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRewrite, err)
	}
	if members == nil {
		members = make(map[string]json.RawMessage, len(changes))
	}
	for name, value := range changes {
		members[name] = value
	}
	return json.Marshal(members)
}
