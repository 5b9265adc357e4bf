package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// emitFlags describe the event.
type emitFlags struct {
	tool, kind, data      string
	session, parent, root string
	timeout               time.Duration
}

func (a *app) emitCommand() *cobra.Command {
	var f emitFlags
	c := &cobra.Command{
		Use:   "emit EVENT",
		Short: "Publish one event as an agent would",
		Long: `Publish one event as an agent would, and print the verdict or the receipt as
JSON. EVENT is a canonical name (pre_tool_use). The data is a JSON object as in
` + "`grapnel schema event`" + `, or, with --tool, the tool's input.`,
		Example: `  echo '{"command":"rm -rf /"}' | grapnel emit pre_tool_use --tool Bash --data -`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			e, err := a.emitted(args[0], f)
			if err == nil && f.timeout <= 0 {
				err = fmt.Errorf("a timeout of %s", f.timeout)
			}
			if err != nil {
				return fail(exitUsage, "`grapnel schema event` shows what an event looks like", err)
			}
			return a.emit(c.Context(), e, f.timeout)
		},
	}
	c.Flags().StringVar(&f.tool, "tool", "", "the tool's `name`, for tool events")
	c.Flags().StringVar(&f.kind, "kind", "", "the tool's `kind`; by default from the name")
	c.Flags().StringVar(&f.data, "data", "", "`file` with the data, or - for standard input")
	c.Flags().StringVar(&f.session, "session", "emit", "session `id`")
	c.Flags().StringVar(&f.parent, "parent-session", "", "`id` of the session that this one was started from")
	c.Flags().StringVar(&f.root, "root-session", "", "`id` of the session that a person started and this one comes from")
	c.Flags().DurationVar(&f.timeout, "timeout", 30*time.Second, "how long to wait for the verdict")
	return c
}

func (a *app) emitted(name string, f emitFlags) (hook.Event, error) {
	host, _ := os.Hostname()
	cwd, _ := os.Getwd()
	e := hook.Event{
		ID: rand.Text(), Source: "/" + host + "/grapnel-emit", Name: hook.Name(name), Subject: f.tool, SessionID: f.session,
		Time: time.Now().UTC(),
	}
	if !e.Name.Known() {
		return e, fmt.Errorf("there is no event %.60q", name)
	}
	// A hook that emits an event has caused it.
	if err := protocol.Lineage(&e, a.getenv); err != nil {
		return e, err
	}
	for name, value := range map[string]string{hook.ParentSessionExtension: f.parent, hook.RootSessionExtension: f.root} {
		if value == "" {
			continue
		}
		if e.Extensions == nil {
			e.Extensions = make(map[string]string)
		}
		e.Extensions[name] = value
	}
	var data []byte
	var err error
	switch f.data {
	case "":
	case "-":
		data, err = io.ReadAll(io.LimitReader(a.in, cloudevent.MaxData+1))
	default:
		data, err = os.ReadFile(f.data)
	}
	if err != nil {
		return e, fmt.Errorf("data: %w", err)
	}
	if f.tool != "" {
		kind := hook.Kind(f.kind)
		if kind == "" {
			kind = kindOf(f.tool)
		}
		if !slices.Contains(hook.Kinds(), kind) {
			return e, fmt.Errorf("there is no tool kind %.40q; there are %v", kind, hook.Kinds())
		}
		if len(data) > 0 {
			if err := strictjson.Check(data, cloudevent.MaxData); err != nil {
				return e, fmt.Errorf("data: %w", err)
			}
		}
		e.Data = hook.Data{CWD: cwd, Tool: &hook.Tool{Name: f.tool, Kind: kind, Input: json.RawMessage(data)}}
		return e, nil
	}
	err = cloudevent.DecodeData(&e, data)
	if e.Data.CWD == "" && e.Data.Workspace == "" {
		// Where an agent would have been started; the data are not those that
		// came any more.
		e.Data.CWD, e.Raw = cwd, nil
	}
	if e.Data.Tool != nil {
		e.Subject = e.Data.Tool.Name
	}
	return e, err
}

// kindOf guesses a tool's kind from the names that agents use most.
func kindOf(tool string) hook.Kind {
	switch hook.Token(tool) {
	case "bash", "shell", "powershell", "run_shell_command":
		return hook.KindShell
	case "read", "read_file", "view":
		return hook.KindFileRead
	case "write", "write_file", "create":
		return hook.KindFileWrite
	case "edit", "replace", "apply_patch":
		return hook.KindFileEdit
	case "grep", "glob":
		return hook.KindSearch
	case "webfetch", "websearch", "web_fetch":
		return hook.KindWeb
	}
	return hook.KindOther
}

func (a *app) emit(ctx context.Context, e hook.Event, timeout time.Duration) error {
	c, err := a.client(ctx, natsd.Agent)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if e.Name.Blocking() {
		v, err := c.Request(ctx, e)
		if err != nil {
			return err
		}
		return a.printJSON(v)
	}
	r, err := c.Publish(ctx, e)
	if err != nil {
		return err
	}
	return a.printJSON(r)
}
