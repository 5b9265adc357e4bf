package answer

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// answerObject is one JSON object of an answer, with what it decides.
type answerObject struct {
	words    []Word
	reason   string
	context  string
	rewrite  json.RawMessage
	nonce    string
	hasNonce bool
	// inner are the objects in it, but for the new input of a tool, which is
	// no part of the answer.
	inner []string
	// problem says what decision in it cannot be read.
	problem string
}

// known are the keys that mean something, as they must be written.
func known() []string {
	return []string{"decision", "permissionDecision", "behavior", "ok", "hookSpecificOutput", "nonce"}
}

// openObject reads a well-formed object; false means that it is none.
func openObject(text string) (answerObject, bool) {
	var o answerObject
	ok := o.members(text, func(key string, value jsontext.Value) {
		switch key {
		case "decision", "permissionDecision", "behavior":
			o.word(key, value)
		case "ok":
			switch value.Kind() {
			case 't':
				o.words = append(o.words, OK)
			case 'f':
				o.words = append(o.words, NotOK)
			default:
				o.problem = "an ok that is neither true nor false stands in it"
			}
		case "nonce":
			o.hasNonce, o.nonce = true, str(value)
		case "hookSpecificOutput":
			o.specific(value)
		default:
			o.other(key, value)
		}
	})
	return o, ok
}

// specific reads Claude Code's hookSpecificOutput, and the decision object of
// its permission requests.
func (o *answerObject) specific(value jsontext.Value) {
	ok := o.members(string(value), func(key string, value jsontext.Value) {
		switch {
		case key == "decision" && value.Kind() == '{':
			o.members(string(value), func(key string, value jsontext.Value) {
				if key == "behavior" {
					o.word(key, value)
				} else {
					o.other(key, value)
				}
			})
		case key == "decision" || key == "permissionDecision":
			o.word(key, value)
		default:
			o.other(key, value)
		}
	})
	if !ok {
		o.problem = "its hookSpecificOutput is no object"
	}
}

// other takes what goes with a decision.
func (o *answerObject) other(key string, value jsontext.Value) {
	for _, k := range known() {
		if strings.EqualFold(k, key) {
			o.problem = "a key that looks like a decision's and is not one stands in it"
		}
	}
	switch key {
	case "reason", "permissionDecisionReason", "message":
		if s := str(value); o.reason == "" {
			o.reason = s
		}
	case "additionalContext":
		o.context = str(value)
	case "updatedInput":
		if value.Kind() != 'n' && !bytes.Equal(bytes.TrimSpace(value), []byte("{}")) {
			o.rewrite = json.RawMessage(bytes.Clone(value))
		}
	default:
		o.nested(value)
	}
}

// nested keeps the objects in a member that is not ours.
func (o *answerObject) nested(value jsontext.Value) {
	switch value.Kind() {
	case '{':
		o.inner = append(o.inner, string(value))
	case '[':
		d := jsontext.NewDecoder(bytes.NewReader(value))
		_, _ = d.ReadToken()
		for d.PeekKind() != ']' {
			v, err := d.ReadValue()
			if err != nil {
				return
			}
			o.nested(v.Clone())
		}
	}
}

// word reads one decision.
func (o *answerObject) word(key string, value jsontext.Value) {
	w := Word(str(value))
	if _, ok := w.effect(); !ok || w == OK || w == NotOK {
		o.problem = "its " + key + " is none that is known"
		if value.Kind() == '{' || value.Kind() == '[' {
			o.nested(value)
		}
		return
	}
	o.words = append(o.words, w)
}

// verdicts are the decisions of the object.
func (o *answerObject) verdicts() []Verdict {
	var list []Verdict
	for _, w := range o.words {
		e, _ := w.effect()
		list = append(list, Verdict{Word: w, Effect: e, Reason: o.reason, Context: o.context, Rewrite: o.rewrite})
	}
	return list
}

// members calls f for each member of an object, whose keys are known to be
// unique.
func (o *answerObject) members(text string, f func(key string, value jsontext.Value)) bool {
	d := jsontext.NewDecoder(strings.NewReader(text))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return false
	}
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			return false
		}
		key := t.String()
		value, err := d.ReadValue()
		if err != nil {
			return false
		}
		f(key, value.Clone())
	}
	return true
}

// str is the text of a JSON string, else nothing.
func str(value jsontext.Value) string {
	if value.Kind() != '"' {
		return ""
	}
	b, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(b)
}
