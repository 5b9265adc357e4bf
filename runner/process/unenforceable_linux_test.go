package process_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// elsewhere is a program that runs one command as if it were on another
// system, for tests of what this one has.
type elsewhere struct {
	Without string // a part of the kernel that it must do without
	Nobody  bool   // run as a user who is not root
	Spec    process.Spec
}

type outcome struct {
	Result  process.Result
	Error   string
	Refused bool
}

// run starts the test binary as that program.
func (e elsewhere) run(t *testing.T) outcome {
	t.Helper()
	order, err := json.Marshal(e)
	require.NoError(t, err)
	cmd := exec.Command("/proc/self/exe", "elsewhere")
	cmd.Dir, cmd.Stdin = "/", bytes.NewReader(order)
	if e.Nobody && os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", stderr.Bytes())
	var o outcome
	require.NoError(t, json.Unmarshal(out, &o), "%s", out)
	return o
}

func runElsewhere() error {
	var e elsewhere
	if err := json.NewDecoder(os.Stdin).Decode(&e); err != nil {
		return err
	}
	if err := forbid(e.Without); err != nil {
		return err
	}
	r := process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}})
	defer r.Close()
	var o outcome
	var err error
	if o.Result, err = r.Run(context.Background(), e.Spec); err != nil {
		o.Error, o.Refused = err.Error(), errors.Is(err, process.ErrSandbox)
	}
	return json.NewEncoder(os.Stdout).Encode(o)
}

// forbid has the kernel refuse a system call to this process and all below it.
func forbid(what string) error {
	stmt := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	jump := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	const (
		load     = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		ret      = unix.BPF_RET | unix.BPF_K
		allow    = 0x7fff0000
		refuse   = 0x00050000 // with an error number
		number   = 0
		argument = 16 // the first one's low half
	)
	var filter []unix.SockFilter
	switch what {
	case "":
		return nil
	case "ptrace":
		filter = []unix.SockFilter{stmt(load, number), jump(unix.SYS_PTRACE, 0, 1), stmt(ret, refuse|uint32(unix.EPERM)), stmt(ret, allow)}
	case "landlock":
		filter = []unix.SockFilter{stmt(load, number), jump(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 1), stmt(ret, refuse|uint32(unix.ENOSYS)), stmt(ret, allow)}
	case "openat2":
		filter = []unix.SockFilter{stmt(load, number), jump(unix.SYS_OPENAT2, 0, 1), stmt(ret, refuse|uint32(unix.ENOSYS)), stmt(ret, allow)}
	case "namespaces":
		filter = []unix.SockFilter{
			stmt(load, number), jump(unix.SYS_CLONE, 0, 3), stmt(load, argument),
			{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.CLONE_NEWPID, Jt: 0, Jf: 1},
			stmt(ret, refuse|uint32(unix.EPERM)), stmt(ret, allow),
		}
	default:
		return fmt.Errorf("cannot do without %q", what)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); err != 0 {
		return err
	}
	return nil
}

// TestUnenforceable takes parts of the kernel away.
func TestUnenforceable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		without string
		box     process.Sandbox
		says    string
		on      func(process.Enforced) bool
	}{
		{"namespaces", process.Sandbox{}, "pid_namespace: ", func(e process.Enforced) bool { return e.NoNewPrivileges && !e.PIDNamespace }},
		{"landlock", process.Sandbox{NoNetwork: true}, "network: this kernel has no Landlock", func(e process.Enforced) bool { return e.PIDNamespace && e.Landlock == 0 && !e.Network }},
		{"landlock", process.Sandbox{ReadWrite: []string{"/tmp"}}, "files: this kernel has no Landlock", func(e process.Enforced) bool { return e.PIDNamespace && !e.Files }},
		{"ptrace", process.Sandbox{Limits: process.Limits{OpenFiles: 20}}, "limits: this system does not permit to trace", func(e process.Enforced) bool { return e.NoNewPrivileges && len(e.Limits) == 0 }},
		{"openat2", process.Sandbox{ReadOnly: []string{"/usr"}}, `read_only, "/usr"`, func(e process.Enforced) bool { return e.Files }},
	} {
		t.Run(c.says, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := process.Spec{Shell: "echo ran; echo ran >" + dir + "/ran", Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Timeout: 30 * time.Second, Sandbox: c.box}
			s.Sandbox.Mode = process.SandboxRequired
			got := elsewhere{Without: c.without, Spec: s}.run(t)
			assert.True(t, got.Refused, "%+v", got)
			assert.Contains(t, got.Error, c.says)
			assert.NoFileExists(t, dir+"/ran", "nothing is run")
			assert.Contains(t, got.Result.Sandbox.String(), c.says)

			s.Sandbox.Mode = process.SandboxBestEffort
			got = elsewhere{Without: c.without, Spec: s}.run(t)
			assert.Contains(t, got.Result.Sandbox.String(), c.says)
			assert.True(t, c.on(got.Result.Sandbox), "%+v", got.Result.Sandbox)
			assert.Empty(t, got.Error)
			assert.Contains(t, string(got.Result.Stdout.Bytes), "ran\n", "stderr %s", got.Result.Stderr.Bytes)
		})
	}
}

// TestProcessesLimit is about a user who is not root, whom the kernel counts.
func TestProcessesLimit(t *testing.T) {
	t.Parallel()
	s := process.Spec{
		Shell: "i=0; while [ $i -lt 60 ]; do sleep 100 & i=$((i+1)); done; echo all", Dir: "/",
		Env: []string{"PATH=/usr/bin:/bin"}, Timeout: 30 * time.Second,
		Sandbox: process.Sandbox{Mode: process.SandboxRequired},
	}
	got := elsewhere{Nobody: true, Spec: s}.run(t)
	require.Empty(t, got.Error, "a user who is not root has a sandbox too")
	assert.True(t, got.Result.Sandbox.PIDNamespace)
	assert.Equal(t, "all\n", string(got.Result.Stdout.Bytes))

	s.Sandbox.Limits.Processes = 40
	got = elsewhere{Nobody: true, Spec: s}.run(t)
	require.Empty(t, got.Error)
	assert.NotContains(t, string(got.Result.Stdout.Bytes), "all")
	assert.Contains(t, strings.ToLower(string(got.Result.Stderr.Bytes)), "fork")
	assert.Equal(t, []string{"processes"}, got.Result.Sandbox.Limits)

	s.Shell = "ulimit -Hu; ulimit -u 4000 || ulimit -p 4000 || echo refused"
	got = elsewhere{Nobody: true, Spec: s}.run(t)
	assert.Contains(t, string(got.Result.Stdout.Bytes), "refused")

	if os.Geteuid() == 0 {
		got = elsewhere{Spec: s}.run(t)
		assert.True(t, got.Refused, "root is not counted, and that is said")
		assert.Contains(t, got.Error, "processes: the kernel does not count root's")
	}
}
