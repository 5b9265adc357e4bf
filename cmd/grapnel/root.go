package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// exitCode is what the program says to its caller.
type exitCode int

// The exit codes of every command.
const (
	exitDone        exitCode = 0
	exitFailed      exitCode = 1
	exitUsage       exitCode = 2 // usage or bad input; in `hook`: block
	exitFound       exitCode = 3 // a check found something
	exitUnreachable exitCode = 4
)

// failure is an error with an exit code and a way out.
type failure struct {
	code exitCode
	err  error
	hint string // what to do, one line
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func fail(code exitCode, hint string, err error) error { return &failure{code, err, hint} }

// silent ends the program with a code after everything has been said.
type silent exitCode

func (s silent) Error() string { return fmt.Sprintf("exit %d", int(s)) }

type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// app is one run of the program.
type app struct {
	streams
	getenv func(string) string
	paths  paths
	level  string
	json   bool
}

// run is the program. It returns the exit code.
func run(ctx context.Context, args []string, s streams, getenv func(string) string) exitCode {
	if len(args) == 1 && args[0] == superviseCommand {
		if err := process.Supervise(); err != nil { // one hook command's supervisor
			fmt.Fprintln(s.err, "grapnel supervise:", err)
			return exitFailed
		}
		return exitDone
	}
	if len(args) > 0 && args[0] == "hook" {
		// What an agent starts keeps no other rules than the agent's: the
		// same arguments and the same bytes as grapnel-hook.
		return runHook(ctx, args[1:], s, getenv)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{streams: s, getenv: getenv}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	return a.report(err)
}

// report tells a person what went wrong and what to do.
func (a *app) report(err error) exitCode {
	if err == nil {
		return exitDone
	}
	var quiet silent
	if errors.As(err, &quiet) {
		return exitCode(quiet)
	}
	code, hint := exitFailed, ""
	var f *failure
	if errors.As(err, &f) {
		code, hint = f.code, f.hint
	} else if strings.HasPrefix(err.Error(), "unknown command") || strings.Contains(err.Error(), "flag") || strings.Contains(err.Error(), "arg(s)") {
		code, hint = exitUsage, "see `grapnel help`"
	}
	fmt.Fprintf(a.err, "grapnel: %s\n", err)
	if hint != "" {
		fmt.Fprintf(a.err, "grapnel: %s\n", hint)
	}
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "grapnel",
		Short: "The hook bus for coding agents",
		Long: `grapnel puts the hooks of every coding agent on one bus: blocking events are
answered with one verdict by everyone who must be heard, notification events
reach their handlers, and everything is on record.

Exit codes: 0 done, 1 failed, 2 usage or bad input, 3 a check found something,
4 the daemon or broker cannot be reached.`,
		SilenceUsage: true, SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.paths.resolve(a.getenv) },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.paths.config, "config", "", "configuration `file` (GRAPNEL_CONFIG)")
	flags.StringVar(&a.paths.state, "state", "", "state `directory` (GRAPNEL_STATE)")
	flags.StringVar(&a.paths.socket, "socket", "", "hook socket `path` (GRAPNEL_SOCKET)")
	flags.StringVar(&a.level, "log-level", "", "debug, info, warn or error (GRAPNEL_LOG_LEVEL)")
	flags.BoolVar(&a.json, "json", false, "JSON for programs, where something is listed or shown")
	root.AddCommand(
		a.upCommand(), a.downCommand(), a.statusCommand(), a.hookCommand(),
		a.installCommand(), a.uninstallCommand(), a.doctorCommand(), a.agentsCommand(),
		a.emitCommand(), a.tailCommand(), a.hooksCommand(), a.trustCommand(), a.policyCommand(), a.auditCommand(), a.rosterCommand(),
		a.benchCommand(), a.demoCommand(), a.schemaCommand(), a.versionCommand(),
	)
	root.InitDefaultCompletionCmd()
	for _, group := range root.Commands() {
		if group.HasSubCommands() {
			// Without this a mistyped subcommand shows the help and is a success.
			group.Args, group.RunE = cobra.ArbitraryArgs, unknownSubcommand
		}
	}
	return root
}

func unknownSubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	return fail(exitUsage, "see `"+c.CommandPath()+" --help`", fmt.Errorf("unknown command %.60q for %q", args[0], c.CommandPath()))
}

// logger writes to stderr; the level comes from the flag, the environment, or
// is warn.
func (a *app) logger(w io.Writer) (*slog.Logger, error) {
	text := a.level
	if text == "" {
		text = a.getenv("GRAPNEL_LOG_LEVEL")
	}
	if text == "" {
		text = "warn"
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(text)); err != nil {
		return nil, fail(exitUsage, "it is one of debug, info, warn, error", fmt.Errorf("log level %q is not known", text))
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})), nil
}
