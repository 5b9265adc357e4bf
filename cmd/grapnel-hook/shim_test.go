//go:build unix

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode/claudecodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

// TestMain lets this binary be a daemon that can be stopped with a signal.
func TestMain(m *testing.M) {
	if path := os.Getenv("SHIM_TEST_DAEMON"); path != "" {
		listener, err := net.Listen("unix", path)
		if err != nil || os.Chmod(path, 0o600) != nil {
			os.Exit(1)
		}
		fmt.Println("ready")
		held := make(map[net.Conn]bool) // all stay open until this process is ended
		for {
			conn, err := listener.Accept()
			if err != nil {
				os.Exit(len(held))
			}
			held[conn] = true
		}
	}
	dir, err := os.MkdirTemp("", "grapnel-hook")
	if err != nil {
		panic(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "grapnel-hook"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	os.Setenv("SHIM_TEST_BINARY", filepath.Join(dir, "grapnel-hook"))
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

const payload = `{"session_id":"s","hook_event_name":"%s","cwd":"/tmp","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}` + "\n"

// shim is one run of the built program.
type shim struct {
	t     testing.TB
	path  string // of the socket
	dir   string
	event string
	args  []string
	stdin []byte
	env   []string
	self  string
}

// newShim is a shim whose socket, of which there is none yet, is in a
// directory of its own.
func newShim(t testing.TB, event string) *shim {
	t.Helper()
	root, err := os.MkdirTemp("", "gr")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(root) })
	dir := filepath.Join(root, "run")
	require.NoError(t, os.Mkdir(dir, 0o700))
	return &shim{
		t: t, dir: dir, path: filepath.Join(dir, "hook.sock"), event: event, stdin: fmt.Appendf(nil, payload, event),
		self: os.Getenv("SHIM_TEST_BINARY"), args: []string{"--within", "400", "claude-code", event},
	}
}

func (s *shim) command() *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, s.self, s.args...)
	cmd.Dir = s.dir
	cmd.Env = append([]string{"GRAPNEL_SOCKET=" + s.path, "PATH=/usr/bin:/bin", "CLAUDE_CODE_MESSAGING_TOKEN=secret"}, s.env...)
	cmd.Stdin = bytes.NewReader(s.stdin)
	return cmd
}

// run starts the shim and returns its answer and how long it took.
func (s *shim) run() (hookwire.Response, time.Duration) {
	s.t.Helper()
	return finish(s.t, s.command())
}

func finish(t testing.TB, cmd *exec.Cmd) (hookwire.Response, time.Duration) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return hookwire.Response{Exit: cmd.ProcessState.ExitCode(), Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}, took
}

// listen answers each connection with answer, until the test ends.
func (s *shim) listen(answer func(net.Conn)) {
	listener, err := net.Listen("unix", s.path)
	require.NoError(s.t, err)
	require.NoError(s.t, os.Chmod(s.path, 0o600))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			answer(conn)
			conn.Close()
		}
	}()
	s.t.Cleanup(func() { listener.Close(); <-done })
}

// take reads the request; bad ones fail the test.
func take(t testing.TB, conn net.Conn) hookwire.Request {
	q, err := hookwire.ReadRequest(conn)
	assert.NoError(t, err)
	return q
}

func give(conn net.Conn, r hookwire.Response) {
	frame, err := hookwire.AppendResponse(nil, r)
	if err != nil {
		panic(err)
	}
	conn.Write(frame)
}

func client(event string, r hookwire.Response) protocoltest.Outcome {
	return claudecodetest.Run(protocoltest.Situation{Event: event, Approved: true},
		protocoltest.Process{Stdout: string(r.Stdout), Stderr: string(r.Stderr), Exit: r.Exit})
}

