package protocoltest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

// outcomes is what the agent does with an answer when nothing would be asked,
// and when the person would be and is not there.
func (s Suite) outcomes(e protocol.Event, r hookwire.Response) (approved, open Outcome) {
	return s.Client(Situation{Event: e.Name, Approved: true}, Of(r)), s.Client(Situation{Event: e.Name}, Of(r))
}

// answers puts every verdict on every event to the agent.
func (s Suite) answers(t *testing.T) {
	t.Parallel()
	var golden strings.Builder
	for _, e := range s.Agent.Events {
		for _, v := range Verdicts() {
			what := e.Name + ", " + v.Name
			a := s.Agent.Answer(e.Name, v.Verdict)
			fmt.Fprintf(&golden, "%s: exit %d\n  stdout %s\n  stderr %q\n", what, a.Exit, strings.TrimSuffix(string(a.Stdout), "\n"), a.Stderr)
			if a.Note != "" {
				fmt.Fprintf(&golden, "  note   %s\n", a.Note)
			}
			assert.Equal(t, a, s.Agent.Answer(e.Name, v.Verdict), "%s: the same verdict has the same answer", what)
			s.wellFormed(t, what, e, a.Response)
			s.obeyed(t, what, e, v.Verdict, a)
		}
	}
	s.snapshot(t, "answers.golden", golden.String())
}

// wellFormed holds an answer to its form.
func (s Suite) wellFormed(t *testing.T, what string, e protocol.Event, r hookwire.Response) {
	t.Helper()
	if len(r.Stdout) > 0 && (r.Exit != 0 || !s.Plain[e.Name]) {
		var one map[string]json.RawMessage
		assert.NoError(t, json.Unmarshal(r.Stdout, &one), "%s: one JSON object and nothing else: %s", what, r.Stdout)
	}
	assert.True(t, hookwire.Usable(s.Agent.Name, e.Name, r), "%s: the hook program would not pass it on", what)
	if s.Valid != nil {
		assert.NoError(t, s.Valid(e, r), "%s: %s", what, r.Stdout)
	}
	approved, _ := s.outcomes(e, r)
	assert.False(t, approved.Dropped, "%s: the agent drops it: %s", what, r.Stdout)
	assert.Empty(t, approved.Unknown, "%s: keys that the agent does not know: %s", what, r.Stdout)
}

// obeyed holds what the agent does to what was decided.
func (s Suite) obeyed(t *testing.T, what string, e protocol.Event, v hook.Verdict, a protocol.Answer) {
	t.Helper()
	approved, open := s.outcomes(e, a.Response)
	effect := v.Effect
	if effect < hook.Abstain || effect > hook.Halt {
		effect = hook.Deny
	}
	object := len(v.Input) > 0 && v.Input[0] == '{' && !strings.Contains(string(v.Input), `"a":2`)
	blocking := e.Canonical.Blocking()
	if len(v.Input) > 0 && effect < hook.Deny && blocking && (!object || !e.Rewrite) {
		effect = hook.Deny // stricter, never looser
	}
	if object && e.RewriteGrants && (effect != hook.Allow || !v.Grant) {
		effect = max(effect, hook.Deny)
	}
	if effect == hook.Ask && !e.Ask {
		effect = hook.Deny
	}
	switch {
	case e.RewriteGrants && approved.Changed != nil: // both or neither
	case !v.Grant || effect != hook.Allow || !e.Grant:
		assert.False(t, open.Granted, "%s: grants", what)
	default:
		assert.True(t, open.Granted && !open.Blocked, "%s: a grant does not arrive", what)
	}
	switch effect {
	case hook.Abstain, hook.Allow:
		if e.SilenceAsks && !approved.Granted {
			assert.True(t, approved.Asked, "%s: nobody is asked", what)
			assert.NotEmpty(t, a.Note, what)
			break
		}
		assert.False(t, approved.Blocked, "%s: blocks", what)
		assert.False(t, approved.Continued, "%s: carries on", what)
		assert.False(t, approved.SessionEnds, "%s: ends the session", what)
	case hook.Ask:
		assert.True(t, open.Asked || open.Blocked, "%s: nobody is asked", what)
		assert.False(t, open.Granted, "%s: an ask grants", what)
	case hook.Deny:
		s.stopped(t, what, e, a, approved, open)
		if e.Continue && !e.Block {
			assert.True(t, approved.Continued, "%s: does not carry on", what)
		}
	case hook.Halt:
		if e.Block || !e.Halt { // else ending the session is all there is to do
			s.stopped(t, what, e, a, approved, open)
		}
		assert.False(t, approved.Continued && e.Continue && !e.Block, "%s: carries on after a halt", what)
		if e.Halt {
			assert.True(t, approved.SessionEnds, "%s: goes on after a halt", what)
		}
	}
	if object && e.Rewrite && effect < hook.Deny {
		assert.JSONEq(t, string(v.Input), string(approved.Changed), "%s: the changed input does not arrive", what)
	} else {
		assert.Empty(t, approved.Changed, "%s: changes the input", what)
	}
	if v.Context != "" && e.Context && effect < hook.Deny {
		assert.Contains(t, strings.Join(approved.ToModel, "\n"), v.Context, "%s: the context does not reach the model", what)
	}
}

