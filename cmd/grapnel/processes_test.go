//go:build unix

package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// survivor is a process that should be gone.
type survivor struct {
	pid     int
	command string
}

func (s survivor) String() string { return fmt.Sprintf("%d %q", s.pid, s.command) }

func (s survivor) kill() { _ = syscall.Kill(s.pid, syscall.SIGKILL) }

// running lists the processes that have place, which is a test's own directory,
// in their environment, command line or executable. They get a moment to end.
// Only Linux shows other processes in files; elsewhere the list is empty.
func running(place string) []survivor {
	limit := time.After(3 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		left := processes(place)
		if len(left) == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-limit:
			return left
		}
	}
}

func processes(place string) []survivor {
	var left []survivor
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if dead(pid) {
			continue
		}
		environment, _ := os.ReadFile(dir + "/environ")
		command, _ := os.ReadFile(dir + "/cmdline")
		executable, _ := os.Readlink(dir + "/exe")
		if bytes.Contains(environment, []byte(place+"/")) || bytes.Contains(command, []byte(place+"/")) || strings.HasPrefix(executable, place+"/") {
			left = append(left, survivor{pid, strings.ReplaceAll(string(command), "\x00", " ")})
		}
	}
	return left
}

// listening lists the TCP and UDP sockets on which a process takes what comes.
func listening(t testing.TB, pid int) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil
	}
	own := make(map[string]bool) // inodes of its sockets
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if target, err := os.Readlink(file); err == nil && strings.HasPrefix(target, "socket:[") {
			own[strings.Trim(target, "socket:[]")] = true
		}
	}
	require.NotEmpty(t, own, "the process has sockets")
	var found []string
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue // no IPv6
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			const state, inode, listen = 3, 9, "0A"
			if len(fields) > inode && own[fields[inode]] && (fields[state] == listen || strings.HasPrefix(table, "udp")) {
				found = append(found, table+" "+fields[1])
			}
		}
	}
	return found
}

// dead says that a process is gone, or has not been waited for yet.
func dead(pid int) bool {
	if runtime.GOOS != "linux" {
		return syscall.Kill(pid, 0) != nil
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}
