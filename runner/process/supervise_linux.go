package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// controlFD is where a supervisor finds its socket.
const controlFD = 3

// Supervise is the whole life of a supervisor: a process that runs one command
// at a time for the [Runner] that started it, as the subreaper of everything
// the command starts, and kills all that is left when the command ends. It
// returns when the runner is gone, with everything dead. A program that is
// named in [Options.Supervisor] calls it first thing, and exits when it
// returns.
func Supervise() error {
	// Commands are told to die with the thread that started them.
	runtime.LockOSThread()
	conn, err := unixConn(controlFD)
	if err != nil {
		return fmt.Errorf("supervise is started by grapnel itself, not by people: %w", err)
	}
	defer conn.Close()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a subreaper: %w", err)
	}
	// No process of the same user may look into this one.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process to others: %w", err)
	}
	unix.Umask(0o077)

	s := &supervisor{
		conn:     conn,
		init:     os.Getpid() == 1,
		group:    unix.Getpgrp(),
		orders:   make(chan received),
		children: make(chan os.Signal, 1),
	}
	signal.Notify(s.children, unix.SIGCHLD)
	// Signals to everything in a service's control group end the runner, which
	// then ends us; taking them (not ignoring: that would be inherited) keeps
	// commands supervised until then.
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	go s.receive() // ends with the process
	return s.serve()
}

type supervisor struct {
	conn     *net.UnixConn
	init     bool // process 1 of a PID namespace
	group    int
	orders   chan received
	children chan os.Signal
}

type received struct {
	order order
	body  []byte
	open  []int // files that came with it
	err   error
}

func (s *supervisor) receive() {
	for {
		var r received
		r.order, r.body, r.open, r.err = receive(s.conn)
		s.orders <- r
		if r.err != nil {
			return
		}
	}
}

func (s *supervisor) serve() error {
	for r := range s.orders {
		if r.err != nil {
			return nil // the runner is gone
		}
		if r.order != orderRun {
			continue // meant for a command that has ended since
		}
		leader, err := s.start(r)
		if err != nil {
			return err
		}
		if leader == nil {
			continue
		}
		err = s.watch(leader)
		leader.release()
		if err != nil {
			return err
		}
	}
	return nil
}

// start starts a command and reports it; the leader is nil when it could not
// be.
func (s *supervisor) start(r received) (*leader, error) {
	f, err := decodeRun(r.body)
	if err == nil && len(r.open) < firstFile {
		err = errFrame
	}
	if err != nil {
		return nil, err
	}
	if _, err := s.conn.Write(report{kind: reportTaken}.encode()); err != nil {
		return nil, err
	}
	fds := make([]uintptr, len(r.open))
	for i, fd := range r.open {
		fds[i] = uintptr(fd)
	}
	l := launch(f, fds)
	closeAll(r.open)
	rep := report{kind: reportStarted, a: int32(l.pid), sandbox: l.enforced}
	switch {
	case l.refused:
		rep.kind = reportRefused
	case l.err != nil:
		number := unix.EIO
		errors.As(l.err, &number)
		rep.kind, rep.a = reportFailed, int32(number)
	}
	_, err = s.conn.Write(rep.encode())
	if rep.kind != reportStarted {
		l.release()
		return nil, err
	}
	if err != nil {
		_ = unix.Kill(l.pid, unix.SIGKILL)
		s.bury()
		l.release()
		return nil, err
	}
	return l, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// watch waits for the leader's end, obeys orders meanwhile, and kills the rest
// of the tree. Killing and reaping happen in this one goroutine, so that no
// signal can go to an id that belongs to somebody else by now.
func (s *supervisor) watch(l *leader) error {
	leader := l.pid
	var gone error // why the runner is
	for {
		status, ended := s.reap(leader)
		if l.status != nil {
			status, ended = *l.status, true
		}
		if ended {
			leftover, dead := s.bury()
			r := report{kind: reportEnded, survivors: !dead, a: int32(status.ExitStatus()), c: int32(leftover)}
			if status.Signaled() {
				r.a, r.b = -1, int32(status.Signal())
			}
			_, err := s.conn.Write(r.encode())
			return errors.Join(gone, err)
		}
		select {
		case <-s.children:
		case r := <-s.orders:
			switch {
			case r.err != nil:
				gone, s.orders = r.err, nil
				_ = unix.Kill(-leader, unix.SIGKILL)
			case r.order == orderTerminate:
				_ = unix.Kill(-leader, unix.SIGTERM)
			case r.order == orderKill:
				_ = unix.Kill(-leader, unix.SIGKILL)
			}
		}
	}
}

// reap waits for all children that are dead, and says whether the leader was
// among them.
func (s *supervisor) reap(leader int) (status unix.WaitStatus, ended bool) {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return status, ended
		}
		if pid == leader {
			status, ended = ws, true
		}
	}
}

// bury kills until there is no child left. Orphans become our children, so
// that killing children again and again ends with the whole tree dead, however
// deep it was. It returns how many there were, and false when some would not
// die in time.
func (s *supervisor) bury() (count int, dead bool) {
	deadline := time.Now().Add(killLimit - 200*time.Millisecond)
	for round := 0; ; round++ {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
		switch {
		case err == unix.ECHILD:
			return count, true
		case err == unix.EINTR:
			continue
		case pid > 0:
			count++
			continue
		}
		s.slay()
		if round >= killRounds && time.Now().After(deadline) {
			return count, false
		}
		t := time.NewTimer(time.Millisecond)
		select {
		case <-s.children:
		case <-t.C:
		}
		t.Stop()
	}
}

// slay kills all children that there are now, with their groups: a child that
// forks and ends all the time is gone when its signal comes, but its group is
// not.
func (s *supervisor) slay() {
	if s.init {
		_ = unix.Kill(-1, unix.SIGKILL)
		return
	}
	for _, pid := range ownChildren() {
		if group, err := unix.Getpgid(pid); err == nil && group > 1 && group != s.group {
			_ = unix.Kill(-group, unix.SIGKILL)
		}
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// ownChildren lists this process's children.
func ownChildren() []int {
	var list []int
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	listed := true
	for _, task := range tasks {
		b, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err != nil {
			listed = false // a kernel without these files, or a thread that ended
			break
		}
		for field := range strings.FieldsSeq(string(b)) {
			if pid, err := strconv.Atoi(field); err == nil {
				list = append(list, pid)
			}
		}
	}
	if listed {
		return list
	}
	self := os.Getpid()
	list = list[:0]
	for _, pid := range pids() {
		if st, ok := readStat("/proc/" + strconv.Itoa(pid)); ok && st.parent == self {
			list = append(list, pid)
		}
	}
	return list
}
