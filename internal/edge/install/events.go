package install

// registration is one event's entry in the settings.
type registration struct {
	event string
	// timeout is in seconds, as Claude Code takes it.
	timeout int
	// block writes onFailure "block".
	block bool
}

const (
	waitedFor   = 30 // the agent waits for a verdict
	notWaited   = 10 // it waits for a receipt
	atItsEnd    = 2  // SessionEnd: its end waits for the longest one registered
	neverListen = "WorktreeCreate"
	perPiece    = "MessageDisplay"
)

// registrations lists the entries to have, in the order of an agent's life.
func registrations(messageDisplay bool) []registration {
	list := []registration{
		{"SessionStart", waitedFor, false},
		{"Setup", waitedFor, false},
		{"UserPromptSubmit", waitedFor, true},
		{"UserPromptExpansion", waitedFor, true},
		{"PreToolUse", waitedFor, true},
		{"PermissionRequest", waitedFor, true},
		{"PermissionDenied", notWaited, false},
		{"PostToolUse", notWaited, false},
		{"PostToolUseFailure", notWaited, false},
		{"PostToolBatch", waitedFor, false},
		{"Notification", notWaited, false},
		{"SubagentStart", waitedFor, false},
		{"SubagentStop", waitedFor, false},
		{"TaskCreated", waitedFor, false},
		{"TaskCompleted", waitedFor, false},
		{"Stop", waitedFor, false},
		{"StopFailure", notWaited, false},
		{"TeammateIdle", waitedFor, false},
		{"InstructionsLoaded", notWaited, false},
		{"ConfigChange", waitedFor, false},
		{"CwdChanged", notWaited, false},
		{"DirectoryAdded", notWaited, false},
		{"FileChanged", notWaited, false},
		{"WorktreeRemove", notWaited, false},
		{"PreCompact", waitedFor, false},
		{"PostCompact", notWaited, false},
		{"PreModelSwitch", waitedFor, false},
		{"PostModelSwitch", notWaited, false},
		{"Elicitation", waitedFor, false},
		{"ElicitationResult", waitedFor, false},
		{"SessionEnd", atItsEnd, false},
	}
	if messageDisplay {
		list = append(list, registration{perPiece, notWaited, false})
	}
	return list
}

// Events lists the events that an installation registers when nothing else is
// asked for.
func Events() []string {
	var names []string
	for _, r := range registrations(false) {
		names = append(names, r.event)
	}
	return names
}
