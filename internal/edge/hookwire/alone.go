package hookwire

// maxReason keeps a reason under what agents cut off, with room for escapes.
const maxReason = 8000

// Alone is the answer to an event when nobody else gives one. A gate gets the
// answer that blocked in every agent tried: a deny in the JSON, the reason on
// stderr and exit code 2, each of which some agent needs. All other events
// pass, with the reason on stderr alone.
//
// Claude Code and Qwen Code read a permission event's answer in a place of its
// own and ignore the exit code there. For WorktreeCreate Claude Code takes
// whatever stands on stdout for a path, so nothing may stand there. Gemini CLI
// reads stderr when stdout is empty. Windsurf and Kiro CLI know no JSON.
// Antigravity's PreInvocation cannot be denied. Copilot takes exit code 2 for a
// warning where a prompt is decided on. An empty event is some gate.
func Alone(agent, event, reason string) Response {
	if len(reason) > maxReason {
		reason = reason[:maxReason] + " …"
	}
	stderr := append([]byte(reason), '\n')
	if ClassOf(event) != Gate {
		if agent == ClaudeCode && isWorktreeCreate(event) {
			return Response{Exit: 1, Stderr: stderr}
		}
		r := Silent(agent, event)
		r.Stderr = stderr
		return r
	}
	var b []byte
	switch {
	case (agent == ClaudeCode || agent == QwenCode) && (event == "PermissionRequest" || event == "permission_request"):
		b = []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":`)
		return Response{Stdout: append(appendQuoted(b, reason), "}}}\n"...), Stderr: stderr}
	case agent == QwenCode && event == "":
		b = appendQuoted([]byte(`{"decision":"block","reason":`), reason)
		b = append(b, `,"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":`...)
		return Response{Stdout: append(appendQuoted(b, reason), "}}}\n"...), Stderr: stderr}
	case agent == Windsurf || agent == KiroCLI:
		return Response{Exit: 2, Stderr: stderr}
	case agent == Antigravity && (event == "PreInvocation" || event == "before_model"):
		return Response{Stderr: stderr}
	case agent == Antigravity:
		b = appendQuoted([]byte(`{"decision":"deny","reason":`), reason)
		return Response{Stdout: append(b, "}\n"...), Stderr: stderr}
	case agent == Cline:
		b = appendQuoted([]byte(`{"cancel":true,"errorMessage":`), reason)
	case agent == Cursor:
		b = appendQuoted([]byte(`{"continue":false,"permission":"deny","user_message":`), reason)
		b = appendQuoted(append(b, `,"agent_message":`...), reason)
	default:
		b = appendQuoted([]byte(`{"decision":"block","reason":`), reason)
		b = appendQuoted(append(b, `,"permissionDecision":"deny","permissionDecisionReason":`...), reason)
	}
	if agent == Copilot && (isPrompt(event) || event == "") {
		b = appendQuoted(append(b, `,"behavior":"deny","message":`...), reason)
		return Response{Stdout: append(b, "}\n"...), Stderr: stderr}
	}
	return Response{Exit: 2, Stdout: append(b, "}\n"...), Stderr: stderr}
}

// Silent is the answer that is no opinion.
func Silent(agent, event string) Response {
	switch {
	case saysNothing(agent), agent == ClaudeCode && isWorktreeCreate(event):
		return Response{}
	case agent == Cline:
		return Response{Stdout: []byte("{\"cancel\":false}\n")}
	case agent == Cursor:
		return Response{Stdout: []byte(cursorGoesOn(event) + "\n")}
	}
	return Response{Stdout: []byte("{}\n")}
}

// cursorGoesOn is what Cursor has to be told to go on. It blocks where it
// waits for a permission and none is said. Before a shell command or an MCP
// call, its last hooks before it asks, an allow may be a grant, so it is told to
// ask; so it is on gates that are not known.
func cursorGoesOn(event string) string {
	const ask = `"permission":"ask","user_message":"grapnel has no opinion on this"}`
	switch event {
	case "preToolUse", "beforeReadFile", "beforeTabFileRead", "subagentStart", "pre_tool_use", "pre_file_read", "subagent_start":
		return `{"permission":"allow"}`
	case "beforeShellExecution", "beforeMCPExecution", "pre_shell", "pre_mcp_call":
		return "{" + ask
	}
	switch {
	case isPrompt(event):
		return `{"continue":true}`
	case ClassOf(event) == Gate:
		return `{"continue":true,` + ask
	}
	return "{}"
}

// saysNothing reports whether the agent takes an empty answer for no opinion,
// and something else for more than that: Codex drops what it does not expect,
// Antigravity denies on it, Kiro CLI gives it to the model.
func saysNothing(agent string) bool {
	switch agent {
	case Codex, Antigravity, KiroCLI, KimiCode, Goose, Windsurf:
		return true
	}
	return false
}

// Usable reports whether r can be an answer to the event, and not what a
// process that crashed left behind: exit code 0 or 2 with one whole JSON
// object on stdout, or with nothing there for agents that take that for an
// answer, or with text for those that give it to the model. An empty answer to
// any other agent's gate is none.
func Usable(agent, event string, r Response) bool {
	switch {
	case agent == ClaudeCode && isWorktreeCreate(event):
		return true
	case r.Exit != 0 && r.Exit != 2:
		return false
	case len(r.Stdout) == 0 && saysNothing(agent):
		return r.Exit == 0 || len(r.Stderr) > 0
	case r.Exit == 0 && (agent == KiroCLI || agent == KimiCode):
		return true // text for the model
	}
	return wholeObject(r.Stdout)
}

func isPrompt(event string) bool {
	switch event {
	case "userPromptSubmitted", "UserPromptSubmit", "beforeSubmitPrompt", "user_prompt_submit":
		return true
	}
	return false
}

func isWorktreeCreate(event string) bool {
	return event == "WorktreeCreate" || event == "worktree_create"
}

// wholeObject reports whether b is one JSON object as far as its brackets and
// strings tell, with nothing before or after it but white space.
func wholeObject(b []byte) bool {
	depth, inString, closed := 0, false, false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"' && depth > 0:
			inString = !inString
		case inString:
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case closed, depth == 0 && c != '{':
			return false
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
			closed = depth == 0
		}
	}
	return closed && !inString
}

// appendQuoted appends s as a JSON string of ASCII alone, so that no byte of a
// reason can break the answer.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r >= 0x20 && r < 0x7f:
			b = append(b, byte(r))
		case r > 0xffff:
			r -= 0x10000
			for _, u := range [2]rune{0xd800 + r>>10, 0xdc00 + r&0x3ff} {
				b = append(b, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
			}
		default:
			b = append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		}
	}
	return append(b, '"')
}
