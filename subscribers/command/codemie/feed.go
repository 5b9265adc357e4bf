package codemie

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// The hook inputs, member for member and in the order of the documentation.
type (
	preToolUseInput struct {
		Event          string          `json:"hook_event_name"`
		Tool           string          `json:"tool_name"`
		Input          json.RawMessage `json:"tool_input"`
		CallID         string          `json:"tool_use_id"`
		SessionID      string          `json:"session_id"`
		CWD            string          `json:"cwd"`
		PermissionMode string          `json:"permission_mode"`
	}
	postToolUseInput struct {
		Event     string          `json:"hook_event_name"`
		Tool      string          `json:"tool_name"`
		Input     json.RawMessage `json:"tool_input"`
		Output    string          `json:"tool_output"`
		Metadata  json.RawMessage `json:"tool_metadata"`
		SessionID string          `json:"session_id"`
		CWD       string          `json:"cwd"`
	}
	userPromptSubmitInput struct {
		Event     string `json:"hook_event_name"`
		Prompt    string `json:"prompt"`
		SessionID string `json:"session_id"`
		CWD       string `json:"cwd"`
	}
	sessionStartInput struct {
		Event          string `json:"hook_event_name"`
		SessionID      string `json:"session_id"`
		CWD            string `json:"cwd"`
		Agent          string `json:"agent_name"`
		Profile        string `json:"profile_name"`
		PermissionMode string `json:"permission_mode"`
	}
	stopInput struct {
		Event     string `json:"hook_event_name"`
		SessionID string `json:"session_id"`
		CWD       string `json:"cwd"`
	}
)

// feed makes what a run of a hook gets.
func feed(h dialect.Hook, c *dialect.Call) (dialect.Feed, error) {
	in, err := marshal(input(h, c))
	if err != nil {
		return dialect.Feed{}, fmt.Errorf("%w: %w", dialect.ErrFeed, err)
	}
	if h.Type == dialect.TypePrompt {
		return dialect.Feed{Stdin: in}, nil
	}
	if len(in) > command.MaxVariable && c.Blocks && !strings.Contains(h.Shell, "GRAPNEL_OMITTED") {
		return dialect.Feed{}, fmt.Errorf("%w: the event has %d bytes, and an environment variable (CODEMIE_HOOK_INPUT) holds %d; "+
			"let the hook read standard input, and put GRAPNEL_OMITTED into its command to say that it does", dialect.ErrFeed, len(in), command.MaxVariable)
	}
	d := c.Event.Data
	return dialect.Feed{
		Shell: h.Shell,
		Stdin: in,
		Env: []string{
			"CODEMIE_PROJECT_DIR=" + c.Workspace,
			"CODEMIE_SESSION_ID=" + c.Event.SessionID,
			"CODEMIE_HOOK_EVENT=" + c.Name,
			"CODEMIE_TOOL_NAME=" + c.Tool,
			"CODEMIE_AGENT_NAME=" + d.Native.Agent,
			"CODEMIE_PROFILE_NAME=" + h.Profile,
			"CODEMIE_TRANSCRIPT_PATH=" + transcript(d.Native.Payload),
			"CODEMIE_PERMISSION_MODE=" + permissionMode(d.PermissionMode),
			"CODEMIE_HOOK_INPUT=" + string(in),
		},
	}, nil
}

// input is the hook input of the call's event.
func input(h dialect.Hook, c *dialect.Call) any {
	d, session := c.Event.Data, c.Event.SessionID
	cwd := d.CWD
	if cwd == "" {
		cwd = c.Workspace
	}
	switch c.Name {
	case preToolUse:
		id := c.Event.ID
		if d.Tool != nil && d.Tool.CallID != "" {
			id = d.Tool.CallID
		}
		return preToolUseInput{c.Name, c.Tool, c.ToolInput(), id, session, cwd, permissionMode(d.PermissionMode)}
	case postToolUse:
		output, metadata := result(c)
		return postToolUseInput{c.Name, c.Tool, c.ToolInput(), output, metadata, session, cwd}
	case userPromptSubmit:
		return userPromptSubmitInput{c.Name, d.Prompt, session, cwd}
	case sessionStart:
		return sessionStartInput{c.Name, session, cwd, d.Native.Agent, h.Profile, permissionMode(d.PermissionMode)}
	}
	return stopInput{c.Name, session, cwd}
}

// result is what the tool said: as text, and as an object where it is one.
func result(c *dialect.Call) (output string, metadata json.RawMessage) {
	metadata = json.RawMessage("{}")
	if c.Event.Data.Error != "" {
		output = c.Event.Data.Error
	}
	raw := bytes.TrimSpace(c.Event.Data.Result)
	if len(raw) == 0 || string(raw) == "null" {
		return output, metadata
	}
	switch raw[0] {
	case '{':
		metadata = raw
	case '"':
		var text string
		if strictjson.Unmarshal(raw, &text, 0) == nil {
			return text, metadata
		}
	}
	return string(raw), metadata
}

// permissionMode is an agent's word for how much it asks in CodeMie's two
// words. A mode that nobody knows is one in which the agent asks.
func permissionMode(mode string) string {
	switch mode {
	case "auto", "bypassPermissions", "dontAsk", "yolo", "never", "full-auto":
		return "auto"
	}
	return "manual"
}

// transcript is where the agent keeps the session's transcript, or "". Most
// agents call it the same.
func transcript(payload json.RawMessage) string {
	var native struct {
		Path string `json:"transcript_path"`
	}
	if len(payload) == 0 || strictjson.UnmarshalOpen(payload, &native, 0) != nil {
		return ""
	}
	return native.Path
}

// marshal writes JSON as scripts without a JSON reader like it: on one line,
// and each character of a string in one way, whatever escapes the agent chose.
// Else "\u0072m" would get past a script that looks for "rm". Numbers keep
// their spelling.
func marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	text := jsontext.Value(b)
	err = text.Format(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(false), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	return text, err
}
