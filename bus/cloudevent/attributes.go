package cloudevent

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Limits on what is accepted.
const (
	MaxAttribute  = 4096    // bytes of one attribute's value
	MaxExtensions = 32      // extension attributes that are not named in hook.Event
	MaxData       = 8 << 20 // bytes of data
)

// ContentType is the media type of every event's data.
const ContentType = "application/json"

// StructuredType is the media type of an event in structured mode.
const StructuredType = "application/cloudevents+json"

// ErrEvent is wrapped by every error about an event that cannot be accepted.
var ErrEvent = errors.New("not a valid event")

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrEvent}, args...)...)
}

// attribute is one CloudEvents attribute in its canonical string form.
type attribute struct{ name, value string }

// attributes lists e's attributes: the context attributes first, then ours,
// then all other extensions in order of name.
func attributes(e hook.Event) ([]attribute, error) {
	list := make([]attribute, 0, 16+len(e.Extensions))
	add := func(name, value string) {
		if value != "" {
			list = append(list, attribute{name, value})
		}
	}
	add("specversion", "1.0")
	add("id", e.ID)
	add("source", e.Source)
	add("type", e.Name.Type())
	add("datacontenttype", ContentType)
	add("subject", e.Subject)
	add("time", formatTime(e.Time))
	add("sessionid", e.SessionID)
	add("correlationid", e.CorrelationID)
	add("causationid", e.CausationID)
	if e.Hops > 0 {
		add("hops", strconv.Itoa(e.Hops))
	}
	add("sequence", e.Sequence)
	add("expirytime", formatTime(e.Deadline))
	add("traceparent", e.TraceParent)
	add("dataref", e.DataRef)
	if len(e.Extensions) > MaxExtensions {
		return nil, bad("more than %d extension attributes", MaxExtensions)
	}
	if len(e.Extensions) > 0 {
		names := make([]string, 0, len(e.Extensions))
		for name := range e.Extensions {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			if !extensionName(name) || reserved(name) {
				return nil, bad("extension name %.40q is not allowed", name)
			}
			// An extension may be empty, unlike the attributes above.
			list = append(list, attribute{name, e.Extensions[name]})
		}
	}
	for _, a := range list {
		if err := checkValue(a); err != nil {
			return nil, err
		}
	}
	return list, check(e)
}

// set puts one attribute into e; the caller has seen to it that none comes twice.
func set(e *hook.Event, a attribute) error {
	if err := checkValue(a); err != nil {
		return err
	}
	var err error
	switch a.name {
	case "specversion":
		if a.value != "1.0" {
			return bad("specversion %.20q is not 1.0", a.value)
		}
	case "id":
		e.ID = a.value
	case "source":
		e.Source = a.value
	case "type":
		name, ok := hook.NameOfType(a.value)
		if !ok || !name.Known() {
			return bad("type %.80q is not dev.grapnel.hook.<event>.v1 with a known event", a.value)
		}
		e.Name = name
	case "datacontenttype":
		if !jsonType(a.value) {
			return bad("datacontenttype %.80q is not JSON", a.value)
		}
	case "subject":
		e.Subject = a.value
	case "time":
		e.Time, err = parseTime(a)
	case "sessionid":
		e.SessionID = a.value
	case "correlationid":
		e.CorrelationID = a.value
	case "causationid":
		e.CausationID = a.value
	case "hops":
		if e.Hops, err = strconv.Atoi(a.value); err != nil || e.Hops < 0 || e.Hops > maxHops {
			return bad("hops %.20q is not a number from 0 to %d", a.value, maxHops)
		}
	case "sequence":
		e.Sequence = a.value
	case "expirytime":
		e.Deadline, err = parseTime(a)
	case "traceparent":
		e.TraceParent = a.value
	case "dataref":
		e.DataRef = a.value
	case "data", "data_base64":
		return bad("%s cannot be an attribute", a.name)
	default:
		if !extensionName(a.name) {
			return bad("attribute name %.40q is not of a-z and 0-9, at most 20", a.name)
		}
		if len(e.Extensions) >= MaxExtensions {
			return bad("more than %d extension attributes", MaxExtensions)
		}
		if e.Extensions == nil {
			e.Extensions = make(map[string]string)
		}
		e.Extensions[a.name] = a.value
	}
	return err
}

// maxHops ends a loop of hooks that nothing else has ended.
const maxHops = 1000

// check reports a required attribute that is missing, and values that have no
// wire form.
func check(e hook.Event) error {
	switch {
	case e.ID == "":
		return bad("it has no id")
	case e.Source == "":
		return bad("it has no source")
	case e.Name == "":
		return bad("it has no type")
	case !e.Name.Known():
		return bad("there is no event named %.40q", string(e.Name))
	case e.Hops < 0 || e.Hops > maxHops:
		return bad("hops %d is not a number from 0 to %d", e.Hops, maxHops)
	case !writable(e.Time) || !writable(e.Deadline):
		return bad("time and expirytime must lie in the years 0 to 9999")
	}
	return nil
}

func checkValue(a attribute) error {
	if len(a.value) > MaxAttribute {
		return bad("attribute %s has %d bytes, at most %d", a.name, len(a.value), MaxAttribute)
	}
	if !utf8.ValidString(a.value) {
		return bad("attribute %.40q is not valid UTF-8", a.name)
	}
	return nil
}

func reserved(name string) bool {
	switch name {
	case "specversion", "id", "source", "type", "datacontenttype", "subject", "time", "sessionid",
		"correlationid", "causationid", "hops", "sequence", "expirytime", "traceparent", "dataref", "data":
		return true
	}
	return false
}

func extensionName(s string) bool {
	if s == "" || len(s) > 20 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func jsonType(s string) bool {
	media, _, _ := strings.Cut(strings.ToLower(s), ";")
	media = strings.TrimSpace(media)
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// writable reports whether RFC 3339 can express t in UTC. An offset can take a
// year that was read with four digits out of them.
func writable(t time.Time) bool { return t.IsZero() || (t.UTC().Year() >= 0 && t.UTC().Year() <= 9999) }

func parseTime(a attribute) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, a.value)
	if err != nil {
		return time.Time{}, bad("%s %.40q is not an RFC 3339 time", a.name, a.value)
	}
	return t.UTC(), nil
}
