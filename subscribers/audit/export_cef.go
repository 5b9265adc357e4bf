package audit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// cefSeverity maps OCSF's severities to CEF's 0 to 10.
func cefSeverity(ocsf int) int { return [...]int{0, 1, 3, 6, 8}[min(max(ocsf, 0), 4)] }

// cef is the record as one line of CEF:0.
func (r Record) cef(origin string) []byte {
	severity, _ := severityOf(r)
	var b bytes.Buffer
	class := string(r.Kind)
	if r.Event != "" {
		class += ":" + r.Event
	}
	name := r.Event
	if name == "" {
		name = string(r.Kind)
	}
	if r.Effect != "" {
		name += " " + r.Effect
	}
	fmt.Fprintf(&b, "CEF:0|grapnel|grapnel|%d|%s|%s|%d|", Version, cefHeader(class), cefHeader(name), cefSeverity(severity))
	first := true
	add := func(key, value string) {
		if value == "" {
			return
		}
		if !first {
			b.WriteByte(' ')
		}
		first = false
		b.WriteString(key + "=" + cefValue(value))
	}
	add("rt", strconv.FormatInt(r.Logged.UnixMilli(), 10))
	add("externalId", strconv.FormatInt(r.Index, 10))
	add("act", r.Effect)
	add("dvchost", ocsfHost(r.Source))
	add("suser", r.Caller)
	add("sproc", r.Agent)
	add("outcome", map[bool]string{true: "failure", false: "success"}[r.Effect == "deny" || r.Effect == "halt"])
	add("reason", clip(r.reason(), 1000))
	for i, c := range [...]struct{ label, value string }{
		{"session", r.Session}, {"tool", r.Subject}, {"rules", strings.Join(r.Rules, ",")},
		{"eventId", r.EventID}, {"leafHash", r.LeafHash().String()}, {"log", origin},
	} {
		if c.value != "" {
			add(fmt.Sprintf("cs%dLabel", i+1), c.label)
			add(fmt.Sprintf("cs%d", i+1), c.value)
		}
	}
	return b.Bytes()
}

// cefHeader escapes a header field, which is one line.
func cefHeader(s string) string {
	return strings.NewReplacer(`\`, `\\`, `|`, `\|`, "\r", " ", "\n", " ").Replace(noControls(s))
}

// cefValue escapes a value of the extension.
func cefValue(s string) string {
	return strings.NewReplacer(`\`, `\\`, `=`, `\=`, "\r", `\r`, "\n", `\n`).Replace(noControls(s))
}

// noControls takes out what a terminal or a parser of lines could stumble on.
func noControls(s string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x20 && c != '\n' && c != '\r' || c == 0x7f || c >= 0x80 && c < 0xa0 || c == 0x2028 || c == 0x2029 {
			return ' '
		}
		return c
	}, s)
}
