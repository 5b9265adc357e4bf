// grapnel-hook is what an agent starts for each hook: it hands the agent's
// JSON to the daemon over the hook socket and prints the daemon's answer.
//
//	grapnel-hook [--grapnel PATH] [--within MILLISECONDS]
//	             [--socket PATH] [--state DIR] [--config FILE] AGENT EVENT
//
// EVENT is the agent's own event name as registered, or a canonical one. The
// program never decides that something may run: without a daemon it starts the
// full binary with the same arguments ("grapnel hook"), which lies beside it or
// where the installer said with --grapnel, and without that it answers by the
// event's class, which is deny for whatever guards an action. No environment
// variable changes that. --within is for agents whose time-out for hooks was
// set to less than the event's budget; it can only shorten that. The installer
// writes --socket, --state and --config, so that nothing that a workspace puts
// into the agent's environment leads to another bus.
//
// It is started for every hook, so it uses the standard library alone and
// little of that.
package main

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

func main() {
	started := time.Now()
	o, problem := arguments(os.Args[1:])
	if problem != "" {
		os.Stderr.WriteString("grapnel-hook: " + problem + "\nusage: grapnel-hook [--grapnel PATH] [--within MS] [--socket PATH] [--state DIR] [--config FILE] AGENT EVENT\n")
		os.Exit(2)
	}
	s := &shim{options: o, started: started}
	s.exit(s.ask())
}

// watchGrace is how long after its deadline the shim answers for itself.
const watchGrace = 100 * time.Millisecond

// shim is one hook being answered.
type shim struct {
	options
	started  time.Time
	child    atomic.Pointer[os.Process]
	answered atomic.Bool
}

// ask gets the answer from whoever gives one.
func (s *shim) ask() hookwire.Response {
	ms := hookwire.Budget(s.agent, s.event)
	if s.within > 0 && s.within < ms {
		ms = s.within
	}
	budget := time.Duration(ms) * time.Millisecond
	deadline := s.started.Add(budget)
	// The watchdog depends on nothing that it watches: a daemon that is
	// stopped, an agent that never closes stdin, a disk that hangs.
	time.AfterFunc(time.Until(deadline)+watchGrace, func() {
		s.exit(s.alone("no answer within " + budget.String() + "; is the daemon overloaded or stopped? See `grapnel status`"))
	})
	stdin, err := readAll(os.Stdin, hookwire.MaxStdin)
	if err != nil {
		return s.alone("the agent's input could not be read: " + err.Error())
	}
	cwd, _ := os.Getwd() // it may be gone; the payload usually names it too
	frame, err := hookwire.AppendRequest(make([]byte, 0, len(stdin)+2048), hookwire.Request{
		Agent: s.agent, Event: s.event, CWD: cwd, Env: environment(s.agent),
		PID: os.Getpid(), PPID: os.Getppid(), Deadline: deadline.UnixNano(), Stdin: stdin,
	})
	if err != nil {
		return s.alone(err.Error())
	}
	sockets := []string{s.socket}
	if s.socket == "" {
		sockets = hookwire.SocketPaths(os.Getenv)
	}
	conn, err := connect(sockets)
	if err != nil {
		if unsafe := (*unsafeError)(nil); errors.As(err, &unsafe) {
			return s.alone(unsafe.Error())
		}
		return s.runBinary(stdin, err)
	}
	defer conn.Close()
	if _, err := conn.Write(frame); err != nil {
		// A daemon that refuses says why before it hangs up.
		_, answer := hookwire.ReadResponse(conn)
		if refused := (*hookwire.Refused)(nil); errors.As(answer, &refused) {
			return s.alone(refused.Error())
		}
		return s.alone("the daemon hung up: " + err.Error() + "; see `grapnel status`")
	}
	answer, err := hookwire.ReadResponse(conn)
	if errors.Is(err, hookwire.ErrVersion) {
		return s.alone(err.Error() + "; restart it: `grapnel down`, then `grapnel up`")
	}
	if err != nil {
		return s.alone("the daemon gave no answer: " + err.Error() + "; see `grapnel status`")
	}
	if !hookwire.Usable(s.agent, s.event, answer) {
		return s.alone("the daemon's answer is not one that " + s.agent + " would understand; see `grapnel status`")
	}
	return answer
}

// alone is the answer that needs nobody.
func (s *shim) alone(why string) hookwire.Response {
	return hookwire.Alone(s.agent, s.event, "grapnel: "+why)
}

// exit prints the answer and ends the process. Only the first caller does; for
// any other it does not return.
func (s *shim) exit(r hookwire.Response) {
	if s.answered.Swap(true) {
		select {}
	}
	if child := s.child.Load(); child != nil {
		child.Kill()
	}
	if len(r.Stdout) > 0 {
		os.Stdout.Write(r.Stdout)
	}
	if len(r.Stderr) > 0 {
		os.Stderr.Write(r.Stderr)
	}
	os.Exit(r.Exit)
}

// environment picks the variables that travel.
func environment(agent string) []hookwire.Var {
	var env []hookwire.Var
	for _, name := range hookwire.Allowed(agent) {
		if v := os.Getenv(name); v != "" && len(v) < hookwire.MaxName/2 {
			env = append(env, hookwire.Var{Name: name, Value: v})
		}
	}
	return env
}

// options are the command line, read.
type options struct {
	agent, event string
	binary       string   // the full binary, or "" for the one beside this program
	within       int      // milliseconds until the answer, or 0 for the event's budget
	socket       string   // the hook socket, or "" for where the environment says
	places       []string // --socket, --state and --config with their values, for the full binary
}

// arguments reads the command line; problem says what is wrong with it.
func arguments(args []string) (o options, problem string) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		if !joined && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch name {
		case "--grapnel":
			if !absolute(value) {
				return o, "--grapnel needs an absolute path, not " + strconv.Quote(clip(value))
			}
			o.binary = value
		case "--socket", "--state", "--config":
			if !absolute(value) {
				return o, name + " needs an absolute path, not " + strconv.Quote(clip(value))
			}
			if name == "--socket" {
				o.socket = value
			}
			o.places = append(o.places, name, value)
		case "--within":
			ms, err := strconv.Atoi(value)
			if err != nil || ms <= 0 {
				return o, "--within needs a number of milliseconds, not " + strconv.Quote(clip(value))
			}
			o.within = ms
		default:
			return o, "unknown flag " + strconv.Quote(clip(name))
		}
	}
	switch {
	case len(args) < 2:
		return o, "the agent's name and the event's name are missing; `grapnel install` registers both"
	case len(args) > 2:
		return o, "too many arguments, the first is " + strconv.Quote(clip(args[2]))
	case args[0] == "" || args[1] == "":
		return o, "the agent's name and the event's name must not be empty"
	}
	o.agent, o.event = args[0], args[1]
	return o, ""
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
