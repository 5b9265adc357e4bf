package hook

import "fmt"

// Effect is what a decision wants to happen, from the loosest to the
// strictest. The zero value is Abstain.
type Effect int

// The effects, in order of strictness. Their text forms are the only ones
// accepted on the wire: lower case, nothing else.
const (
	// Abstain has no opinion; the agent's own rules apply.
	Abstain Effect = iota
	// Allow lets the action run; only from a decider that Grants does it
	// also skip the agent's own prompt.
	Allow
	// Ask wants the person in front of the agent to decide.
	Ask
	// Deny stops this action. On a stop event it means: carry on working.
	Deny
	// Halt stops this action and ends the session.
	Halt
)

// Effects lists all effects from the loosest to the strictest.
func Effects() []Effect { return []Effect{Abstain, Allow, Ask, Deny, Halt} }

// String returns the wire form.
func (e Effect) String() string {
	switch e {
	case Abstain:
		return "abstain"
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	case Deny:
		return "deny"
	case Halt:
		return "halt"
	}
	return fmt.Sprintf("Effect(%d)", int(e))
}

// MarshalText implements encoding.TextMarshaler.
func (e Effect) MarshalText() ([]byte, error) {
	if e < Abstain || e > Halt {
		return nil, fmt.Errorf("hook: effect %d does not exist", int(e))
	}
	return []byte(e.String()), nil
}

// UnmarshalText accepts exactly the five wire forms.
func (e *Effect) UnmarshalText(text []byte) error {
	for _, known := range Effects() {
		if string(text) == known.String() {
			*e = known
			return nil
		}
	}
	return fmt.Errorf("hook: unknown effect %q; it is one of abstain, allow, ask, deny, halt", clip(string(text), 40))
}

// Blocks reports whether the effect keeps the action from running.
func (e Effect) Blocks() bool { return e >= Deny }

// clip shortens s for an error message.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
