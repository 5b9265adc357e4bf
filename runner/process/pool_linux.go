package process

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startLimit is how long a supervisor may take to report that a command was
// started. It is long: the machine may be busy with other commands.
const startLimit = 15 * time.Second

// pool keeps supervisors. One is used by one run at a time, so that all
// descendants it has belong to that run; starting a process for each run would
// cost more than most commands do.
type pool struct {
	options Options
	log     *slog.Logger

	mu      sync.Mutex
	idle    []*attendant
	closed  bool
	flags   []uintptr // clone flags to try, the best first
	waiting sync.WaitGroup
}

// attendant is the runner's side of a supervisor.
type attendant struct {
	process     *exec.Cmd
	conn        *net.UnixConn
	confinement Confinement
	exited      chan struct{}
}

func newPool(o Options, log *slog.Logger) *pool {
	p := &pool{options: o, log: log, flags: []uintptr{0}}
	if o.Namespace {
		p.flags = []uintptr{unix.CLONE_NEWPID, unix.CLONE_NEWPID | unix.CLONE_NEWUSER, 0}
		if os.Geteuid() != 0 {
			p.flags = p.flags[1:]
		}
	}
	return p
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, a := range idle {
		a.retire()
	}
	p.waiting.Wait()
}

func (p *pool) check() (Confinement, error) {
	if len(p.options.Supervisor) == 0 {
		return weakest, nil
	}
	a, err := p.take()
	if err != nil {
		return None, err
	}
	defer p.give(a)
	return a.confinement, nil
}

// take returns an idle supervisor, or a new one.
func (p *pool) take() (*attendant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 {
		a := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		select {
		case <-a.exited: // somebody killed it
			a.conn.Close()
		default:
			return a, nil
		}
	}
	for {
		a, err := p.launch(p.flags[0])
		if err == nil {
			return a, nil
		}
		if len(p.flags) == 1 {
			return nil, fmt.Errorf("%w: start it: %w", ErrSupervisor, err)
		}
		p.log.Info("process: no PID namespace for hook commands", "flags", fmt.Sprintf("%#x", p.flags[0]), "error", err)
		p.flags = p.flags[1:]
	}
}

// give takes back a supervisor that has nothing left to do.
func (p *pool) give(a *attendant) {
	p.mu.Lock()
	keep := !p.closed && len(p.idle) < p.options.Idle
	if keep {
		p.idle = append(p.idle, a)
	}
	p.mu.Unlock()
	if !keep {
		a.retire()
	}
}

func (p *pool) launch(flags uintptr) (*attendant, error) {
	conn, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command(p.options.Supervisor[0], p.options.Supervisor[1:]...)
	cmd.Dir = "/"
	cmd.Env = []string{} // commands can read their parent's; there is nothing in it
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: flags}
	confinement := Supervised
	if flags != 0 {
		confinement = Namespace
	}
	if flags&unix.CLONE_NEWUSER != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		conn.Close()
		return nil, err
	}
	a := &attendant{process: cmd, conn: conn, confinement: confinement, exited: make(chan struct{})}
	p.waiting.Go(func() {
		defer close(a.exited)
		_ = cmd.Wait() // it has nothing to say with its exit
	})
	return a, nil
}

// retire ends a supervisor, with the command that it may still have.
func (a *attendant) retire() {
	a.conn.Close()
	_ = a.process.Process.Kill()
}

func (r *Runner) start(s Spec, theirs files, tag string) (*child, error) {
	if len(r.options.Supervisor) == 0 {
		return startDirect(s, theirs, tag)
	}
	for attempt := 0; ; attempt++ {
		a, err := r.pool.take()
		if err != nil {
			return nil, err
		}
		leader, err := a.start(s, theirs)
		if err == nil {
			return r.follow(a, leader, tag), nil
		}
		if !errors.Is(err, ErrSupervisor) {
			r.pool.give(a)
			return nil, err
		}
		a.retire()
		<-a.exited
		// A supervisor that was idle may have been killed meanwhile. If this
		// one started the command before it died, the command died with it.
		if dead := sweep(-1, tag); !dead || attempt == 1 {
			return nil, err
		}
		r.log.Warn("process: a supervisor failed, starting another", "error", err)
	}
}

// start has the supervisor start the command and returns its process id.
func (a *attendant) start(s Spec, theirs files) (int, error) {
	_ = a.conn.SetDeadline(time.Now().Add(startLimit))
	if err := send(a.conn, encodeRun(s), theirs); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrSupervisor, err)
	}
	rep, err := readReport(a.conn)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrSupervisor, err)
	}
	_ = a.conn.SetDeadline(time.Time{})
	switch rep.kind {
	case reportStarted:
		return int(rep.a), nil
	case reportFailed:
		return 0, startError(s, syscall.Errno(rep.a))
	}
	return 0, fmt.Errorf("%w: unexpected report %q", ErrSupervisor, rep.kind)
}

// follow waits for the supervisor's report on a command it has started.
func (r *Runner) follow(a *attendant, leader int, tag string) *child {
	// Once the report is there the supervisor may be another run's, and an
	// order that comes too late must not reach that.
	var mu sync.Mutex
	over := false
	tell := func(o order) {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		a.order(o)
		if o == orderKill {
			// One that was stopped or hangs gets no second chance: the read
			// below fails at this time.
			_ = a.conn.SetReadDeadline(time.Now().Add(killLimit))
		}
	}
	c := &child{
		confinement: a.confinement,
		ended:       make(chan struct{}),
		terminate:   func() { tell(orderTerminate) },
		kill:        func() { tell(orderKill) },
	}
	go func() { // ends with the supervisor's report; Run waits for it
		defer close(c.ended)
		rep, err := readReport(a.conn)
		mu.Lock()
		over = true
		mu.Unlock()
		if err == nil && rep.kind != reportEnded {
			err = fmt.Errorf("unexpected report %q", rep.kind)
		}
		switch {
		case err != nil:
			c.end = end{code: -1, err: err}
			a.retire()
			<-a.exited // nothing more is started by it
			if a.confinement == Supervised { // a namespace dies with its first process
				_ = unix.Kill(-leader, unix.SIGKILL)
				c.end.survivors = !sweep(leader, tag)
			}
		case rep.survivors:
			c.end = end{code: int(rep.a), signal: int(rep.b), leftover: int(rep.c), survivors: true}
			a.retire()
		default:
			c.end = end{code: int(rep.a), signal: int(rep.b), leftover: int(rep.c)}
			_ = a.conn.SetReadDeadline(time.Time{})
			r.pool.give(a)
		}
	}()
	return c
}

// order sends an order that has no body. A supervisor that cannot take it is
// dead, which its reader notices.
func (a *attendant) order(o order) {
	_, _ = a.conn.Write([]byte{byte(o), 0, 0, 0, 0})
}
