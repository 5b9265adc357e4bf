package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// leader is a command that was started, or was not.
type leader struct {
	pid      int
	status   *unix.WaitStatus // of one that has ended already
	enforced Enforced
	refused  bool  // its sandbox is required and cannot be had
	err      error // of the start
	release  func()
}

// forkExec starts a program in a session of its own, as a child that dies with
// this thread.
func forkExec(f frame, fds []uintptr, trace bool) (pid int, err error) {
	return syscall.ForkExec(f.program, f.argv, &syscall.ProcAttr{
		Dir: f.dir, Env: f.env, Files: fds,
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Ptrace: trace},
	})
}

// launch starts a command. release is called when it has ended.
func launch(f frame, fds []uintptr) *leader {
	if !f.sandbox.on() {
		pid, err := forkExec(f, fds, false)
		return &leader{pid: pid, err: err, release: func() {}}
	}
	started, ended := make(chan *leader), make(chan struct{})
	onThread(func() {
		started <- confine(f, fds)
		<-ended // the command dies with this thread
	})
	l := <-started
	l.release = func() { close(ended) }
	return l
}

// onThread calls f on a thread that ends with it, so that what f does to its
// thread is nobody else's. (Go starts no thread from one that is locked: new
// ones come from a thread that is kept as it was.)
func onThread(f func()) {
	go func() { // ends when f does
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			f()
			return // without unlocking, which ends the thread
		}
		// The process's first thread cannot end. While it is held here, another
		// must be taken.
		taken := make(chan struct{})
		onThread(func() {
			close(taken)
			f()
		})
		<-taken
		runtime.UnlockOSThread()
	}()
}

// confine puts this thread into the command's sandbox for good and starts the
// command from it, which inherits the sandbox.
func confine(f frame, fds []uintptr) *leader {
	l := &leader{enforced: Enforced{Mode: f.sandbox.Mode}}
	e := &l.enforced
	lack := func(what string, err error) { e.Missing = append(e.Missing, fmt.Sprintf("%s: %v", what, err)) }
	refuse := func() bool {
		l.refused = f.sandbox.Mode == SandboxRequired && len(e.Missing) > 0
		return l.refused
	}

	if e.PIDNamespace = os.Getpid() == 1; !e.PIDNamespace {
		lack("pid_namespace", errors.New("this system permits none"))
	}
	r := rule(f.sandbox, landlockVersion())
	e.Missing = append(e.Missing, r.missing...)
	limits, missing := f.sandbox.Limits.list(os.Geteuid())
	e.Missing = append(e.Missing, missing...)
	if refuse() {
		return l
	}

	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		lack("no_new_privileges", err)
	} else if err := dropCapabilities(); err != nil {
		lack("no_new_privileges, root's powers", err)
	} else {
		e.NoNewPrivileges = true
	}
	if r.abi > 0 {
		if missing, err := r.restrict(f); err != nil {
			lack("landlock", err)
		} else {
			e.Missing = append(e.Missing, missing...)
			e.Landlock, e.Files, e.Network, e.Signals = r.abi, r.closesFiles, r.noTCP, r.confinesSignals
		}
	}
	if refuse() {
		return l
	}

	if len(limits) > 0 {
		if l.startLimited(f, fds, limits); l.err != syscall.EPERM || traceable() {
			return l
		}
		lack("limits", errors.New("this system does not permit to trace a command, which sets them before it runs"))
		if refuse() {
			return l
		}
	}
	l.pid, l.err = forkExec(f, fds, false)
	return l
}

// startLimited starts the command and sets its limits before it does anything.
func (l *leader) startLimited(f frame, fds []uintptr, limits []limit) {
	if l.pid, l.err = forkExec(f, fds, true); l.err != nil {
		return
	}
	abandon := func() {
		_ = unix.Kill(l.pid, unix.SIGKILL)
		_, _ = unix.Wait4(l.pid, nil, 0, nil)
		l.pid = 0
	}
	if l.status, l.err = hold(l.pid); l.err != nil {
		abandon()
		return
	}
	if l.status != nil {
		return
	}
	var missing []string
	l.enforced.Limits, missing = impose(l.pid, limits)
	l.enforced.Missing = append(l.enforced.Missing, missing...)
	if l.refused = l.enforced.Mode == SandboxRequired && len(missing) > 0; l.refused {
		abandon()
		return
	}
	// One that was killed meanwhile is not there to be let go.
	if err := unix.PtraceDetach(l.pid); err != nil && err != unix.ESRCH {
		l.err = err
		abandon()
	}
}

// restrict puts this thread under the rules.
func (r ruling) restrict(f frame) (missing []string, err error) {
	fd, missing, err := r.ruleset(f)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return missing, landlock.LandlockRestrictSelf(fd, 0)
}

// dropCapabilities leaves this thread root's power over files at most. With
// no_new_privs a program gets no more than that back.
func dropCapabilities() error {
	const keep = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	kept := data[0].Permitted & keep
	data = [2]unix.CapUserData{{Permitted: kept, Effective: kept}}
	return unix.Capset(&header, &data[0])
}
