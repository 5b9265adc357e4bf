package dialecttest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Harness says what [Run] has to know about a dialect.
type Harness struct {
	// New returns the dialect.
	New func() *dialect.Dialect
	// File is the person's own file, below the home directory.
	File string
	// WorkspaceFile is a workspace's, below its root; empty where the dialect
	// has none.
	WorkspaceFile string
	// Config writes a file with one hook.
	Config func(Case) string
	// Deny is the text of a script by which a hook denies with the reason
	// "not this one".
	Deny string
	// Pass is the text of a script by which a hook lets the event go on; empty
	// where saying nothing does.
	Pass string
	// Variables are those of the environment whose values come from the event,
	// and what each must be; an empty one need not be set.
	Variables map[string]func(*dialect.Call) string
	// Texts are shell texts with the dialect's templates or variables; empty
	// where the dialect has no shell.
	Texts []Text
	// NoStdin says that hooks get no JSON on standard input.
	NoStdin bool
}

// Case is a hook that is to be configured.
type Case struct {
	// Event is the dialect's event.
	Event string
	// Tool is the dialect's name of the tool that is selected; empty means any.
	Tool string
	// Script is the absolute path of an executable; the hook runs it. Shell is
	// set instead where the hook is shell text.
	Script string
	Shell  string
	// Timeout is 0 where the dialect's default does.
	Timeout time.Duration
}

// Text is a shell text that shows values of the event.
type Text struct {
	// Shell writes the values to the file $OUT, which is in the text by that
	// name and is replaced by a path, with a NUL byte after each.
	Shell string
	// Want are the values.
	Want func(*dialect.Call) []string
	// Event is the canonical event that it is for; defaults to PreToolUse.
	Event hook.Name
}

// place is a world for one test of a harness.
type place struct {
	Harness
	*World
	t *testing.T
	// canary must not come into being; output is where scripts write.
	canary, output string
}

func newPlace(t *testing.T, h Harness) *place {
	t.Helper()
	p := &place{Harness: h, World: NewWorld(t, h.New()), t: t}
	p.canary = filepath.Join(p.Out, "canary")
	p.output = filepath.Join(p.Out, "output")
	return p
}

func (p *place) set(o dialect.Options) *dialect.Set {
	p.t.Helper()
	o.Budget = 1 << 30
	s := p.Set(&o)
	hooks, problems := s.Hooks(p.Workspace)
	require.Empty(p.t, problems, "the harness's Config writes a good file")
	require.NotEmpty(p.t, hooks, "the harness's Config writes a hook, and File is where it goes")
	return s
}

// name returns the dialect's name of an event.
func (p *place) name(n hook.Name) string {
	p.t.Helper()
	e, ok := p.dialect.Vocabulary.Event(n)
	require.True(p.t, ok, "the dialect has no %s", n)
	return e.Name
}
