package protocol

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// ClipText cuts a text that an agent would cut at limit, counted as JavaScript
// does, in UTF-16 units, and says so in the text.
func ClipText(s string, limit int) string {
	if len(s) <= limit { // a byte is never more than one unit
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	const room = 80
	total, cut, kept := 0, 0, 0
	for i, r := range s {
		if total <= limit-room {
			cut, kept = i, total
		}
		total++
		if r > 0xffff {
			total++
		}
	}
	if total <= limit {
		return s
	}
	return s[:cut] + " … (" + strconv.Itoa(total-kept) + " more characters are in the audit log)"
}

// JSON is a response with one JSON document on stdout. With exit code 2 the
// reason stands on stderr as well, which some agents read in its place.
func JSON(exit int, v any, reason string) hookwire.Response {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Only a changed input can do that, and it was checked.
		return hookwire.Response{Exit: 2, Stderr: []byte("grapnel: the answer could not be written: " + err.Error() + "\n")}
	}
	r := hookwire.Response{Exit: exit, Stdout: b.Bytes()}
	if exit == 2 {
		r.Stderr = []byte(reason + "\n")
	}
	return r
}
