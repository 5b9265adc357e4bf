package process

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// sweepPasses is how often the process table is looked through for processes
// that are not found: what forks and ends while it is being read leaves a child
// that one pass has not seen.
const sweepPasses = 8

// sweep kills every process that is in the leader's session or carries the tag
// in its environment, until there is none or time is up. It reports whether
// there is none.
func sweep(leader int, tag string) bool {
	deadline := time.Now().Add(killLimit)
	known := make(map[int]bool)
	for clean, round := 0, 0; clean < sweepPasses; round++ {
		found, settled := sweepOnce(leader, []byte(tag), known)
		switch {
		case !found && settled:
			return true
		case !found:
			clean++
			continue
		case round >= killRounds && time.Now().After(deadline):
			return false
		}
		clean = 0
		time.Sleep(time.Millisecond) // the killed ones need a moment to go
	}
	return true
}

// sweepOnce reports whether it found a living process, and whether nothing
// ended or was replaced meanwhile, which might have left a child unseen. known
// remembers whom an earlier pass saw dead or without an environment.
func sweepOnce(leader int, tag []byte, known map[int]bool) (found, settled bool) {
	settled = true
	self := os.Getpid()
	for _, pid := range pids() {
		if pid == self || pid == 1 {
			continue
		}
		// A pidfd first, so that what is looked at is what is killed.
		fd, err := unix.PidfdOpen(pid, 0)
		st, ok := readStat("/proc/" + strconv.Itoa(pid))
		m := unmarked
		if ok && !st.dead && !st.kernel && st.session != leader {
			m = markOf(pid, tag)
		}
		switch {
		case !ok:
			settled = false
		case st.kernel:
		case st.dead || m == blank:
			settled = settled && known[pid]
			known[pid] = true
		case st.session == leader || m == marked:
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
	return found, settled
}

// killBelow kills the descendants of a process that is a subreaper, again and
// again until none is left or time is up.
func killBelow(root int) {
	deadline := time.Now().Add(killLimit)
	for time.Now().Before(deadline) {
		parents := make(map[int]int)
		for _, pid := range pids() {
			if st, ok := readStat("/proc/" + strconv.Itoa(pid)); ok {
				parents[pid] = st.parent
				if st.dead {
					parents[pid] = -st.parent // passed through, not killed
				}
			}
		}
		found := false
		for pid := range parents {
			if parents[pid] > 0 && pid != root && isBelow(pid, root, parents) {
				found = true
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
		if !found {
			return
		}
		time.Sleep(time.Millisecond) // the killed ones need a moment to go
	}
}

func isBelow(pid, root int, parents map[int]int) bool {
	for range len(parents) { // ids that were reused meanwhile may form a ring
		parent := parents[pid]
		if parent < 0 {
			parent = -parent
		}
		if parent == root {
			return true
		}
		if parent <= 1 {
			return false
		}
		pid = parent
	}
	return false
}

type mark int

const (
	unmarked mark = iota
	marked
	blank // no environment: none was given, or the process is just being replaced
)

// markOf looks for the tag in the process's environment.
func markOf(pid int, tag []byte) mark {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return unmarked // somebody else's
	}
	if len(environ) == 0 {
		return blank
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.Equal(entry, tag) {
			return marked
		}
	}
	return unmarked
}

// kernelThread is PF_KTHREAD in the flags of a process.
const kernelThread = 0x00200000

type stat struct {
	dead, kernel    bool
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
	if len(fields) < 7 {
		return stat{}, false
	}
	var st stat
	st.dead = fields[0][0] == 'Z' || fields[0][0] == 'X'
	st.parent, _ = strconv.Atoi(string(fields[1]))
	st.session, _ = strconv.Atoi(string(fields[3]))
	flags, _ := strconv.ParseUint(string(fields[6]), 10, 64)
	st.kernel = flags&kernelThread != 0
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
