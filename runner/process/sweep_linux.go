package process

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// sweep kills every process that is in the leader's session or carries the tag
// in its environment, until there is none or time is up. It reports whether
// there is none.
func sweep(leader int, tag string) bool {
	deadline := time.Now().Add(killLimit)
	for {
		if !sweepOnce(leader, []byte(tag)) {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(2 * time.Millisecond) // the killed ones need a moment to go
	}
}

// sweepOnce reports whether it found a living process.
func sweepOnce(leader int, tag []byte) bool {
	found := false
	self := os.Getpid()
	for _, pid := range pids() {
		if pid == self || pid == 1 {
			continue
		}
		// A pidfd first, so that what is looked at is what is killed.
		fd, err := unix.PidfdOpen(pid, 0)
		if err == unix.ESRCH {
			continue
		}
		if belongs(pid, leader, tag) {
			found = true
			if err == nil {
				_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			} else { // a kernel without pidfds
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
		if err == nil {
			_ = unix.Close(fd)
		}
	}
	return found
}

func belongs(pid, leader int, tag []byte) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	st, ok := readStat(dir)
	if !ok || st.dead {
		return false
	}
	if st.session == leader {
		return true
	}
	environ, err := os.ReadFile(dir + "/environ")
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(entry, tag) {
			return true
		}
	}
	return false
}

type stat struct {
	dead            bool
	parent, session int
}

// readStat reads the stat file of a process or thread.
func readStat(dir string) (stat, bool) {
	b, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The second field is the command's name in parentheses and may hold
	// anything, so count from its end.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 4 {
		return stat{}, false
	}
	var st stat
	st.dead = fields[0][0] == 'Z' || fields[0][0] == 'X'
	st.parent, _ = strconv.Atoi(string(fields[1]))
	st.session, _ = strconv.Atoi(string(fields[3]))
	return st, true
}

func pids() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	list := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// awaitExit returns when the process has ended, and leaves it to be waited for.
func awaitExit(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}
