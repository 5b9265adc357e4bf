package claudecode

import (
	"encoding/json"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// decide follows the JSON.
func (r *reply) decide() {
	if r.row.context {
		r.a.Context = process.Text([]byte(r.out.specific.Context), command.MaxContext)
	}
	if r.row.universal {
		r.a.Message = process.Text([]byte(r.out.SystemMessage), command.MaxContext)
	}
	switch r.row.speech {
	case permits:
		r.permission()
	case dialog:
		r.dialog()
	case blocks:
		r.block()
	case carriesOn:
		r.carryOn()
	case feedback:
		r.block()
	case elicits:
		r.elicit()
	case exits:
		if r.out.Decision == "block" {
			r.warn(`"decision" counts nothing on ` + r.row.event + `; use exit code 2 or "continue": false`)
		}
	case makesPath:
		r.warn("the path of a worktree cannot be passed on from here")
	}
	// It beats all other fields.
	if r.row.universal && r.out.Continue != nil && !*r.out.Continue {
		r.a.Effect, r.a.Rewrite = hook.Halt, nil
		r.a.Reason = r.reason(first(r.out.StopReason, r.a.Reason))
	}
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// permission answers PreToolUse and PreModelSwitch. Of the new field and the
// old one, should both be there, the stricter counts.
func (r *reply) permission() {
	s := r.out.specific
	switch s.Permission {
	case "allow":
		r.a.Effect = hook.Allow
	case "ask", "defer": // to defer is to leave it to somebody who is not there yet
		r.a.Effect = hook.Ask
	case "deny":
		r.a.Effect = hook.Deny
	}
	why := first(s.Why, r.out.Reason)
	switch r.out.Decision {
	case "block":
		r.a.Effect, why = hook.Deny, first(r.out.Reason, s.Why)
	case "approve":
		r.a.Effect = max(r.a.Effect, hook.Allow)
	}
	if r.a.Effect >= hook.Ask || why != "" {
		r.a.Reason = r.reason(why)
	}
	if r.a.Effect < hook.Deny && s.Permission != "defer" {
		r.a.Rewrite = rewrite(s.Input)
	}
}

func rewrite(input json.RawMessage) json.RawMessage {
	if null(input) {
		return nil
	}
	return input
}

// dialog answers PermissionRequest.
func (r *reply) dialog() {
	d := r.out.specific.Decision
	if d == nil {
		if r.out.Decision != "" {
			r.warn(`"decision" on PermissionRequest is an object in hookSpecificOutput; this one counts nothing`)
		}
		return
	}
	if !null(d.Permissions) {
		r.warn("updatedPermissions cannot be passed on from here")
	}
	switch d.Behavior {
	case "allow":
		r.a.Effect, r.a.Rewrite = hook.Allow, rewrite(d.Input)
	case "deny":
		r.a.Effect, r.a.Reason = hook.Deny, r.reason(d.Message)
		if d.Interrupt {
			r.a.Effect = hook.Halt
		}
	}
}

// block answers events that decision: block stops, or on which it is a remark.
func (r *reply) block() {
	if r.out.Decision != "block" {
		return
	}
	r.a.Effect, r.a.Reason = hook.Deny, r.reason(r.out.Reason)
	if r.row.event == "ConfigChange" && r.call.Event.Data.Reason == "policy_settings" {
		r.a.Effect = hook.Abstain
		r.warn("a change of managed settings cannot be blocked: " + r.a.Reason)
	}
}

// carryOn answers the end of a turn. Context keeps the agent working as a block
// does.
func (r *reply) carryOn() {
	switch {
	case r.out.Decision == "block":
		r.a.Effect, r.a.Reason = hook.Deny, r.reason(r.out.Reason)
	case r.a.Context != "":
		r.a.Effect, r.a.Reason, r.a.Context = hook.Deny, r.reason(r.a.Context), ""
	}
}

// elicit answers an MCP server's question, or the person's answer to it.
func (r *reply) elicit() {
	if r.block(); r.a.Effect == hook.Deny {
		return
	}
	switch r.out.specific.Action {
	case "decline", "cancel":
		r.a.Effect, r.a.Reason = hook.Deny, r.reason(r.out.Reason)
	case "accept":
		r.warn("an answer to an MCP server cannot be passed on from here; the person answers")
	}
}
