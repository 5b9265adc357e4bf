package protocol

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// ErrLineage is wrapped by errors about the variables that say which hooks led
// to a call.
var ErrLineage = errors.New("bad variables of the hook that caused this")

// Lineage writes into e which event and hooks caused it, as the environment of
// a hook command says, and the W3C trace context. lookup returns a variable's
// value, or "". The error wraps [ErrLineage].
func Lineage(e *hook.Event, lookup func(name string) string) error {
	e.CausationID = Clip(lookup(hookwire.EnvCausation))
	e.TraceParent = traceParent(lookup)
	if s := lookup(hookwire.EnvHops); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n >= maxHops {
			return fmt.Errorf("%w: %s is %s and not a number from 0 to %d", ErrLineage, hookwire.EnvHops, Quote(s), maxHops-1)
		}
		e.Hops = n + 1
	}
	if s := lookup(hookwire.EnvAncestry); s != "" {
		if !hook.ValidAncestry(s) {
			return fmt.Errorf("%w: %s is %s and does not name hooks", ErrLineage, hookwire.EnvAncestry, Quote(s))
		}
		if e.Extensions == nil {
			e.Extensions = make(map[string]string, 1)
		}
		e.Extensions[hook.AncestryExtension] = s
	}
	return nil
}

// maxHops is the largest number that an event can carry.
const maxHops = 1000

// traceParent takes the W3C trace context, and drops what is none.
func traceParent(lookup func(string) string) string {
	s := lookup(hookwire.EnvTraceParent)
	if s == "" {
		s = lookup("TRACEPARENT")
	}
	if len(s) < 55 || len(s) > 256 || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return ""
	}
	return s
}

// maxClip is the longest text that becomes a CloudEvents attribute, in bytes.
const maxClip = 1024

// Clip shortens a text that becomes a CloudEvents attribute to 1 KiB. What is
// cut off is replaced by the text's digest, so that different long names stay
// different; the whole name is in the event's data.
func Clip(s string) string {
	if len(s) <= maxClip {
		return s
	}
	end := "…sha256:" + hook.Digest([]byte(s))
	n := maxClip - len(end)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + end
}

// Quote shows what somebody else wrote in an error, in at most some 80 bytes.
func Quote(s string) string {
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return strconv.Quote(s)
}
