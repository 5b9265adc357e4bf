package process

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startLimit is how long a supervisor may take to report that a command was
// started. It is long: the machine may be busy with other commands.
const startLimit = 15 * time.Second

// reportGrace is how long that report is still waited for when the run is
// cancelled.
const reportGrace = 300 * time.Millisecond

// attendant is the runner's side of a supervisor.
type attendant struct {
	process     *exec.Cmd
	conn        *net.UnixConn
	confinement Confinement
	exited      chan struct{}
	expiry      *time.Timer // runs while it is idle
}

// start has the supervisor start the command and returns its report of that,
// which holds its process id. taken says that the command may have been
// started, whatever the error. An error that wraps ErrSupervisor means that
// this supervisor is of no more use.
func (a *attendant) start(ctx context.Context, s Spec, theirs files) (rep report, taken bool, err error) {
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		// The report may be on its way: with it the command is ended in order,
		// and what it wrote is kept.
		_ = a.conn.SetDeadline(time.Now().Add(reportGrace))
	})
	rep, taken, err = a.ask(s, theirs)
	if !stop() {
		<-interrupted
		if err != nil {
			err = context.Cause(ctx)
		}
	}
	_ = a.conn.SetDeadline(time.Time{})
	switch {
	case err != nil:
		return rep, taken, fmt.Errorf("%w: %w", ErrSupervisor, err)
	case rep.kind == reportRefused:
		return rep, taken, rep.sandbox.refusal(s.Command[0])
	case rep.kind == reportFailed:
		return rep, taken, startError(s, syscall.Errno(rep.a))
	}
	return rep, taken, nil
}

// ask sends the order to run a command and returns the report on its start.
func (a *attendant) ask(s Spec, theirs files) (rep report, taken bool, err error) {
	limit := time.AfterFunc(startLimit, func() { a.conn.Close() })
	defer limit.Stop()
	order, err := encodeRun(s)
	if err != nil {
		return rep, false, err
	}
	if err := send(a.conn, order, append(theirs[:], s.Files...)); err != nil {
		return rep, false, err
	}
	if rep, err = readReport(a.conn); err != nil {
		return rep, false, err
	}
	if rep.kind != reportTaken {
		return rep, true, fmt.Errorf("unexpected report %q", rep.kind)
	}
	// The report of the start follows at once, unless the command has stopped
	// its supervisor already.
	if s.Timeout > 0 {
		limit.Reset(min(startLimit, s.Timeout+killLimit))
	}
	if rep, err = readReport(a.conn); err != nil {
		return rep, true, err
	}
	if rep.kind != reportStarted && rep.kind != reportFailed && rep.kind != reportRefused {
		err = fmt.Errorf("unexpected report %q", rep.kind)
	}
	return rep, true, err
}

// destroy ends a supervisor that failed, with everything its command started,
// and reports whether all of it is dead.
func (a *attendant) destroy(leader int, tag string) bool {
	if a.confinement == Supervised {
		// It may hang, or have been stopped; what is below it is still there
		// to be found, and comes to it when orphaned.
		killBelow(a.process.Process.Pid)
	}
	a.retire()
	<-a.exited
	if a.confinement == Namespace {
		return true // all of it dies with its first process
	}
	if leader > 0 {
		_ = unix.Kill(-leader, unix.SIGKILL)
	}
	return sweep(leader, tag)
}

// retire ends a supervisor, with the command that it may still have.
func (a *attendant) retire() {
	a.conn.Close()
	_ = a.process.Process.Kill()
}

// order sends an order that has no body. A supervisor that cannot take it is
// dead, which its reader notices.
func (a *attendant) order(o order) {
	_, _ = a.conn.Write([]byte{byte(o), 0, 0, 0, 0})
}
