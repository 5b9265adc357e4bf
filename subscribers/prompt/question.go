package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Question is what a model is asked about: a hook's input as the hook's dialect
// shapes it. A hook's text refers to its fields by placeholders.
type Question struct {
	// Input is the full hook input ($ARGUMENTS), one JSON value.
	Input json.RawMessage
	// ToolName is $TOOL_NAME, ToolInput $TOOL_INPUT (one JSON value), Prompt
	// $PROMPT, SessionID $SESSION_ID and CWD $CWD. What is empty is shown to
	// the model as null.
	ToolName  string
	ToolInput json.RawMessage
	Prompt    string
	SessionID string
	CWD       string
}

// ofEvent makes the question of [Judge.Decide]. The input is the event in our
// own words: unlike what the agent sent, it holds the tool's input as deciders
// before this one have left it.
func ofEvent(e hook.Event) (Question, error) {
	data := e.Data
	if e.Name.Known() && e.Name != hook.Other {
		data.Native.Payload = nil // all of it that matters is in the fields
	}
	input, err := json.Marshal(struct {
		Event     hook.Name `json:"event"`
		Subject   string    `json:"subject,omitempty"`
		SessionID string    `json:"session_id,omitempty"`
		hook.Data
	}{e.Name, e.Subject, e.SessionID, data})
	if err != nil {
		return Question{}, fmt.Errorf("%w: the event cannot be written as JSON: %w", ErrQuestion, err)
	}
	q := Question{Input: input, Prompt: e.Data.Prompt, SessionID: e.SessionID, CWD: e.Data.CWD}
	if t := e.Data.Tool; t != nil {
		q.ToolName, q.ToolInput = t.Name, t.Input
	}
	return q, nil
}

// value returns the bytes of one part as one JSON value on one line.
func (q Question) value(p placeholder) []byte {
	switch p {
	case arguments:
		return oneLine(q.Input)
	case toolInput:
		return oneLine(q.ToolInput)
	case toolName:
		return quoted(q.ToolName)
	case userText:
		return quoted(q.Prompt)
	case sessionID:
		return quoted(q.SessionID)
	case directory:
		return quoted(q.CWD)
	}
	return []byte("null")
}

// oneLine compacts a JSON document; anything else is shown as a string.
func oneLine(raw json.RawMessage) []byte {
	if len(bytes.TrimSpace(raw)) == 0 {
		return []byte("null")
	}
	var out bytes.Buffer
	if !utf8.Valid(raw) || json.Compact(&out, raw) != nil {
		return quoted(string(raw))
	}
	return out.Bytes()
}

func quoted(s string) []byte {
	if s == "" {
		return []byte("null")
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return bytes.TrimSpace(out.Bytes())
}

// section is one part as the model sees it.
type section struct {
	name  placeholder
	lines []string
	bytes int
	cut   int // bytes left out
}

// newSection shows a value of at most limit bytes; a longer one keeps its head
// and its tail, with mark between them.
func newSection(p placeholder, value string, limit int, mark string) section {
	value = visible(value, false)
	s := section{name: p, bytes: len(value), lines: []string{value}}
	if len(value) <= limit {
		return s
	}
	head, tail := limit*2/3, len(value)-limit/3
	for head > 0 && !utf8.RuneStart(value[head]) {
		head--
	}
	for tail < len(value) && !utf8.RuneStart(value[tail]) {
		tail++
	}
	s.cut = tail - head
	s.lines = []string{value[:head], "<<<CUT " + mark + " " + strconv.Itoa(s.cut) + " bytes are left out here>>>", value[tail:]}
	return s
}
