package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

const (
	ocsfVersion     = "1.9.0"
	ocsfCategory    = 6 // Application Activity
	ocsfClass       = 6003
	ocsfOther       = 99
	ocsfSHA256      = 3
	ocsfStatusOK    = 1
	ocsfStatusFail  = 2
	ocsfInformation = 1
)

// ocsf writes OCSF events; each refers to the fingerprint of the one before.
type ocsf struct {
	origin   string
	previous *ocsfPrevious
}

type ocsfPrevious struct {
	UID         string      `json:"uid"`
	Fingerprint fingerprint `json:"fingerprint"`
}

type fingerprint struct {
	Algorithm   string `json:"algorithm"`
	AlgorithmID int    `json:"algorithm_id"`
	Value       string `json:"value"`
}

func sha256Fingerprint(b []byte) fingerprint {
	sum := sha256.Sum256(b)
	return fingerprint{"SHA-256", ocsfSHA256, hex.EncodeToString(sum[:])}
}

type object map[string]any

// line is the record as an API Activity. The attestation's fingerprint is over
// the canonical JSON (RFC 8785) of the event without it, as the profile wants.
func (o *ocsf) line(r Record) ([]byte, error) {
	attestation := object{"chain_uid": o.origin, "authority_uid": o.origin}
	if o.previous != nil {
		attestation["prev_event"] = o.previous
	}
	e := o.event(r)
	e["attestation"] = attestation
	canonical, err := canonicalJSON(e)
	if err != nil {
		return nil, err
	}
	f := sha256Fingerprint(canonical)
	attestation["fingerprint"] = f
	o.previous = &ocsfPrevious{e["metadata"].(object)["uid"].(string), f}
	return canonicalJSON(e)
}

func canonicalJSON(v any) ([]byte, error) {
	b, err := jsonv2.Marshal(v, jsonv2.Deterministic(true))
	if err != nil {
		return nil, err
	}
	raw := jsontext.Value(b)
	if err := raw.Canonicalize(); err != nil {
		return nil, err
	}
	return raw, nil
}

func (o *ocsf) event(r Record) object {
	severity, name := severityOf(r)
	status, statusName := ocsfStatusOK, "Success"
	if r.Effect == hook.Deny.String() || r.Effect == hook.Halt.String() {
		status, statusName = ocsfStatusFail, "Failure"
	}
	activity, activityName := ocsfActivity(r)
	operation, host := r.Event, ocsfHost(r.Source)
	if operation == "" {
		operation, host = string(r.Kind), o.origin
	}
	e := object{
		"category_uid": ocsfCategory, "category_name": "Application Activity",
		"class_uid": ocsfClass, "class_name": "API Activity",
		"activity_id": activity, "activity_name": activityName,
		"type_uid": ocsfClass*100 + activity, "type_name": "API Activity: " + activityName,
		"severity_id": severity, "severity": name,
		"status_id": status, "status": statusName,
		"time": r.Logged.UnixMilli(),
		"metadata": object{
			"version": ocsfVersion, "profiles": []string{"record_integrity"},
			"product":     object{"name": "grapnel", "vendor_name": "grapnel"},
			"uid":         r.LeafHash().String(),
			"sequence":    r.Index,
			"logged_time": r.Logged.UnixMilli(),
		},
		"actor": object{
			"app_name": r.Agent, "user": object{"name": r.Caller}, "session": object{"uid": r.Session},
		},
		"api":          object{"operation": operation, "service": object{"name": "hooks"}, "request": object{"uid": r.EventID}},
		"src_endpoint": object{"name": host},
		"unmapped": object{
			"index": r.Index, "kind": string(r.Kind), "effect": r.Effect, "rules": r.Rules, "secrets": r.Secrets,
			"payload_commitment": r.Envelope.Payload, "redacted": r.Redacted,
		},
	}
	if r.Subject != "" {
		e["resources"] = []object{{"name": r.Subject, "type": r.ToolKind}}
	}
	if reason := r.reason(); reason != "" {
		e["status_detail"] = reason
	}
	if r.Payload.Event != nil {
		e["raw_data"] = string(bytes.TrimSpace(r.Payload.Event))
	}
	return e
}

// ocsfActivity tells create, read, update and delete apart where the tool's
// kind does.
func ocsfActivity(r Record) (int, string) {
	switch {
	case r.Kind == Redaction:
		return 4, "Delete"
	case r.ToolKind == string(hook.KindFileRead), r.ToolKind == string(hook.KindSearch):
		return 2, "Read"
	case r.ToolKind == string(hook.KindFileWrite):
		return 1, "Create"
	case r.ToolKind == string(hook.KindFileEdit):
		return 3, "Update"
	}
	return ocsfOther, "Other"
}

func ocsfHost(source string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(path.Clean("/"+source), "/"), "/")
	return host
}

// severityOf is OCSF's severity: what was denied is worth a look, what ended a
// session more so.
func severityOf(r Record) (int, string) {
	switch {
	case r.Effect == hook.Halt.String():
		return 4, "High"
	case r.Effect == hook.Deny.String(), r.Kind == hook.RecordRefused, r.Kind == Recovered:
		return 3, "Medium"
	case r.Effect == hook.Ask.String(), r.Kind == Redaction, r.Kind == hook.RecordLate:
		return 2, "Low"
	}
	return ocsfInformation, "Informational"
}

// reason is why it came out so, for people.
func (r Record) reason() string {
	if r.Payload.Reason != "" {
		return r.Payload.Reason
	}
	var v struct {
		Reason string `json:"reason"`
	}
	if r.Payload.Verdict != nil && json.Unmarshal(r.Payload.Verdict, &v) == nil && v.Reason != "" {
		return v.Reason
	}
	return r.Payload.Note
}

// compact puts JSON on one line without changing any value.
func compact(b []byte) ([]byte, error) {
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
