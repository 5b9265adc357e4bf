// grapnel-hook is what an agent starts for each hook: it hands the agent's
// JSON to the daemon over the hook socket and prints the daemon's answer.
//
//	grapnel-hook [--grapnel /absolute/path] AGENT EVENT
//
// EVENT is the agent's own event name as registered, or a canonical one. The
// program never decides that something may run: without a daemon it starts the
// full binary with the same arguments ("grapnel hook"), which lies beside it or
// where the installer said with --grapnel, and without that it answers by the
// event's class, which is deny for whatever guards an action. No environment
// variable changes that.
//
// It is started for every hook, so it uses the standard library alone and
// little of that.
package main

import (
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

func main() {
	started := time.Now()
	agent, event, binary, problem := arguments(os.Args[1:])
	if problem != "" {
		os.Stderr.WriteString("grapnel-hook: " + problem + "\nusage: grapnel-hook [--grapnel /absolute/path] AGENT EVENT\n")
		os.Exit(2)
	}
	s := &shim{agent: agent, event: event, binary: binary, started: started}
	s.exit(s.ask())
}

// watchGrace is how long after its deadline the shim answers for itself.
const watchGrace = 100 * time.Millisecond

// shim is one hook being answered.
type shim struct {
	agent, event string
	binary       string // the full binary as given, or ""
	started      time.Time
	child        atomic.Pointer[os.Process]
	answered     atomic.Bool
}

// ask gets the answer from whoever gives one.
func (s *shim) ask() hookwire.Response {
	budget := time.Duration(hookwire.Budget(s.agent, s.event)) * time.Millisecond
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
	conn, err := connect(hookwire.SocketPaths(os.Getenv))
	if err != nil {
		if unsafe, ok := err.(*unsafeError); ok {
			return s.alone(unsafe.Error())
		}
		return s.runBinary(stdin, err)
	}
	defer conn.Close()
	if _, err := conn.Write(frame); err != nil {
		// A daemon that refuses says why before it hangs up.
		if _, refused := hookwire.ReadResponse(conn); refused != nil {
			if r, ok := refused.(*hookwire.Refused); ok {
				return s.alone(r.Error())
			}
		}
		return s.alone("the daemon hung up: " + err.Error() + "; see `grapnel status`")
	}
	answer, err := hookwire.ReadResponse(conn)
	if err == hookwire.ErrVersion {
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

// arguments reads the command line; problem says what is wrong with it.
func arguments(args []string) (agent, event, binary, problem string) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		value, joined := strings.CutPrefix(args[0], "--grapnel=")
		switch {
		case joined:
			args = args[1:]
		case args[0] == "--grapnel" && len(args) > 1:
			value, args = args[1], args[2:]
		default:
			return "", "", "", "unknown flag " + clip(args[0])
		}
		if !absolute(value) {
			return "", "", "", "--grapnel needs an absolute path, not " + clip(value)
		}
		binary = value
	}
	switch {
	case len(args) < 2:
		return "", "", "", "the agent's name and the event's name are missing; `grapnel install` registers both"
	case len(args) > 2:
		return "", "", "", "too many arguments, first " + clip(args[2])
	case args[0] == "" || args[1] == "":
		return "", "", "", "the agent's name and the event's name must not be empty"
	}
	return args[0], args[1], binary, ""
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
