package process

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// limit is one of a command's limits as the kernel takes it.
type limit struct {
	name       string
	resource   int
	soft, hard uint64
}

// list returns the limits that are set, and what is missing of them for this
// user.
func (l Limits) list(uid int) (list []limit, missing []string) {
	add := func(name string, resource int, value int64) {
		if value > 0 {
			list = append(list, limit{name, resource, uint64(value), uint64(value)})
		}
	}
	if l.CPU > 0 {
		seconds := (uint64(l.CPU) + uint64(time.Second) - 1) / uint64(time.Second)
		list = append(list, limit{"cpu", unix.RLIMIT_CPU, seconds, seconds + 1})
	}
	add("memory", unix.RLIMIT_AS, l.Memory)
	add("file_size", unix.RLIMIT_FSIZE, l.FileSize)
	add("open_files", unix.RLIMIT_NOFILE, int64(l.OpenFiles))
	if l.Processes > 0 && uid == 0 {
		missing = append(missing, "processes: the kernel does not count root's; run grapnel as another user")
	} else {
		add("processes", unix.RLIMIT_NPROC, int64(l.Processes))
	}
	return list, missing
}

// impose sets the limits of another process; what it has is never raised.
func impose(pid int, list []limit) (names, missing []string) {
	for _, l := range list {
		var old unix.Rlimit
		err := unix.Prlimit(pid, l.resource, nil, &old)
		if err == nil {
			err = unix.Prlimit(pid, l.resource, &unix.Rlimit{Cur: min(l.soft, old.Max), Max: min(l.hard, old.Max)}, nil)
		}
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s: %v", l.name, err))
			continue
		}
		names = append(names, l.name)
	}
	return names, missing
}

// hold waits until a process that was started with Ptrace has got its program
// and has not run any of it. It returns the status of one that has ended
// instead. Only the thread that started the process can hold it.
func hold(pid int) (ended *unix.WaitStatus, err error) {
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(pid, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		case ws.Exited() || ws.Signaled():
			return &ws, nil
		case ws.StopSignal() == unix.SIGTRAP:
			return nil, nil
		default: // somebody's signal came first
			if err := unix.PtraceCont(pid, int(ws.StopSignal())); err != nil && err != unix.ESRCH {
				return nil, err
			}
		}
	}
}

// traceable tells whether this thread may trace what it starts, after a start
// with tracing was not permitted.
func traceable() bool {
	_, err := forkExec(frame{dir: "/", program: "/proc/self/absent", argv: []string{"absent"}}, nil, true)
	return errors.Is(err, os.ErrNotExist)
}
