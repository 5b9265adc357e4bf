//go:build unix && !linux

package process

import "golang.org/x/sys/unix"

// sweep has nothing to look through here: processes that left the group are
// out of reach.
func sweep(int, string) bool { return true }

// awaitExit returns when the process has ended, and leaves it to be waited for.
// Where the system cannot say so it returns at once, and the wait comes first.
func awaitExit(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	var want unix.Kevent_t
	unix.SetKevent(&want, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	want.Fflags = unix.NOTE_EXIT
	got := make([]unix.Kevent_t, 1)
	for {
		// An error other than an interruption means that it has ended already.
		if _, err := unix.Kevent(queue, []unix.Kevent_t{want}, got, nil); err != unix.EINTR {
			return
		}
	}
}
