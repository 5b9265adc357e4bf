package gohook

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// ErrBus is wrapped by the errors of [Firer.Fire] about the bus.
var ErrBus = errors.New("gohook: the bus did not take the event")

// Bus is how a [Firer] reaches the bus. A bus.Conn of an agent is one, and so is
// the bus.Gateway of this process.
type Bus interface {
	// Request asks for the verdict on a blocking event and waits for it.
	Request(ctx context.Context, e hook.Event) (hook.Verdict, error)
	// Publish hands over a notification event.
	Publish(ctx context.Context, e hook.Event) (hook.Receipt, error)
}

// FirerOptions tune a [Firer]. The zero value works, without the bus.
type FirerOptions struct {
	// Bus is asked after the hooks of this process. Defaults to none.
	Bus Bus
	// Source is the events' source, "/<host>/<agent>"; its last element is the
	// agent's name. Defaults to this host and claude-agent.
	Source string
	// ToolKind sorts tools, which policies go by. Defaults to [ToolKind].
	ToolKind func(tool string) hook.Kind
	// Context is where hooks are executed; its CWD is the events' as well.
	// Defaults to one that knows its session alone.
	Context *Context
	// Cause is the event of the bus that led here, where there is one. A hook on
	// the bus that fires must give it: it is how loops are found.
	Cause *hook.Event
	// Timeout is how long the bus may take. Defaults to [DefaultTimeout].
	Timeout time.Duration
}

// Firer fires events from within a tool, in one session: at the hooks of this
// process and, where it has a bus, at everybody there. It is the document's
// ExecutionContext with its fire_hook.
//
// Do not also put the Manager on that bus: its hooks would be executed twice.
type Firer struct {
	manager *Manager
	session string
	opts    FirerOptions
}

// NewFirer makes a Firer. Without a Manager (nil) the bus alone is asked.
func NewFirer(m *Manager, sessionID string, o *FirerOptions) *Firer {
	f := &Firer{manager: m, session: sessionID}
	if m == nil {
		f.manager = NewManager(nil)
	}
	if o != nil {
		f.opts = *o
	}
	if f.opts.Source == "" {
		host, err := os.Hostname()
		if err != nil || host == "" {
			host = "localhost"
		}
		f.opts.Source = "/" + host + "/claude-agent"
	}
	if f.opts.ToolKind == nil {
		f.opts.ToolKind = ToolKind
	}
	if f.opts.Timeout <= 0 {
		f.opts.Timeout = DefaultTimeout
	}
	return f
}

// Fire fires one event and says what all who were heard want, the strictest
// winning. The output is final, also beside an error.
//
// The hooks of this process come first. Unless they block an event that can
// block, the bus is asked, with the input as they left it, and its verdict is merged
// as that of one more hook: deny and halt block; ask blocks too, since there is
// nobody here to ask; abstain and allow continue. On an event that cannot block
// ContinueExecution says what was wanted and binds nobody; false from the bus on
// Stop means: carry on working. An input that the bus rewrote is put before the
// hooks of this process once more, for their yes or no alone.
//
// The error is that of [Manager.Execute] or wraps [ErrBus]. A bus that gives no
// verdict blocks a gate event (a tool, a prompt) and nothing else.
func (f *Firer) Fire(ctx context.Context, in Input) (Output, error) {
	if err := in.check(); err != nil {
		return Block(err.Error()), err
	}
	if in.SessionID == "" {
		in.SessionID = f.session
	}
	out, err := f.manager.Execute(ctx, in, f.opts.Context)
	if f.opts.Bus == nil || !out.ContinueExecution && in.Event().CanBlock() {
		return out, err
	}
	final := in.updated(out.UpdatedInput)
	verdict, asked, busErr := f.ask(ctx, final)
	switch {
	case busErr != nil:
		busErr = fmt.Errorf("%w: %w", ErrBus, busErr)
		if final.Event().Names()[0].Class() == hook.Gate {
			out = out.Merge(Block(busErr.Error()))
		}
	case asked:
		out = out.Merge(outputOf(verdict))
		if out.ContinueExecution && len(verdict.Input) > 0 {
			var again error
			out, again = f.again(ctx, in.updated(verdict.Input), out)
			err = errors.Join(err, again)
		}
	}
	return out, errors.Join(err, busErr)
}

// ask puts an event on the bus; asked is false where nobody decides on it.
func (f *Firer) ask(ctx context.Context, in Input) (v hook.Verdict, asked bool, err error) {
	e, err := eventOf(in, f.opts.ToolKind)
	if err != nil {
		return v, false, err
	}
	e.ID, e.Source, e.Data.Native.Agent = rand.Text(), f.opts.Source, path.Base(f.opts.Source)
	if f.opts.Context != nil {
		e.Data.CWD = f.opts.Context.CWD
	}
	if c := f.opts.Cause; c != nil {
		e.CausationID, e.CorrelationID, e.TraceParent, e.Hops = c.ID, c.CorrelationID, c.TraceParent, c.Hops+1
	}
	ctx, cancel := context.WithTimeout(ctx, f.opts.Timeout)
	defer cancel()
	if !e.Name.Blocking() {
		_, err = f.opts.Bus.Publish(ctx, e)
		return v, false, err
	}
	v, err = f.opts.Bus.Request(ctx, e)
	return v, err == nil, err
}

// again asks the hooks of this process about the input that the bus made of
// theirs. One more rewrite would be one that nobody on the bus has seen.
func (f *Firer) again(ctx context.Context, in Input, out Output) (Output, error) {
	second, err := f.manager.Execute(ctx, in, f.opts.Context)
	if second.ContinueExecution && len(second.UpdatedInput) > 0 {
		rewritten, _ := in.ToolInput()
		if !sameJSON(second.UpdatedInput, rewritten) {
			second = Block("the hooks of this program and those on the bus rewrite the tool's input in ways that do not fit together")
		}
	}
	if second.ContinueExecution {
		return out, err
	}
	return out.Merge(Block(second.StopReason)), err
}

// updated is in with another tool input, where there is one.
func (in Input) updated(input []byte) Input {
	d, ok := in.Data.(PreToolUseData)
	if ok && len(input) > 0 {
		d.ToolInput = input
		in.Data = d
	}
	return in
}

// outputOf is a verdict as the output of one more hook.
func outputOf(v hook.Verdict) Output {
	out := Allow().WithContext(v.Context)
	reason := v.Reason
	switch v.Effect {
	case hook.Abstain, hook.Allow:
		return out.WithUpdatedInput(v.Input)
	case hook.Ask:
		reason = "a person must be asked, and there is nobody here: " + reason
	case hook.Halt:
		reason = "the session is to end: " + reason
	}
	out.ContinueExecution, out.StopReason = false, reason
	return out
}

// ToolKind sorts Claude's tools.
func ToolKind(tool string) hook.Kind {
	switch tool {
	case "Bash", "PowerShell":
		return hook.KindShell
	case "Read", "NotebookRead":
		return hook.KindFileRead
	case "Write":
		return hook.KindFileWrite
	case "Edit", "MultiEdit", "NotebookEdit":
		return hook.KindFileEdit
	case "Glob", "Grep", "LS":
		return hook.KindSearch
	case "WebFetch", "WebSearch":
		return hook.KindWeb
	case "Agent", "Task":
		return hook.KindSubagent
	}
	if strings.HasPrefix(tool, "mcp__") {
		return hook.KindMCP
	}
	return hook.KindOther
}
