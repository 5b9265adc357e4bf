package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// ErrFormat says that there is no such export format.
var ErrFormat = errors.New("audit: unknown export format")

// Format is an export format.
type Format string

// The export formats. All write one line for each record, and nothing that is
// not in the log: what was redacted there is not in an export either.
const (
	// NDJSON is one CloudEvent in JSON on each line, of type
	// dev.grapnel.audit.record.v1, with the whole record as its data.
	NDJSON Format = "ndjson"
	// OCSF is one OCSF 1.9.0 event (API Activity, class 6003, with the profile
	// record_integrity) in JSON on each line, chained by fingerprints.
	OCSF Format = "ocsf"
	// CEF is ArcSight's Common Event Format, version 0.
	CEF Format = "cef"
)

// Formats lists the export formats.
func Formats() []Format { return []Format{NDJSON, OCSF, CEF} }

// Export writes the records that match f to w, oldest first, and returns how
// many. The error wraps [ErrFormat] when there is no such format.
func (r *Reader) Export(ctx context.Context, w io.Writer, format Format, f Filter) (int64, error) {
	origin := ""
	if c, err := r.Checkpoint(); err == nil {
		origin = c.Origin
	}
	var line func(Record) ([]byte, error)
	switch format {
	case NDJSON:
		line = func(rec Record) ([]byte, error) { return rec.cloudEvent(origin) }
	case OCSF:
		line = (&ocsf{origin: origin}).line
	case CEF:
		line = func(rec Record) ([]byte, error) { return rec.cef(origin), nil }
	default:
		return 0, fmt.Errorf("%w %.40q; there are ndjson, ocsf and cef", ErrFormat, string(format))
	}
	f.OldestFirst = true
	out := bufio.NewWriterSize(w, 64<<10)
	n := int64(0)
	for rec, err := range r.Search(ctx, f) {
		if err != nil {
			return n, errors.Join(err, out.Flush())
		}
		b, err := line(rec)
		if err != nil {
			return n, errors.Join(fmt.Errorf("audit: export record %d: %w", rec.Index, err), out.Flush())
		}
		if _, err := out.Write(append(b, '\n')); err != nil {
			return n, fmt.Errorf("audit: export: %w", err)
		}
		n++
	}
	if err := out.Flush(); err != nil {
		return n, fmt.Errorf("audit: export: %w", err)
	}
	return n, nil
}

// recordType is the CloudEvents type of an exported record.
const recordType = "dev.grapnel.audit.record.v1"

// cloudEvent is the record as a CloudEvent on one line.
func (r Record) cloudEvent(origin string) ([]byte, error) {
	type data struct {
		Envelope json.RawMessage `json:"envelope"`
		LeafHash string          `json:"leaf_hash"`
		Redacted bool            `json:"redacted,omitzero"`
		Payload  *Payload        `json:"payload,omitempty"`
	}
	d := data{Envelope: r.Leaf, LeafHash: r.LeafHash().String(), Redacted: r.Redacted}
	if !r.Redacted {
		d.Payload = &r.Payload
	}
	source := origin
	if source == "" {
		source = "grapnel"
	}
	b, err := jsonv2.Marshal(struct {
		SpecVersion string `json:"specversion"`
		ID          string `json:"id"`
		Source      string `json:"source"`
		Type        string `json:"type"`
		Time        string `json:"time"`
		Subject     string `json:"subject,omitempty"`
		Session     string `json:"sessionid,omitempty"`
		ContentType string `json:"datacontenttype"`
		Data        data   `json:"data"`
	}{"1.0", fmt.Sprint(r.Index), source, recordType, r.Logged.Format(time.RFC3339Nano), r.Event, r.Session, "application/json", d})
	if err != nil {
		return nil, err
	}
	return compact(b)
}
