// Package native is the hook dialect of grapnel itself, for what the
// configuration file's hooks cannot be: hooks of a workspace, of packs, in the
// background, with answers that are used again, that depend on each other.
//
// # Files
//
//	~/.config/grapnel/hooks.json   the person's own
//	.grapnel/hooks.json            of a workspace; needs approval
//
//	{"hooks": [{
//	  "name": "no-todo",
//	  "on": ["pre_tool_use.bash", "pre_tool_use.write"],
//	  "command": ["/usr/local/bin/check", "--strict", "{{tool.input.command}}"],
//	  "timeout": "5s", "priority": 10, "rewrites": true
//	}]}
//
// A hook has one of command (an argument vector; a template may be a whole
// argument), shell (text for /bin/sh), prompt (with an optional "model", a name
// of the configuration file) or url (with "headers" and "allowed_env"). "on"
// are patterns as everywhere in grapnel, see [hook.Pattern]. "dir", "env" (an
// object) and "description" are as one expects; what every dialect has is in
// package dialect.
//
// # Input and answer
//
// As package command says: the event as structured CloudEvents JSON on standard
// input (an HTTP hook gets the same), GRAPNEL_ variables, our decision on
// standard output, exit code 2 denies. Failures count by the event's class:
// they deny on gates.
//
// Hooks run one after another, by priority, high first. The strictest answer
// wins, and the last rewrite counts.
package native