// denied asserts that Claude Code does not run the tool and is told why.
func denied(t testing.TB, event string, r hookwire.Response, reason string) {
	t.Helper()
	got := client(event, r)
	assert.True(t, got.Blocked, "blocked: exit %d, stdout %q, stderr %q", r.Exit, r.Stdout, r.Stderr)
	assert.True(t, json.Valid(r.Stdout), "one JSON document: %q", r.Stdout)
	assert.Contains(t, string(r.Stderr), reason)
	assert.Contains(t, strings.Join(append(got.ToModel, got.ToUser...), " "), "grapnel")
}

// passed asserts that Claude Code goes on as if there were no hook.
func passed(t testing.TB, event string, r hookwire.Response) {
	t.Helper()
	assert.Equal(t, 0, r.Exit, event)
	assert.Equal(t, "{}\n", string(r.Stdout), event)
	got := client(event, r)
	assert.False(t, got.Blocked || got.Continued || got.SessionEnds, event)
}

// soon asserts that the answer came from the shim's own watchdog at --within
// 400, and not after the event's budget. How exact that is on a machine that
// has nothing else to do is the matter of TestStoppedDaemon.
func soon(t testing.TB, took time.Duration) {
	t.Helper()
	assert.Less(t, took, 12*time.Second)
}

