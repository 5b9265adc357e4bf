//go:build unix

package process

import (
	"os"
	"sync"
	"syscall"
)

func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// tree is a command's process group, which is also its session.
type tree struct {
	confinement Confinement
	process     *os.Process
	tag         string

	mu   sync.Mutex
	gone bool // the leader's id may belong to somebody else now
}

func newTree(p *os.Process, tag string) *tree {
	return &tree{confinement: Group, process: p, tag: tag}
}

func (t *tree) terminate() { t.signal(syscall.SIGTERM) }
func (t *tree) kill()      { t.signal(syscall.SIGKILL) }

func (t *tree) signal(s syscall.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.gone {
		_ = syscall.Kill(-t.process.Pid, s)
	}
}

// wait waits for the command's end and kills what is left of its tree. It
// reports whether all of it is dead.
func (t *tree) wait() (state *os.ProcessState, dead bool, err error) {
	awaitExit(t.process.Pid)
	// While the leader is a zombie, its id is nobody else's.
	t.mu.Lock()
	t.gone = true
	_ = syscall.Kill(-t.process.Pid, syscall.SIGKILL)
	t.mu.Unlock()
	dead = sweep(t.process.Pid, t.tag)
	state, err = t.process.Wait()
	return state, dead, err
}

func stopSignal(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return int(ws.Signal())
	}
	return 0
}
