package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Filter selects records. Empty fields select everything; all that are given
// must hold.
type Filter struct {
	// Since and Until bound the time at which a record was written: from
	// Since on, before Until.
	Since, Until time.Time
	Kind         hook.RecordKind
	// Session is a session and all that were started from it, over however
	// many others.
	Session string
	Agent   string
	Event   string // canonical event name
	Effect  string // the verdict's effect
	Tool    string // the event's subject, in any case of ASCII letters
	EventID string
	// Text must stand in the payload, in any case of ASCII letters. Records
	// whose payload was deleted do not match.
	Text string
	// OldestFirst turns the order around; otherwise the newest come first.
	OldestFirst bool
	// Limit is how many records at most; 0 means all.
	Limit int
}

// Search yields the records that match f, the newest first. It brings the
// search index up to date before it looks. It ends with the first error.
func (r *Reader) Search(ctx context.Context, f Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		ix, err := r.index(ctx)
		if err == nil {
			_, err = ix.catchUp(ctx, r, 0)
		}
		if err != nil {
			yield(Record{}, err)
			return
		}
		needles := textNeedles(f.Text)
		found := 0
		// In pages: a search that is being read must not hold a transaction
		// open over the index.
		for from := int64(-1); ; {
			page, err := ix.page(ctx, f, from)
			if err != nil {
				yield(Record{}, fmt.Errorf("audit: search: %w", err))
				return
			}
			for _, i := range page {
				rec, err := r.Record(i)
				if err == nil && needles != nil && !rec.holds(needles) {
					continue
				}
				if !yield(rec, err) || err != nil {
					return
				}
				if found++; found == f.Limit {
					return
				}
			}
			if len(page) < pageSize {
				return
			}
			from = page[len(page)-1]
		}
	}
}

const pageSize = 500

// run is a session with those that were started from it. One record that says
// where a session comes from is enough for all of its others.
const run = `WITH RECURSIVE run(s) AS (SELECT ?
	UNION SELECT r.session FROM run JOIN records r ON r.parent = run.s WHERE r.parent <> '' AND r.session <> ''
	UNION SELECT r.session FROM run JOIN records r ON r.root = run.s WHERE r.root <> '' AND r.session <> '')
	SELECT s FROM run`

// page returns the next matching indexes behind from; -1 is the start.
func (ix *index) page(ctx context.Context, f Filter, from int64) ([]int64, error) {
	where, args := []string{"1"}, []any{}
	add := func(cond string, arg any) { where, args = append(where, cond), append(args, arg) }
	if !f.Since.IsZero() {
		add("logged >= ?", f.Since.UnixNano())
	}
	if !f.Until.IsZero() {
		add("logged < ?", f.Until.UnixNano())
	}
	for _, c := range [...]struct{ column, value string }{
		{"kind", string(f.Kind)}, {"agent", f.Agent}, {"event", f.Event}, {"effect", f.Effect}, {"id", f.EventID},
	} {
		if c.value != "" {
			add(c.column+" = ?", clip(c.value, maxText))
		}
	}
	if f.Session != "" {
		add("session IN ("+run+")", clip(f.Session, maxText))
	}
	if f.Tool != "" {
		add("tool = ? COLLATE NOCASE", clip(f.Tool, maxText))
	}
	order := "DESC"
	switch {
	case f.OldestFirst:
		order = "ASC"
		add("i > ?", from)
	case from >= 0:
		add("i < ?", from)
	}
	rows, err := ix.db.QueryContext(ctx, fmt.Sprintf("SELECT i FROM records WHERE %s ORDER BY i %s LIMIT %d", strings.Join(where, " AND "), order, pageSize), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []int64
	for rows.Next() {
		var i int64
		if err := rows.Scan(&i); err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	return list, rows.Err()
}

// textNeedles are the forms that a text takes in a payload: as it is, in a
// JSON string, and in JSON within a JSON string.
func textNeedles(text string) [][]byte {
	if text == "" {
		return nil
	}
	var list [][]byte
	for range 3 {
		list = append(list, asciiLower([]byte(text)))
		b, err := json.Marshal(text)
		if err != nil || string(b[1:len(b)-1]) == text {
			break
		}
		text = string(b[1 : len(b)-1])
	}
	return list
}

func (r Record) holds(needles [][]byte) bool {
	texts := [][]byte{asciiLower(r.Payload.Event), asciiLower(r.Payload.Verdict), asciiLower([]byte(r.Payload.Note)), asciiLower([]byte(r.Payload.Reason))}
	if r.Payload.Invalid != nil {
		texts = append(texts, asciiLower([]byte(r.Payload.Invalid.Data)), asciiLower([]byte(r.Payload.Invalid.Error)))
	}
	for _, t := range texts {
		for _, n := range needles {
			if bytes.Contains(t, n) {
				return true
			}
		}
	}
	return false
}

func asciiLower(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}

// Stats are counts over the log.
type Stats struct {
	Records int64 `json:"records"`
	// First and Last are the times of the first and the last record.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// The counts, by what stands in the record.
	Kinds   map[string]int64 `json:"kinds"`
	Effects map[string]int64 `json:"effects"`
	Events  map[string]int64 `json:"events"`
	Agents  map[string]int64 `json:"agents"`
	Tools   map[string]int64 `json:"tools"`
}

// Stats counts the records written from since on (zero: all).
func (r *Reader) Stats(ctx context.Context, since time.Time) (Stats, error) {
	s := Stats{Kinds: map[string]int64{}, Effects: map[string]int64{}, Events: map[string]int64{}, Agents: map[string]int64{}, Tools: map[string]int64{}}
	ix, err := r.index(ctx)
	if err == nil {
		_, err = ix.catchUp(ctx, r, 0)
	}
	if err != nil {
		return s, err
	}
	from := int64(-1 << 63)
	if !since.IsZero() {
		from = since.UnixNano()
	}
	for column, counts := range map[string]map[string]int64{"kind": s.Kinds, "effect": s.Effects, "event": s.Events, "agent": s.Agents, "tool": s.Tools} {
		if err := ix.count(ctx, column, from, counts); err != nil {
			return s, fmt.Errorf("audit: stats: %w", err)
		}
	}
	for _, n := range s.Kinds {
		s.Records += n
	}
	var first, last int64
	if s.Records > 0 {
		if err := ix.db.QueryRowContext(ctx, "SELECT min(logged), max(logged) FROM records WHERE logged >= ?", from).Scan(&first, &last); err != nil {
			return s, fmt.Errorf("audit: stats: %w", err)
		}
		s.First, s.Last = time.Unix(0, first).UTC(), time.Unix(0, last).UTC()
	}
	return s, nil
}

// count counts by one column, whose name is ours.
func (ix *index) count(ctx context.Context, column string, from int64, counts map[string]int64) error {
	rows, err := ix.db.QueryContext(ctx, "SELECT "+column+", count(*) FROM records WHERE logged >= ? GROUP BY 1", from)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return err
		}
		if name != "" {
			counts[name] = n
		}
	}
	return rows.Err()
}
