package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// startPatience is how long a hook waits for a daemon that it started.
const startPatience = 5 * time.Second

func (a *app) hookCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hook AGENT EVENT",
		Short: "What agents start: the agent's JSON on stdin, its answer on stdout",
		Long: `Answer one hook of an agent, as grapnel-hook does, with the same arguments and
the same bytes. Where no daemon answers it starts one, unless start_daemon is
false in the configuration; failing that it decides from the last signed policy,
or by the event's class: deny for what guards an action.`,
	}
}

// runHook is the hook command. It has its own rules: whatever goes wrong, the
// agent gets an answer it obeys, and nothing else is on stdout.
func runHook(ctx context.Context, args []string, s streams, getenv func(string) string) exitCode {
	h := &hookCall{getenv: getenv}
	flags := pflag.NewFlagSet("hook", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	within := flags.Int("within", 0, "")
	flags.String("grapnel", "", "") // for grapnel-hook: where this program is
	flags.StringVar(&h.paths.socket, "socket", "", "")
	flags.StringVar(&h.paths.state, "state", "", "")
	flags.StringVar(&h.paths.config, "config", "", "")
	if err := flags.Parse(args); err != nil || flags.NArg() != 2 || *within < 0 {
		fmt.Fprintln(s.err, "usage: grapnel hook [--within MILLISECONDS] [--socket PATH] [--state DIR] [--config FILE] AGENT EVENT, the agent's JSON on standard input")
		return exitUsage
	}
	h.agent, h.event, h.placed = flags.Arg(0), flags.Arg(1), h.paths.socket != ""
	budget := time.Duration(hookwire.Budget(h.agent, h.event)) * time.Millisecond
	if *within > 0 {
		budget = min(budget, time.Duration(*within)*time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	answer := make(chan hookwire.Response, 1)
	go func() { answer <- h.answer(ctx, s.in) }()
	var r hookwire.Response
	select {
	case r = <-answer:
	case <-ctx.Done():
		r = hookwire.Alone(h.agent, h.event, "grapnel: no answer within "+budget.String()+"; is the daemon overloaded or stopped? See `grapnel status`")
	}
	_, _ = s.out.Write(r.Stdout)
	_, _ = s.err.Write(r.Stderr)
	return exitCode(r.Exit)
}

type hookCall struct {
	agent, event string
	getenv       func(string) string
	paths        paths
	placed       bool // the command line says where the bus is, not the environment
}

func (h *hookCall) answer(ctx context.Context, in io.Reader) hookwire.Response {
	alone := func(err error) hookwire.Response {
		return hookwire.Alone(h.agent, h.event, "grapnel: "+err.Error())
	}
	stdin, err := io.ReadAll(io.LimitReader(in, hookwire.MaxStdin+1))
	if err != nil {
		return alone(fmt.Errorf("the agent's input could not be read: %w", err))
	}
	if len(stdin) > hookwire.MaxStdin {
		return alone(fmt.Errorf("the agent's input has more than %d bytes", hookwire.MaxStdin))
	}
	if err := h.paths.resolve(h.getenv); err != nil {
		return alone(err)
	}
	h.paths.configGiven = false // the installer names the file whether it is there or not
	request := hookwire.Request{Agent: h.agent, Event: h.event, PID: os.Getpid(), PPID: os.Getppid(), Stdin: stdin}
	request.CWD, _ = os.Getwd() // it may be gone; the payload usually names it too
	for _, name := range hookwire.Allowed(h.agent) {
		if v := h.getenv(name); v != "" {
			request.Env = append(request.Env, hookwire.Var{Name: name, Value: v})
		}
	}
	if deadline, ok := ctx.Deadline(); ok {
		request.Deadline = deadline.UnixNano()
	}
	why := h.reach(ctx, request)
	if why.answered != nil {
		return *why.answered
	}
	return h.offline(ctx, request, why.err)
}

// reached is what came of asking the daemon.
type reached struct {
	answered *hookwire.Response
	err      error
}

// reach asks the daemon, and starts one when none is there.
func (h *hookCall) reach(ctx context.Context, r hookwire.Request) reached {
	sockets := []string{h.paths.socket}
	if !h.placed {
		sockets = append(sockets, hookwire.SocketPaths(h.getenv)...)
	}
	conn, err := dialFirst(sockets)
	if err != nil {
		started, err := h.startDaemon()
		if err != nil {
			return reached{err: err}
		}
		if conn, err = h.await(ctx, sockets, started); err != nil {
			return reached{err: err}
		}
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		// Later than the hook's own, which is the reason to give.
		_ = conn.SetDeadline(deadline.Add(time.Second))
	}
	var answer hookwire.Response
	frame, err := hookwire.AppendRequest(nil, r)
	if err == nil {
		_, err = conn.Write(frame)
	}
	if err == nil {
		answer, err = hookwire.ReadResponse(conn)
	}
	if err == nil && !hookwire.Usable(h.agent, h.event, answer) {
		err = errors.New("the daemon's answer is not one that the agent would understand")
	}
	if err != nil {
		// There is a daemon, and it may have acted on the event: the policy
		// alone must not say anything looser now.
		a := hookwire.Alone(h.agent, h.event, "grapnel: the daemon gave no answer: "+err.Error()+"; see `grapnel status`")
		return reached{answered: &a}
	}
	return reached{answered: &answer}
}

func dialFirst(sockets []string) (net.Conn, error) {
	var first error
	for _, path := range sockets {
		conn, err := net.DialTimeout("unix", path, 2*time.Second)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// startDaemon starts `grapnel up` in the background. The channel gets the exit
// code if it ends while this process lives.
func (h *hookCall) startDaemon() (<-chan exitCode, error) {
	c, err := loadConfig(h.paths)
	if err != nil {
		return nil, err
	}
	if c.Start != nil && !*c.Start {
		return nil, errors.New("no daemon runs, and start_daemon is false")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(h.paths.state, 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(h.paths.daemonLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(self, "up", "--config-optional", "--state", h.paths.state, "--config", h.paths.config, "--socket", h.paths.socket)
	cmd.Env = h.daemonEnvironment()
	cmd.Dir = filepath.VolumeName(h.paths.state) + string(filepath.Separator)
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	ended := make(chan exitCode, 1)
	go func() {
		_ = cmd.Wait() // the state says how it ended
		ended <- exitCode(cmd.ProcessState.ExitCode())
	}()
	return ended, nil
}

// daemonEnvironment is not the agent's: that holds the agent's tokens, and a
// workspace may have put things into it. Where the person's home is, is the
// system's word; programs come from the usual places.
func (h *hookCall) daemonEnvironment() []string {
	home := h.getenv("HOME")
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		home = u.HomeDir
	}
	search := []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin", "/opt/homebrew/bin",
		filepath.Join(home, ".local", "bin"), filepath.Join(home, "go", "bin")}
	env := []string{"HOME=" + home}
	if runtime.GOOS == "windows" {
		search = []string{h.getenv("PATH")}
		env = []string{"USERPROFILE=" + home}
	}
	env = append(env, "PATH="+strings.Join(search, string(filepath.ListSeparator)))
	for _, name := range []string{"USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "GRAPNEL_LOG_LEVEL", "LOCALAPPDATA", "SystemRoot", "TEMP", "TMP"} {
		if v := h.getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// await waits for the hook socket of a daemon that is starting. Two hooks may
// have started one each; the state directory's lock lets one live, so that the
// end of ours says nothing unless it is about what it was given to read.
func (h *hookCall) await(ctx context.Context, sockets []string, ended <-chan exitCode) (net.Conn, error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	patience := time.After(startPatience)
	for {
		conn, err := dialFirst(sockets)
		if err == nil {
			return conn, nil
		}
		select {
		case <-tick.C:
		case code := <-ended:
			if code == exitUsage {
				return nil, fmt.Errorf("the daemon does not start with its configuration or policy; see %s", h.paths.daemonLog())
			}
		case <-patience:
			return nil, fmt.Errorf("the daemon that was started does not answer; see %s", h.paths.daemonLog())
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// offline answers without a daemon.
func (h *hookCall) offline(ctx context.Context, r hookwire.Request, why error) hookwire.Response {
	var decider hook.Decider
	if p, err := bundledPolicy(h.paths); err == nil {
		decider = p
	}
	reason := "no daemon"
	if why != nil {
		reason = why.Error()
	}
	e := edge.New(edge.NewOffline(decider, reason), &edge.Options{Log: slog.New(slog.DiscardHandler)})
	defer e.Close()
	return e.Decide(ctx, r)
}
