package process

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

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
		a.expiry.Stop()
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
		a.expiry.Stop()
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
		a.expiry = time.AfterFunc(p.options.IdleTime, func() { p.expire(a) })
	}
	p.mu.Unlock()
	if !keep {
		a.retire()
	}
}

// expire retires a supervisor that was not used for long, unless it is the
// last one.
func (p *pool) expire(a *attendant) {
	p.mu.Lock()
	i := slices.Index(p.idle, a)
	if i < 0 || len(p.idle) == 1 {
		p.mu.Unlock()
		return
	}
	p.idle = slices.Delete(p.idle, i, i+1)
	p.mu.Unlock()
	a.retire()
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