// stopped holds that a deny has stopped what it can, and that the record says
// so where it cannot.
func (s Suite) stopped(t *testing.T, what string, e protocol.Event, a protocol.Answer, approved, open Outcome) {
	t.Helper()
	switch {
	case e.Block:
		assert.True(t, approved.Blocked && open.Blocked, "%s: does not block: %s", what, a.Stdout)
	case e.Feedback:
		assert.NotEmpty(t, approved.ToModel, "%s: the model is not told", what)
		assert.NotEmpty(t, a.Note, what)
	case !e.Continue:
		assert.NotEmpty(t, a.Note, "%s: nothing is stopped and nothing says so", what)
	}
}

// failures puts calls to the agent that are no events, and the answer of a
// hook program that is alone.
func (s Suite) failures(t *testing.T) {
	t.Parallel()
	bad := map[string]string{
		"nothing": "", "no object": "[]", "half": `{"a":`, "twice": `{"a":1,"a":2}`, "text": "hello",
		"deep":  strings.Repeat(`{"a":`, 400) + "1" + strings.Repeat("}", 400),
		"large": `{"a":"` + strings.Repeat("x", protocol.MaxWhole) + `"}`,
	}
	for _, e := range s.Agent.Events {
		for name, stdin := range bad {
			c := Call(s.Agent, e.Name, []byte(stdin))
			_, err := s.Agent.Event(c)
			if !assert.Error(t, err, "%s, %s", e.Name, name) {
				continue
			}
			a := s.Agent.Refuse(c, err)
			assert.NotEmpty(t, a.Note, "%s, %s", e.Name, name)
			s.refused(t, e.Name+", "+name, e, a.Response)
		}
		s.refused(t, e.Name+", alone", e, hookwire.Alone(s.Agent.Name, e.Name, "the daemon hung up"))
	}
	for _, other := range s.Agent.Events {
		for _, key := range s.Agent.Keys.Event {
			for _, e := range s.Agent.Events {
				if e.Canonical.Class() != hook.Gate || other.Name == e.Name || slices.Contains(other.Says, e.Name) {
					continue
				}
				// Registered for the one and called with the other.
				c := Call(s.Agent, other.Name, []byte(`{"`+key+`":"`+e.Name+`"}`))
				_, err := s.Agent.Event(c)
				require := assert.Error(t, err, "%s called as %s", e.Name, other.Name)
				if r := s.Agent.Refuse(c, err).Response; require && e.Block {
					approved, _ := s.outcomes(e, r)
					assert.True(t, approved.Blocked, "%s called as %s is not blocked: %s", e.Name, other.Name, r.Stdout)
				}
			}
		}
	}
	unknown := s.Agent.Answer("SomethingNew", hook.Verdict{Effect: hook.Deny, Reason: Why})
	assert.Equal(t, hookwire.Alone(s.Agent.Name, "SomethingNew", Why), unknown.Response)
	assert.Equal(t, hookwire.Silent(s.Agent.Name, "SomethingNew"), s.Agent.Answer("SomethingNew", hook.Verdict{}).Response)
}

// refused holds that a gate is closed and all else is open.
func (s Suite) refused(t *testing.T, what string, e protocol.Event, r hookwire.Response) {
	t.Helper()
	approved, _ := s.outcomes(e, r)
	if e.Canonical.Class() == hook.Gate {
		assert.Equal(t, e.Block, approved.Blocked, "%s: %s", what, r.Stdout)
		return
	}
	assert.False(t, approved.Blocked || approved.Continued, "%s: %s", what, r.Stdout)
}
