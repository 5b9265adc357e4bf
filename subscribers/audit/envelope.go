package audit

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/redact"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// The kinds of records that the log writes on its own account.
const (
	// Redaction says that the payload of record Target was deleted.
	Redaction hook.RecordKind = "redaction"
	// Recovered says that Bytes bytes of an incomplete record were cut off at
	// a start, as they are left by a crash.
	Recovered hook.RecordKind = "recovered"
)

// Version is the version of the envelope.
const Version = 1

// Envelope is what a leaf of the tree says about a record: who, what, when,
// and the outcome, but nothing of the content, since a leaf stays for ever.
// Texts are redacted and cut to 128 bytes; the payload has them whole.
type Envelope struct {
	Version int   `json:"v"`
	Index   int64 `json:"index"`
	// Logged is when the record was written, UTC; it never runs backwards
	// within a log.
	Logged time.Time       `json:"logged"`
	Kind   hook.RecordKind `json:"kind"`
	// Time is when the gateway finished with the event.
	Time   time.Time `json:"time,omitzero"`
	Caller string    `json:"caller,omitempty"`

	// What the event says of itself.
	Source    string    `json:"source,omitempty"`
	EventID   string    `json:"event_id,omitempty"`
	EventTime time.Time `json:"event_time,omitzero"`
	Event     string    `json:"event,omitempty"`
	Subject   string    `json:"subject,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	Session   string    `json:"session,omitempty"`
	// ParentSession is the session that this one was started from, and
	// RootSession the one that a person started.
	ParentSession string `json:"parent_session,omitempty"`
	RootSession   string `json:"root_session,omitempty"`
	Turn          string `json:"turn,omitempty"`
	Cause         string `json:"cause,omitempty"`
	Hops          int    `json:"hops,omitzero"`
	ToolKind      string `json:"tool_kind,omitempty"`
	CallID        string `json:"call_id,omitempty"`

	// What became of it.
	Effect   string    `json:"effect,omitempty"`
	Roster   uint64    `json:"roster,omitzero"`
	Rules    []string  `json:"rules,omitempty"`
	Deciders []Decider `json:"deciders,omitempty"`
	// Omitted counts deciders for which there was no room.
	Omitted int `json:"omitted,omitzero"`

	// Target is the record that a redaction is about.
	Target *int64 `json:"target,omitempty"`
	// Bytes is how much a recovery cut off.
	Bytes int64 `json:"bytes,omitzero"`

	// Secrets is how many secrets were taken out of the payload.
	Secrets int `json:"secrets,omitzero"`
	// Payload is HMAC-SHA256(salt, payload), in hex.
	Payload string `json:"payload"`
}

// Decider is one decider's part, see [hook.DeciderOutcome].
type Decider struct {
	Name      string       `json:"name"`
	Outcome   hook.Outcome `json:"outcome"`
	Effect    string       `json:"effect"`
	Shadow    bool         `json:"shadow,omitzero"`
	Rewrote   bool         `json:"rewrote,omitzero"`
	ElapsedUS int64        `json:"elapsed_us,omitzero"`
}

// ParseEnvelope reads a leaf strictly.
func ParseEnvelope(leaf []byte) (Envelope, error) {
	var e Envelope
	if err := strictjson.Unmarshal(leaf, &e, MaxLeaf); err != nil {
		return e, fmt.Errorf("audit: envelope: %w", err)
	}
	if e.Version != Version {
		return e, fmt.Errorf("audit: envelope version %d, and this program reads %d", e.Version, Version)
	}
	if _, ok := leafIndex(leaf); !ok || e.Kind == "" || len(e.Payload) != 64 {
		return e, errors.New("audit: envelope: index, kind or payload is missing")
	}
	return e, nil
}

// leafRoom is what a leaf's head may take: version, index and time.
const leafRoom = 128

// maxText is the longest text that an envelope holds where there is room.
const maxText = 128

type leafSize struct{ text, deciders, rules int }

// leafSizes is what an envelope tries to hold, from generous to what always
// fits.
func leafSizes() []leafSize {
	return []leafSize{{maxText, 24, 16}, {maxText, 8, 8}, {64, 4, 4}, {20, 2, 1}}
}

// body makes the leaf but for its head (see leafHead), which only the writer
// knows.
func (e Envelope) body() ([]byte, error) {
	for _, size := range leafSizes() {
		b, err := jsonv2.Marshal(e.cut(size.text, size.deciders, size.rules))
		if err != nil {
			return nil, fmt.Errorf("audit: envelope: %w", err)
		}
		// The head's place holders go; it comes from leafHead.
		at := bytes.Index(b, []byte(`"kind":`))
		if b = b[at:]; len(b) <= MaxLeaf-leafRoom {
			return b, nil
		}
	}
	return nil, errors.New("audit: the envelope does not fit")
}

// texts lists the fields that hold what somebody else wrote.
func (e *Envelope) texts() []*string {
	return []*string{&e.Caller, &e.Source, &e.EventID, &e.Event, &e.Subject, &e.Agent, &e.Session, &e.ParentSession, &e.RootSession, &e.Turn,
		&e.Cause, &e.ToolKind, &e.CallID}
}

// redact takes secrets out of all texts: a leaf can never be erased, so that
// not even a tool's name may carry one into it.
func (e *Envelope) redact(r *redact.Redactor) {
	clean := func(s *string) {
		if b, n := r.Bytes([]byte(*s)); n > 0 {
			*s = string(b)
		}
	}
	for _, s := range e.texts() {
		clean(s)
	}
	for i := range e.Rules {
		clean(&e.Rules[i])
	}
	for i := range e.Deciders {
		clean(&e.Deciders[i].Name)
	}
}

func (e Envelope) cut(text, deciders, rules int) Envelope {
	for _, s := range e.texts() {
		*s = clip(*s, text)
	}
	e.Kind = hook.RecordKind(clip(string(e.Kind), 32))
	if len(e.Rules) > rules {
		e.Rules = e.Rules[:rules]
	}
	e.Rules = append([]string(nil), e.Rules...)
	for i, r := range e.Rules {
		e.Rules[i] = clip(r, text)
	}
	if len(e.Deciders) > deciders {
		e.Omitted = len(e.Deciders) - deciders
		e.Deciders = e.Deciders[:deciders]
	}
	e.Deciders = append([]Decider(nil), e.Deciders...)
	for i := range e.Deciders {
		e.Deciders[i].Name = clip(e.Deciders[i].Name, 64)
		e.Deciders[i].Outcome = hook.Outcome(clip(string(e.Deciders[i].Outcome), 32))
	}
	return e
}

// clip makes s valid UTF-8 of at most n bytes and "…".
func clip(s string, n int) string {
	if !utf8.ValidString(s) {
		s = string(bytes.ToValidUTF8([]byte(s), []byte("\uFFFD")))
	}
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// leafHead is the start of each leaf. Its form is fixed, so that the index can
// be read without a JSON parser.
const leafHead = `{"v":1,"index":`

func appendLeaf(b []byte, index int64, logged time.Time, body []byte) []byte {
	b = append(b, leafHead...)
	b = strconv.AppendInt(b, index, 10)
	b = append(b, `,"logged":"`...)
	b = logged.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000000Z")
	b = append(b, `",`...)
	return append(b, body...)
}

// leafIndex reads the index out of a leaf's head.
func leafIndex(leaf []byte) (int64, bool) {
	rest, ok := bytes.CutPrefix(leaf, []byte(leafHead))
	if !ok {
		return 0, false
	}
	end := bytes.IndexByte(rest, ',')
	if end < 1 || end > 19 || rest[0] == '0' && end > 1 || rest[0] == '-' || rest[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(rest[:end]), 10, 64)
	return n, err == nil
}

// leafCommitment reads the payload's commitment, the last member of a leaf.
func leafCommitment(leaf []byte) (sum [32]byte, ok bool) {
	const tail = `"payload":"`
	n := len(leaf) - 64 - 2
	if n < len(tail) || string(leaf[n-len(tail):n]) != tail || string(leaf[n+64:]) != `"}` {
		return sum, false
	}
	_, err := hex.Decode(sum[:], leaf[n:n+64])
	return sum, err == nil
}

// envelopeOf describes r.
func envelopeOf(r hook.Record) Envelope {
	e := Envelope{
		Version: Version, Kind: r.Kind, Time: r.Time.UTC(), Caller: r.Caller,
		Source: r.Event.Source, EventID: r.Event.ID, EventTime: r.Event.Time.UTC(), Event: string(r.Event.Name),
		Subject: r.Event.Subject, Agent: agentOf(r.Event), Session: r.Event.SessionID, Turn: r.Event.CorrelationID,
		Cause: r.Event.CausationID, Hops: r.Event.Hops,
		ParentSession: r.Event.ParentSession(), RootSession: r.Event.Extensions[hook.RootSessionExtension],
	}
	if t := r.Event.Data.Tool; t != nil {
		e.ToolKind, e.CallID = string(t.Kind), t.CallID
	}
	if v := r.Verdict; v != nil {
		e.Effect, e.Roster = v.Effect.String(), v.RosterRevision
		seen := map[string]bool{}
		for _, o := range v.Outcomes {
			e.Deciders = append(e.Deciders, Decider{o.Decider, o.Outcome, o.Effect.String(), o.Shadow, o.Rewrote, o.ElapsedUS})
			for _, rule := range o.Rules {
				if !seen[rule] {
					seen[rule] = true
					e.Rules = append(e.Rules, rule)
				}
			}
		}
	}
	return e
}

func agentOf(e hook.Event) string {
	if a := e.Data.Native.Agent; a != "" {
		return a
	}
	if a := path.Base(e.Source); e.Source != "" && a != "/" {
		return a
	}
	return ""
}
