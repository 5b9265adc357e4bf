package trust

import "slices"

// Source says where a hook came from, and so how far it is trusted.
type Source string

// The sources, in the order in which their hooks are planned: what comes first
// runs first, and takes precedence.
const (
	// Builtin hooks are part of the program.
	Builtin Source = "builtin"
	// Managed hooks were put there by the machine's administrator.
	Managed Source = "managed"
	// User hooks are in the user's own configuration.
	User Source = "user"
	// Session hooks were registered through the API by a program of the user.
	Session Source = "session"
	// Workspace hooks came with the files that the agent works on.
	Workspace Source = "workspace"
	// Downloaded hooks came from elsewhere as a pack.
	Downloaded Source = "downloaded"
	// Extension hooks came with an extension of an agent.
	Extension Source = "extension"
)

// Sources returns all sources in their order.
func Sources() []Source {
	return []Source{Builtin, Managed, User, Session, Workspace, Downloaded, Extension}
}

// Order is the source's place among [Sources], from 0; an unknown source comes
// after all others.
func (s Source) Order() int {
	if i := slices.Index(Sources(), s); i >= 0 {
		return i
	}
	return len(Sources())
}

// Known says whether it is one of [Sources].
func (s Source) Known() bool { return slices.Contains(Sources(), s) }

// NeedsApproval says whether hooks from here run only after approval of their
// digest. trustWorkspace is the user's word that workspaces are trusted; it
// counts for [Workspace] alone, and must never be read from a workspace. Unknown
// sources need approval.
func (s Source) NeedsApproval(trustWorkspace bool) bool {
	switch s {
	case Builtin, Managed, User, Session:
		return false
	case Workspace:
		return !trustWorkspace
	}
	return true
}

// Loosens says whether configuration from here may loosen anything: allow what
// would be asked, change an input, take away another hook. Everything else can
// only tighten, approved or not.
func (s Source) Loosens() bool {
	switch s {
	case Builtin, Managed, User, Session:
		return true
	}
	return false
}
