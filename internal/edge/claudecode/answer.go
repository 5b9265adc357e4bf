package claudecode

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// output is what Claude Code reads from stdout; there is no other key in it.
type output struct {
	Continue      *bool     `json:"continue,omitempty"`
	StopReason    string    `json:"stopReason,omitempty"`
	SystemMessage string    `json:"systemMessage,omitempty"`
	Decision      string    `json:"decision,omitempty"`
	Reason        string    `json:"reason,omitempty"`
	Specific      *specific `json:"hookSpecificOutput,omitempty"`
}

// specific must name the event it is for: with another name Claude Code drops
// the whole answer.
type specific struct {
	Event      string          `json:"hookEventName"`
	Permission string          `json:"permissionDecision,omitempty"`
	Reason     string          `json:"permissionDecisionReason,omitempty"`
	Input      json.RawMessage `json:"updatedInput,omitempty"`
	Context    string          `json:"additionalContext,omitempty"`
	Decision   *dialog         `json:"decision,omitempty"`
	Action     string          `json:"action,omitempty"`
}

// dialog answers a permission dialog.
type dialog struct {
	Behavior  string          `json:"behavior"`
	Input     json.RawMessage `json:"updatedInput,omitempty"`
	Message   string          `json:"message,omitempty"`
	Interrupt bool            `json:"interrupt,omitempty"`
}

// Answer says a verdict in the words that Claude Code obeys on the event, the
// agent's own name or the canonical one. What cannot be said there is said more
// strictly, and Answer.Note tells what. An unknown event is answered like a
// gate when the verdict is ask or stricter.
func Answer(event string, v hook.Verdict) protocol.Answer {
	r, known := lookup(event)
	a := answer{row: r, effect: v.Effect, reason: v.Reason, context: v.Context, input: v.Input}
	if v.Effect < hook.Abstain || v.Effect > hook.Halt {
		a.stricter("the verdict's effect is unknown")
	}
	if v.Effect == hook.Allow && !v.Grant {
		a.effect = hook.Abstain
	}
	if !known {
		return a.unknown()
	}
	a.checkInput()
	if a.effect >= hook.Ask && a.reason == "" {
		a.reason = "grapnel was told to " + a.effect.String() + " this and was given no reason"
	}
	switch r.style {
	case tool:
		a.tool()
	case permission:
		a.permission()
	case block:
		a.block()
	case carryOn:
		a.carryOn()
	case feedback:
		a.feedback()
	case told:
		a.told()
	case elicit:
		a.elicit()
	case worktree:
		return a.worktree()
	default:
		if a.effect >= hook.Ask {
			a.note("Claude Code waits for no answer to " + r.event + ", so " + a.effect.String() + " changes nothing")
		}
	}
	if a.context != "" {
		if r.context {
			a.specific().Context = clipText(a.context)
		} else {
			a.note("Claude Code takes no context on " + r.event)
		}
	}
	return a.finish()
}

// Refuse answers a call of which no event could be made. A gate is denied, all
// else passes, with why in the note. When the payload names another event than
// the registration and either is a gate, it is denied in the language of the
// one that the payload names, if that is a gate, and by exit code 2 for the
// other.
func Refuse(c protocol.Call, why error) protocol.Answer {
	reason := "grapnel refused this: " + why.Error()
	names := []string{c.Event}
	if f, _, err := protocol.Parse(c.Stdin, protocol.MaxWhole); err == nil {
		if native := f.Text("hook_event_name"); native != "" && native != c.Event {
			names = append(names, native)
		}
	}
	gate, language := false, c.Event
	for _, name := range names {
		r, known := lookup(name)
		if known && r.canonical.Class() == hook.Gate {
			language = name
		}
		if !known || r.canonical.Class() == hook.Gate {
			gate = true
		}
	}
	if !gate {
		p := Answer(language, hook.Verdict{})
		p.Note = reason
		return p
	}
	p := Answer(language, hook.Verdict{Effect: hook.Deny, Reason: reason})
	if len(names) > 1 {
		p.Exit, p.Stderr = 2, []byte(clipText(reason)+"\n")
	}
	p.Note = reason
	return p
}