func TestWholePath(t *testing.T) {
	t.Parallel()
	s := newShim(t, "PreToolUse")
	s.args = []string{"claude-code", "PreToolUse"}
	s.env = []string{"CLAUDE_PROJECT_DIR=/home/dev/shop"}
	events := make(chan hook.Event, 1)
	e := edge.New(bus(func(e hook.Event) hook.Verdict {
		events <- e
		return hook.Verdict{EventID: e.ID, Effect: hook.Deny, Reason: "grapnel says no"}
	}), nil)
	server, err := edge.Listen(s.path, e, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	r, _ := s.run()
	denied(t, "PreToolUse", r, "grapnel says no")
	event := <-events
	assert.Equal(t, strings.TrimSpace(string(s.stdin)), string(event.Data.Native.Payload))
	assert.Equal(t, "/home/dev/shop", event.Data.Workspace)
	assert.WithinDuration(t, time.Now().Add(25*time.Second), event.Deadline, 5*time.Second)
	cancel()
	require.NoError(t, <-stopped)
	e.Close()
}

type bus func(hook.Event) hook.Verdict

func (b bus) Request(_ context.Context, e hook.Event) (hook.Verdict, error) { return b(e), nil }
func (b bus) Publish(_ context.Context, e hook.Event) (hook.Receipt, error) {
	return hook.Receipt{EventID: e.ID}, nil
}

func TestRequestHoldsWhatItMay(t *testing.T) {
	t.Parallel()
	s := newShim(t, "Stop")
	s.env = []string{"CLAUDE_PROJECT_DIR=/home/dev/shop", "GRAPNEL_HOPS=2", "ANTHROPIC_API_KEY=secret"}
	got := make(chan hookwire.Request, 1)
	s.listen(func(conn net.Conn) {
		got <- take(t, conn)
		give(conn, hookwire.Response{Exit: 2, Stdout: []byte("{\"decision\":\"block\"}\n"), Stderr: []byte("more\n")})
	})
	r, _ := s.run()
	assert.Equal(t, hookwire.Response{Exit: 2, Stdout: []byte("{\"decision\":\"block\"}\n"), Stderr: []byte("more\n")}, r, "printed as it came")
	q := <-got
	assert.Equal(t, "claude-code", q.Agent)
	assert.Equal(t, "Stop", q.Event)
	assert.Equal(t, s.stdin, q.Stdin)
	assert.Equal(t, []hookwire.Var{{Name: "GRAPNEL_HOPS", Value: "2"}, {Name: "CLAUDE_PROJECT_DIR", Value: "/home/dev/shop"}}, q.Env)
	assert.NotZero(t, q.PID)
	assert.Equal(t, os.Getpid(), q.PPID)
	cwd, err := filepath.EvalSymlinks(s.dir)
	require.NoError(t, err)
	asked, err := filepath.EvalSymlinks(q.CWD)
	require.NoError(t, err)
	assert.Equal(t, cwd, asked)
}

// TestDaemonThatFails: whatever a daemon does wrong, a gate is denied and a
// stop passes, in time.
func TestDaemonThatFails(t *testing.T) {
	t.Parallel()
	huge := make([]byte, 12, 64)
	copy(huge, "grpn\x01\x02\x00\x00\x7f\xff\xff\xff")
	whole, err := hookwire.AppendResponse(nil, hookwire.Response{Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`)})
	require.NoError(t, err)
	const late = "no answer within 400ms"
	for name, c := range map[string]struct {
		answer func(t *testing.T, conn net.Conn, until <-chan struct{})
		reason string
	}{
		"silent":         {func(t *testing.T, conn net.Conn, until <-chan struct{}) { take(t, conn); <-until }, late},
		"never reads":    {func(_ *testing.T, _ net.Conn, until <-chan struct{}) { <-until }, late},
		"closes at once": {func(*testing.T, net.Conn, <-chan struct{}) {}, "grapnel status"},
		"closes after":   {func(t *testing.T, conn net.Conn, _ <-chan struct{}) { take(t, conn) }, "gave no answer"},
		"garbage": {func(t *testing.T, conn net.Conn, _ <-chan struct{}) {
			take(t, conn)
			conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n{}"))
		}, "not a frame"},
		"half a frame": {func(t *testing.T, conn net.Conn, _ <-chan struct{}) { take(t, conn); conn.Write(whole[:len(whole)-9]) }, "unexpected EOF"},
		"half, then silent": {func(t *testing.T, conn net.Conn, until <-chan struct{}) {
			take(t, conn)
			conn.Write(whole[:20])
			<-until
		}, "no answer within 400ms"},
		"huge": {func(t *testing.T, conn net.Conn, _ <-chan struct{}) { take(t, conn); conn.Write(huge) }, "too large"},
		"another version": {func(t *testing.T, conn net.Conn, _ <-chan struct{}) {
			take(t, conn)
			conn.Write(append([]byte("grpn\x09"), whole[5:]...))
		}, "grapnel up"},
		"refuses": {func(t *testing.T, conn net.Conn, _ <-chan struct{}) {
			take(t, conn)
			conn.Write(hookwire.AppendRefusal(nil, "too busy"))
		}, "too busy"},
		"empty": {func(t *testing.T, conn net.Conn, _ <-chan struct{}) { take(t, conn); give(conn, hookwire.Response{}) }, "would understand"},
		"no JSON": {func(t *testing.T, conn net.Conn, _ <-chan struct{}) {
			take(t, conn)
			give(conn, hookwire.Response{Stdout: []byte("ok\n{}")})
		}, "would understand"},
		"exit code": {func(t *testing.T, conn net.Conn, _ <-chan struct{}) {
			take(t, conn)
			give(conn, hookwire.Response{Exit: 1, Stdout: []byte("{}")})
		}, "would understand"},
	} {
		for _, event := range []string{"PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "PostToolUse"} {
			t.Run(name+"/"+event, func(t *testing.T) {
				t.Parallel()
				s := newShim(t, event)
				if c.reason != late { // these need no watchdog
					s.args = []string{"claude-code", event}
				}
				until := make(chan struct{})
				s.listen(func(conn net.Conn) { c.answer(t, conn, until) })
				r, took := s.run()
				close(until)
				soon(t, took)
				if hookwire.ClassOf(event) == hookwire.Gate {
					denied(t, event, r, c.reason)
				} else {
					passed(t, event, r)
					assert.Contains(t, string(r.Stderr), c.reason)
				}
			})
		}
	}
}

// TestStoppedDaemon: a daemon that a signal stopped still has its socket, and
// the kernel takes the shim's frame for it.
func TestStoppedDaemon(t *testing.T) {
	t.Parallel()
	s := newShim(t, "PreToolUse")
	daemon := exec.Command(os.Args[0])
	daemon.Env = append(os.Environ(), "SHIM_TEST_DAEMON="+s.path)
	out, err := daemon.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, daemon.Start())
	t.Cleanup(func() { daemon.Process.Kill(); daemon.Wait() })
	ready := make([]byte, 6)
	_, err = out.Read(ready)
	require.NoError(t, err)
	require.NoError(t, daemon.Process.Signal(syscall.SIGSTOP))
	for _, size := range []int{0, 3 << 20} { // the second does not fit into the socket's buffer
		s.stdin = append(fmt.Appendf(nil, payload, "PreToolUse"), bytes.Repeat([]byte(" "), size)...)
		best := time.Minute
		for range 20 { // the machine may be busy with other things
			r, took := s.run()
			denied(t, "PreToolUse", r, "no answer within 400ms")
			if best = min(best, took); best < 650*time.Millisecond {
				break
			}
		}
		assert.Less(t, best, 650*time.Millisecond, "within the deadline and 250 ms")
	}
	s.args[3] = "SessionEnd"
	r, _ := s.run()
	passed(t, "SessionEnd", r)
}

func TestNoDaemon(t *testing.T) {
	t.Parallel()
	for _, refusing := range []bool{false, true} {
		for _, event := range []string{"PreToolUse", "PermissionRequest", "UserPromptSubmit", "UserPromptExpansion", "Stop", "SessionEnd", "MessageDisplay"} {
			s := newShim(t, event)
			if refusing {
				dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.path, Net: "unix"})
				require.NoError(t, err)
				dead.SetUnlinkOnClose(false)
				dead.Close()
				require.NoError(t, os.Chmod(s.path, 0o600))
			}
			// A grapnel along PATH or in the working directory is not ours.
			for _, dir := range []string{s.dir, filepath.Dir(s.dir)} {
				script(t, filepath.Join(dir, "grapnel"), `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`)
			}
			s.env = []string{"PATH=" + s.dir + ":" + filepath.Dir(s.dir) + ":.:/usr/bin:/bin", "GRAPNEL_BIN=" + s.dir + "/grapnel", "CI=true"}
			r, took := s.run()
			soon(t, took)
			if hookwire.ClassOf(event) == hookwire.Gate {
				denied(t, event, r, "grapnel up")
			} else {
				passed(t, event, r)
			}
		}
	}
}

// TestNoVariableOpensAGate: an environment that a workspace could set leads to
// a deny at worst.
func TestNoVariableOpensAGate(t *testing.T) {
	t.Parallel()
	s := newShim(t, "PreToolUse")
	for _, env := range [][]string{
		{"GRAPNEL_SOCKET="}, {"GRAPNEL_SOCKET=/dev/null"}, {"GRAPNEL_SOCKET=" + s.dir}, {"GRAPNEL_SOCKET=relative"}, {"GRAPNEL_SOCKET=" + strings.Repeat("/x", 4000)},
		{"GRAPNEL_SOCKET=", "HOME=/nonexistent"}, {"GRAPNEL_SOCKET=", "XDG_RUNTIME_DIR=/dev/null"}, {"GRAPNEL_DISABLE=1", "GRAPNEL_ALLOW=1", "CI=1"},
		{"GRAPNEL_HOPS=x"}, {"GODEBUG=gctrace=1"},
	} {
		s.env = env
		r, _ := s.run()
		assert.Equal(t, 2, r.Exit, "%.60q", env)
		assert.True(t, client("PreToolUse", r).Blocked, "%.60q", env)
	}
}

// script writes a shell script; its text is the test's own. Another process
// writes it in the end: a file that this one has had open for writing may be
// "busy" when it is run, since a child that is being forked has it open too.
func script(t testing.TB, path, text string) {
	t.Helper()
	draft := filepath.Join(t.TempDir(), "draft")
	require.NoError(t, os.WriteFile(draft, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	out, err := exec.Command("cp", "-p", draft, path).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// beside puts the shim into the test's directory, where the full binary is
// looked for.
func (s *shim) beside(text string) {
	shim := s.self
	bin := filepath.Join(filepath.Dir(s.dir), "bin")
	require.NoError(s.t, os.Mkdir(bin, 0o755))
	s.self = filepath.Join(bin, "grapnel-hook")
	require.NoError(s.t, os.Link(shim, s.self))
	script(s.t, filepath.Join(bin, "grapnel"), text)
}

// TestTheCommandLineSaysWhereTheBusIs: what the installer wrote counts, and
// not what a workspace put into the agent's environment.
func TestTheCommandLineSaysWhereTheBusIs(t *testing.T) {
	t.Parallel()
	s := newShim(t, "PreToolUse")
	places := []string{"--socket", filepath.Join(s.dir, "baked.sock"), "--state", filepath.Join(s.dir, "state"), "--config=" + filepath.Join(s.dir, "c.yaml")}
	s.args = append(slices.Clone(places), "claude-code", "PreToolUse")
	s.beside(`echo "$@" > "$0.args"; echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"grapnel says x"}}'; echo grapnel says x >&2; exit 2`)
	// Somebody answers where the environment says; nobody where the command
	// line does.
	listener, err := net.Listen("unix", s.path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	require.NoError(t, os.Chmod(s.path, 0o600))
	s.env = []string{"GRAPNEL_STATE=/tmp/elsewhere", "GRAPNEL_CONFIG=/tmp/elsewhere.yaml"}
	r, _ := s.run()
	denied(t, "PreToolUse", r, "grapnel says x")
	args, err := os.ReadFile(filepath.Join(filepath.Dir(s.self), "grapnel.args"))
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("hook --socket %s/baked.sock --state %s/state --config %s/c.yaml claude-code PreToolUse\n", s.dir, s.dir, s.dir), string(args))
	for _, bad := range [][]string{{"--socket", "relative"}, {"--state="}, {"--config"}} {
		s.args = append(slices.Clone(bad), "claude-code", "PreToolUse")
		r, _ = s.run()
		assert.Equal(t, 2, r.Exit, bad)
		assert.NotEmpty(t, r.Stderr, bad)
	}
}

func TestFullBinaryAnswers(t *testing.T) {
	t.Parallel()
	s := newShim(t, "PreToolUse")
	s.args = []string{"claude-code", "PreToolUse"}
	s.beside(`cat > "$0.stdin"; echo "$@" > "$0.args"; echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"grapnel bundle"}}'; echo "grapnel bundle" >&2; exit 2`)
	s.stdin = append(s.stdin, bytes.Repeat([]byte(" "), 1<<20)...) // more than a pipe holds
	r, _ := s.run()
	denied(t, "PreToolUse", r, "grapnel bundle")
	bin := filepath.Join(filepath.Dir(s.self), "grapnel")
	got, err := os.ReadFile(bin + ".stdin")
	require.NoError(t, err)
	assert.True(t, bytes.Equal(s.stdin, got), "stdin is handed on whole")
	args, err := os.ReadFile(bin + ".args")
	require.NoError(t, err)
	assert.Equal(t, "hook claude-code PreToolUse\n", string(args))

	// A link to the shim leads to the same binary; --grapnel names another.
	link := filepath.Join(s.dir, "linked")
	require.NoError(t, os.Symlink(s.self, link))
	s.self = link
	r, _ = s.run()
	denied(t, "PreToolUse", r, "grapnel bundle")
	other := filepath.Join(s.dir, "other")
	script(t, other, `cat >/dev/null; echo '{"decision":"block","reason":"grapnel other"}'; echo "grapnel other" >&2; exit 2`)
	s.args = []string{"--grapnel=" + other, "claude-code", "PreToolUse"}
	r, _ = s.run()
	denied(t, "PreToolUse", r, "grapnel other")
	require.NoError(t, os.Chmod(other, 0o722))
	r, _ = s.run()
	denied(t, "PreToolUse", r, "can be written by other users")
}

func TestFullBinaryFails(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"silent":         `cat >/dev/null`,
		"crash":          `cat >/dev/null; echo 'panic: runtime error' >&2; exit 2`,
		"killed":         `cat >/dev/null; echo '{}'; kill -9 $$`,
		"text first":     `cat >/dev/null; echo starting; echo '{}'`,
		"half an answer": `cat >/dev/null; printf '{"a":{"b":1}'`,
		"exit 1":         `cat >/dev/null; echo '{}'; exit 1`,
		"never reads":    `exit 3`,
		"hangs":          `exec sleep 60`,
		"too much":       `cat >/dev/null; head -c 6000000 /dev/zero`,
	} {
		for _, event := range []string{"PreToolUse", "Stop"} {
			t.Run(name+"/"+event, func(t *testing.T) {
				t.Parallel()
				s := newShim(t, event)
				s.beside(text)
				r, took := s.run()
				soon(t, took)
				if event == "Stop" {
					passed(t, event, r)
				} else {
					denied(t, event, r, "grapnel")
				}
			})
		}
	}
}