// answer is one being put together.
type answer struct {
	row     row
	effect  hook.Effect
	reason  string
	context string
	input   json.RawMessage
	out     output
	exit    int
	notes   []string
}

func (a *answer) note(s string) { a.notes = append(a.notes, s) }

// stricter turns the verdict into a deny and says why.
func (a *answer) stricter(why string) {
	a.note(why + "; answered deny instead of " + a.effect.String())
	if a.reason == "" || a.effect < hook.Ask {
		a.reason = strings.TrimSpace(a.reason + "\ngrapnel denied this because " + why)
	}
	a.effect = hook.Deny
}

func (a *answer) specific() *specific {
	if a.out.Specific == nil {
		a.out.Specific = &specific{Event: a.row.event}
	}
	return a.out.Specific
}

// why is the reason for a block. The context goes along with it, because what
// Claude Code does with additionalContext beside exit code 2 is not known.
func (a *answer) why() string {
	if a.context == "" {
		return clipText(a.reason)
	}
	s := a.reason + "\n\n" + a.context
	a.context = ""
	return clipText(s)
}

// checkInput sees to it that a rewritten input can be handed over.
func (a *answer) checkInput() {
	if len(a.input) == 0 {
		return
	}
	input := bytes.TrimLeft(a.input, " \t\r\n")
	switch {
	case a.row.canonical.Class() == hook.Notify:
		a.note("the input cannot be changed on " + a.row.event + ": it has happened already")
	case a.effect >= hook.Deny:
	case len(input) == 0 || input[0] != '{' || strictjson.Check(input, 0) != nil:
		a.stricter("the changed input is not a JSON object")
	case a.row.event == "PreToolUse", a.row.style == permission && a.effect == hook.Allow:
		return
	case a.row.style == permission:
		a.stricter("Claude Code takes a changed input here only together with a grant")
	default:
		a.stricter("Claude Code cannot change the input on " + a.row.event)
	}
	a.input = nil
}

func (a *answer) halt(reason string) {
	if !a.row.halt {
		a.note("Claude Code does not end the session on " + a.row.event + "; the action itself is denied")
		return
	}
	stop := false
	a.out.Continue, a.out.StopReason = &stop, reason
}

// tool answers PreToolUse and PreModelSwitch.
func (a *answer) tool() {
	switch a.effect {
	case hook.Deny, hook.Halt:
		reason := a.why()
		s := a.specific()
		s.Permission, s.Reason = "deny", reason
		if a.effect == hook.Halt {
			a.halt(reason)
		}
		a.exit = 2
		a.reason = reason
		return
	case hook.Ask:
		s := a.specific()
		s.Permission, s.Reason = "ask", clipText(a.reason)
	case hook.Allow:
		s := a.specific()
		s.Permission, s.Reason = "allow", clipText(a.reason)
	}
	if a.input != nil {
		a.specific().Input = a.input
	}
}

// permission answers PermissionRequest. Ask is the dialog itself: no decision
// lets it appear.
func (a *answer) permission() {
	switch a.effect {
	case hook.Deny, hook.Halt:
		a.specific().Decision = &dialog{Behavior: "deny", Message: a.why(), Interrupt: a.effect == hook.Halt}
	case hook.Allow:
		a.specific().Decision = &dialog{Behavior: "allow", Input: a.input}
	}
}

// block answers events that decision:block and exit code 2 stop.
func (a *answer) block() {
	if a.effect == hook.Ask {
		a.stricter("Claude Code cannot ask on " + a.row.event)
	}
	if a.effect < hook.Deny {
		return
	}
	reason := a.why()
	a.out.Decision, a.out.Reason = "block", reason
	if a.effect == hook.Halt {
		a.halt(reason)
	}
	a.exit = 2
	a.reason = reason
}

// carryOn answers the end of a turn: deny makes the agent carry on, halt ends
// it. Context would make it carry on, too, so it goes only with a deny.
func (a *answer) carryOn() {
	if a.effect == hook.Ask {
		a.stricter("Claude Code cannot ask on " + a.row.event)
	}
	switch a.effect {
	case hook.Halt:
		a.halt(a.why())
	case hook.Deny:
		a.out.Decision, a.out.Reason = "block", a.why()
	}
}

// feedback answers what has happened already: the reason reaches the model.
func (a *answer) feedback() {
	if a.effect < hook.Ask {
		return
	}
	a.note("the tool has run already; the model is told the reason")
	effect, reason := a.effect, a.why()
	if a.row.event == "PostToolUse" {
		a.out.Decision, a.out.Reason = "block", reason
	} else {
		a.context = reason
	}
	if effect == hook.Halt {
		a.halt(reason)
	}
}

// told answers events that nothing blocks. continue:false is said although
// Claude Code was seen to go on at a session's start: it shows the reason.
func (a *answer) told() {
	if a.effect < hook.Ask {
		return
	}
	a.note("Claude Code cannot block " + a.row.event + "; the person and the model are told the reason")
	reason, stop := a.why(), false
	a.out.Continue, a.out.StopReason, a.out.SystemMessage = &stop, reason, reason
	a.context = reason
}

// elicit answers an MCP server's question. There is no place for a reason in
// the JSON, and exit code 2 declines as well, so both are said.
func (a *answer) elicit() {
	if a.effect == hook.Ask && a.row.event == "Elicitation" {
		return // the question itself goes to the person
	}
	if a.effect == hook.Ask {
		a.stricter("the person has answered already")
	}
	if a.effect < hook.Deny {
		return
	}
	a.reason = a.why()
	a.specific().Action = "decline"
	if a.effect == hook.Halt {
		a.specific().Action = "cancel"
		a.halt(a.reason)
	}
	a.exit = 2
}

// worktree answers WorktreeCreate: nothing on stdout, since it would be taken
// for the path of a worktree that does not exist.
func (a *answer) worktree() protocol.Answer {
	const text = "grapnel only listens and cannot make a worktree; a WorktreeCreate hook replaces git's own. " +
		"Take the hook out of the settings (`grapnel install claude-code` never registers it)."
	a.note("a WorktreeCreate hook replaces git's own worktree, so this one fails")
	reason := text
	if a.effect >= hook.Deny {
		reason = a.why() + "\n" + text
	}
	return protocol.Answer{
		Response: hookwire.Response{Exit: 1, Stderr: []byte(clipText(reason) + "\n")}, Note: strings.Join(a.notes, "; "),
	}
}

// unknown answers an event of which nobody knows what it obeys.
func (a *answer) unknown() protocol.Answer {
	if a.effect < hook.Ask {
		return a.finish()
	}
	a.note("the event is not known, so the answer is the one that blocks in every agent tried")
	return protocol.Answer{
		Response: hookwire.Alone(Agent, a.row.event, clipText(a.reason)), Note: strings.Join(a.notes, "; "),
	}
}

func (a *answer) finish() protocol.Answer {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.out); err != nil {
		// Only a changed input can do that, and it was checked.
		return protocol.Answer{Response: hookwire.Alone(Agent, a.row.event, "grapnel: the answer could not be written: "+err.Error())}
	}
	p := protocol.Answer{Response: hookwire.Response{Exit: a.exit, Stdout: b.Bytes()}, Note: strings.Join(a.notes, "; ")}
	if a.exit == 2 {
		p.Stderr = []byte(a.reason + "\n")
	}
	return p
}

// MaxText is how many characters of one text Claude Code takes, counted as
// JavaScript does, in UTF-16 units.
const MaxText = 10_000

// clipText cuts a text that Claude Code would cut, and says so in the text.
func clipText(s string) string { return protocol.ClipText(s, MaxText) }