// TestNothingIsLeftBehind: a binary that hangs ends with the shim.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	s := newShim(t, "PreToolUse")
	s.beside(`echo $$ > "$0.pid"; exec sleep 60`)
	r, _ := s.run()
	denied(t, "PreToolUse", r, "no answer within 400ms")
	text, err := os.ReadFile(filepath.Join(filepath.Dir(s.self), "grapnel.pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return gone(pid) }, 5*time.Second, 10*time.Millisecond, "process %d lives on", pid)
}

// gone reports whether a process has ended; one that nobody has waited for yet
// has.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	none := (*exec.ExitError)(nil)
	return errors.As(err, &none) || err == nil && strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func TestUnsafeSocket(t *testing.T) {
	t.Parallel()
	grant := func(conn net.Conn) {
		hookwire.ReadRequest(conn)
		give(conn, hookwire.Response{Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`)})
	}
	for name, c := range map[string]struct {
		spoil  func(s *shim)
		reason string
	}{
		"open directory": {func(s *shim) { require.NoError(s.t, os.Chmod(s.dir, 0o755)) }, "chmod go-rwx"},
		"open socket":    {func(s *shim) { require.NoError(s.t, os.Chmod(s.path, 0o666)) }, "chmod go-rwx"},
		"linked directory": {func(s *shim) {
			require.NoError(s.t, os.Rename(s.dir, s.dir+"2"))
			require.NoError(s.t, os.Symlink(s.dir+"2", s.dir))
		}, "something else"},
		"linked socket": {func(s *shim) {
			require.NoError(s.t, os.Rename(s.path, s.path+"2"))
			require.NoError(s.t, os.Symlink(s.path+"2", s.path))
		}, "something else"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShim(t, "PreToolUse")
			s.listen(grant)
			r, _ := s.run()
			require.True(t, client("PreToolUse", r).Granted, "the socket works before it is spoilt")
			c.spoil(s)
			r, _ = s.run()
			denied(t, "PreToolUse", r, c.reason)
		})
	}
}

func TestStdin(t *testing.T) {
	t.Parallel()
	t.Run("10 MB", func(t *testing.T) {
		t.Parallel()
		s := newShim(t, "PreToolUse")
		s.args = []string{"claude-code", "PreToolUse"}
		s.stdin = bytes.Repeat([]byte("0123456789"), 1<<20)
		got := make(chan int, 1)
		s.listen(func(conn net.Conn) {
			q := take(t, conn)
			if bytes.Equal(q.Stdin, s.stdin) {
				got <- len(q.Stdin)
			}
			give(conn, hookwire.Response{Stdout: []byte("{}\n")})
		})
		r, _ := s.run()
		passed(t, "PreToolUse", r)
		assert.Equal(t, 10<<20, <-got)
	})
	t.Run("too much", func(t *testing.T) {
		t.Parallel()
		for _, event := range []string{"PreToolUse", "Stop"} {
			s := newShim(t, event)
			s.args = []string{"claude-code", event}
			s.stdin = make([]byte, hookwire.MaxStdin+1)
			r, _ := s.run()
			if event == "Stop" {
				passed(t, event, r)
				continue
			}
			denied(t, event, r, "larger than 16777216 bytes")
		}
	})
	t.Run("never ends", func(t *testing.T) {
		t.Parallel()
		s := newShim(t, "PreToolUse")
		cmd := s.command()
		read, write, err := os.Pipe()
		require.NoError(t, err)
		defer read.Close()
		defer write.Close()
		cmd.Stdin = read
		r, took := finish(t, cmd)
		denied(t, "PreToolUse", r, "no answer within 400ms")
		soon(t, took)
	})
	t.Run("a socket", func(t *testing.T) { // as Claude Code gives it
		t.Parallel()
		s := newShim(t, "PreToolUse")
		s.args = []string{"claude-code", "PreToolUse"}
		got := make(chan []byte, 1)
		s.listen(func(conn net.Conn) {
			got <- take(t, conn).Stdin
			give(conn, hookwire.Response{Stdout: []byte("{}\n")})
		})
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		require.NoError(t, err)
		ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
		defer theirs.Close()
		_, err = ours.Write(s.stdin)
		require.NoError(t, err)
		require.NoError(t, syscall.Shutdown(fds[0], syscall.SHUT_WR))
		defer ours.Close()
		cmd := s.command()
		cmd.Stdin = theirs
		r, _ := finish(t, cmd)
		passed(t, "PreToolUse", r)
		assert.Equal(t, s.stdin, <-got)
	})
	t.Run("nothing", func(t *testing.T) {
		t.Parallel()
		s := newShim(t, "PreToolUse")
		s.args = []string{"claude-code", "PreToolUse"}
		s.stdin = nil
		e := edge.New(bus(func(hook.Event) hook.Verdict { panic("no event") }), nil)
		s.listen(func(conn net.Conn) { give(conn, e.Decide(context.Background(), take(t, conn))) })
		r, _ := s.run()
		denied(t, "PreToolUse", r, "it is empty")
	})
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		nil, {"claude-code"}, {"claude-code", "Stop", "more"}, {"", "Stop"}, {"claude-code", ""}, {"--help"}, {"-x", "a", "b"}, {"--grapnel"},
		{"--grapnel", "relative", "claude-code", "Stop"}, {"--grapnel=", "claude-code", "Stop"}, {"--within", "0", "claude-code", "Stop"},
		{"--within", "soon", "claude-code", "Stop"}, {"--within"},
	} {
		s := newShim(t, "PreToolUse")
		s.args = args
		r, _ := s.run()
		assert.Equal(t, 2, r.Exit, "%q", args)
		assert.Contains(t, string(r.Stderr), "usage: grapnel-hook", "%q", args)
		assert.Empty(t, r.Stdout)
		assert.True(t, client("PreToolUse", r).Blocked)
	}
}

func TestOddNames(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"a.b c", "*", ">", "🪝", strings.Repeat("N", 10_000), strings.Repeat("N", 100_000)} {
		s := newShim(t, "PreToolUse")
		s.args = []string{"claude-code", event}
		s.listen(func(conn net.Conn) {
			q := take(t, conn)
			assert.Equal(t, event, q.Event)
			give(conn, hookwire.Response{Stdout: []byte("{}\n")})
		})
		r, _ := s.run()
		if len(event) > hookwire.MaxName {
			assert.Equal(t, 2, r.Exit)
			continue
		}
		passed(t, event[:min(len(event), 20)], r)
	}
}

// TestOnlyTheStandardLibrary: what the shim links is paid for on every hook.
func TestOnlyTheStandardLibrary(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	for _, dep := range strings.Fields(string(out)) {
		if strings.HasPrefix(dep, "github.com/grapnel-dev/grapnel/") {
			assert.Contains(t, []string{"github.com/grapnel-dev/grapnel/cmd/grapnel-hook", "github.com/grapnel-dev/grapnel/internal/edge/hookwire"}, dep)
			continue
		}
		assert.NotContains(t, dep, ".", "not of the standard library")
		assert.NotContains(t, []string{"net", "reflect", "fmt", "encoding/json", "os/exec", "context", "log/slog"}, dep)
	}
}
