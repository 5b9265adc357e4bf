package process_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// nonce is a number of seconds to sleep that no other process has in its
// arguments, so that it is found whatever it did to itself.
func nonce(t testing.TB) string {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(1e15))
	require.NoError(t, err)
	return fmt.Sprintf("3600.%015d", n)
}

// living lists the processes with the nonce in their arguments.
func living(t testing.TB, nonce string) (found []string) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, dir := range dirs {
		args, err := os.ReadFile(dir + "/cmdline") // empty for the dead
		if err == nil && bytes.Contains(args, []byte(nonce)) && dir != "/proc/"+strconv.Itoa(os.Getpid()) {
			found = append(found, filepath.Base(dir)+" "+string(bytes.ReplaceAll(args, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// escapes are ways to live on; N is the nonce. Those that wipe the environment
// and the session at once need more than the process group against them.

func escapes() map[string]string {
	return map[string]string{
		"background":                 `sleep N & exit 0`,
		"background, failing":        `sleep N & exit 1`,
		"background, silent":         `sleep N >/dev/null 2>&1 </dev/null & exit 0`,
		"holds stdout":               `sleep N 2>/dev/null </dev/null & echo done`,
		"holds stdin":                `sleep N >/dev/null 2>&1 & exit 0`,
		"closed streams":             `exec <&- >&- 2>&-; sleep N & exit 0`,
		"subshell":                   `(sleep N &); exit 0`,
		"nohup":                      `nohup sleep N >/dev/null 2>&1 & exit 0`,
		"double fork":                `sh -c 'sh -c "sleep N & exit 0" & exit 0'; exit 0`,
		"setsid":                     `setsid sleep N & exit 0`,
		"setsid and fork":            `setsid -f sleep N; exit 0`,
		"setsid, silent":             `setsid -f sleep N >/dev/null 2>&1 </dev/null; exit 0`,
		"setsid and double fork":     `setsid sh -c 'setsid sh -c "setsid sleep N & exit 0" & exit 0' & exit 0`,
		"ignores TERM, left behind":  `(trap '' TERM HUP INT QUIT; sleep N; sleep N) & exit 0`,
		"ignores TERM, timed out":    `trap '' TERM HUP INT QUIT; sleep N; sleep N`,
		"setsid, ignores, timed out": `(trap '' TERM HUP; setsid sleep N) & sleep N`,
		"many":                       `for i in 1 2 3 4 5 6 7 8 9 10; do sleep N & setsid -f sleep N; done; exit 0`,
		"killed while it has some":   `setsid -f sleep N; sleep N & kill -KILL $$`,
		"restarts what is killed":    `(while :; do sleep N; done) & exit 0`,
		"stopped":                    `sleep N & kill -STOP $!; exit 0`,
		"stops itself":               `sleep N & kill -STOP $$`,
		"interrupts its group":       `(trap '' INT; sleep N) & kill -INT 0; sleep N`,
	}
}

// deepEscapes leave session, group and environment behind.
func deepEscapes() map[string]string {
	return map[string]string{
		"wiped environment":           `env -i /usr/bin/setsid -f sleep N; exit 0`,
		"wiped, double fork":          `env -i /usr/bin/setsid -f sh -c 'setsid -f sleep N & exit 0'; exit 0`,
		"wiped, timed out":            `env -i /usr/bin/setsid -f sh -c 'trap "" TERM HUP; sleep N; sleep N'; sleep N`,
		"forks for ever":              `printf '#!/bin/sh\nsetsid -f "$0" N\n' >comet; chmod +x comet; env -i PATH="$PATH" ./comet N; sleep 0.05; exit 0`,
		"kills its parent":            `setsid -f sleep N; kill -KILL $PPID; sleep N`,
		"stops its parent":            `setsid -f sleep N; kill -STOP $PPID; sleep N`,
		"stops its parent, wiped":     `kill -STOP $PPID; env -i /usr/bin/setsid -f sh -c 'setsid -f sleep N; sleep N'; sleep N`,
		"terminates its parent first": `kill $PPID; kill -HUP $PPID; env -i /usr/bin/setsid -f sleep N; exit 0`,
	}
}

func TestNothingLivesOn(t *testing.T) {
	t.Parallel()
	confinements(t, func(t *testing.T, r *process.Runner) {
		held, err := r.Check(t.Context())
		require.NoError(t, err)
		list := escapes()
		if held != process.Group {
			for name, text := range deepEscapes() {
				list[name] = text
			}
		}
		nothingLivesOn(t, r, list, process.Sandbox{})
	})
}

func TestNothingLivesOnFromASandbox(t *testing.T) {
	t.Parallel()
	sandboxed(t, func(t *testing.T, r *process.Runner) {
		list := escapes()
		for name, text := range deepEscapes() {
			list[name] = text
		}
		nothingLivesOn(t, r, list, process.Sandbox{Mode: process.SandboxRequired, ReadOnly: []string{"/usr"}, Limits: process.Limits{OpenFiles: 100}})
	})
}

func nothingLivesOn(t *testing.T, r *process.Runner, list map[string]string, box process.Sandbox) {
	t.Helper()
	for name, text := range list {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := nonce(t)
			s := shell(t, strings.ReplaceAll(text, "N", n))
			if s.Sandbox = box; box.Mode != "" {
				s.Sandbox.ReadWrite = []string{s.Dir}
			}
			if !strings.HasSuffix(text, "exit 0") {
				s.Timeout, s.Grace = 300*time.Millisecond, 50*time.Millisecond
			}
			started := time.Now()
			got, err := r.Run(t.Context(), s)
			assert.Empty(t, living(t, n), "after %s, result %+v, error %v", time.Since(started), got, err)
			assert.NotErrorIs(t, err, process.ErrSurvivors)
			assert.NotErrorIs(t, err, process.ErrSandbox)
			assert.Less(t, time.Since(started), 20*time.Second)
			if strings.HasSuffix(text, "exit 0") {
				assert.NoError(t, err)
				assert.Zero(t, got.ExitCode, "stderr %s", got.Stderr.Bytes)
			}
		})
	}
}

func TestRunGoesOnWithoutItsSupervisors(t *testing.T) {
	t.Parallel()
	r := process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}, Idle: 1})
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	got, err := r.Run(t.Context(), shell(t, "echo $PPID"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(got.Stdout.Bytes)))
	require.NoError(t, err)
	idle, err := os.FindProcess(pid)
	require.NoError(t, err)
	require.NoError(t, idle.Kill())
	got, err = r.Run(t.Context(), shell(t, "echo still here"))
	require.NoError(t, err, "an idle supervisor that was killed is replaced")
	assert.Equal(t, "still here\n", string(got.Stdout.Bytes))
}

func TestIdleSupervisorsExpire(t *testing.T) {
	before := resources(t).children // not parallel: it counts
	r := process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}, IdleTime: 50 * time.Millisecond})
	var all sync.WaitGroup
	for range 4 {
		s := shell(t, "sleep 0.1")
		all.Go(func() {
			_, err := r.Run(context.Background(), s)
			assert.NoError(t, err)
		})
	}
	all.Wait()
	assert.Eventually(t, func() bool { return resources(t).children == before+1 }, 10*time.Second, 5*time.Millisecond)
	_, err := r.Run(t.Context(), shell(t, "true"))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	assert.Equal(t, before, resources(t).children)
}

func TestMissingSupervisor(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"/no/such/program", "/bin/true"} {
		r := process.New(&process.Options{Supervisor: []string{program}})
		_, err := r.Run(t.Context(), shell(t, "true"))
		require.ErrorIs(t, err, process.ErrSupervisor, program)
		require.NoError(t, r.Close())
	}
	self, err := os.Executable()
	require.NoError(t, err)
	out, err := exec.Command(self, "supervise").CombinedOutput()
	require.Error(t, err, "a person who starts one is told")
	assert.Contains(t, string(out), "started by grapnel itself")
}

// TestCommandsDieWithTheRunner kills the program that runs a command.
func TestCommandsDieWithTheRunner(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	n, dir := nonce(t), t.TempDir()
	text := fmt.Sprintf("env -i /usr/bin/setsid -f sleep %s; touch %s/up; sleep %s", n, dir, n)
	cmd := exec.Command(self, "misbehave", text, dir)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { _, err := os.Stat(dir + "/up"); return err == nil }, 20*time.Second, 5*time.Millisecond)
	require.NotEmpty(t, living(t, n))
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	assert.Eventually(t, func() bool { return len(living(t, n)) == 0 }, time.Second, 5*time.Millisecond)
}

// TestThousandRuns is not parallel: it counts what this process has open.
func TestThousandRuns(t *testing.T) {
	_, err := process.New(nil).Run(t.Context(), shell(t, "true")) // the runtime opens files of its own at the first use
	require.NoError(t, err)
	goroutines := goleak.IgnoreCurrent()
	before := resources(t)
	n := nonce(t)
	dir := t.TempDir()
	env := process.Environment(os.Environ(), process.CleanPath(os.Getenv("PATH")), nil, nil)
	kinds := []struct {
		text    string
		code    int
		err     error
		timeout time.Duration
	}{
		{text: "true"},
		{text: "exit 2", code: 2},
		{text: "head -c 200000 /dev/zero"},
		{text: "sleep " + n + " & exit 0"},
		{text: "setsid -f sleep " + n + "; exit 3", code: 3},
		{text: "kill -TERM $$", code: -1, err: process.ErrSignal},
		{text: "trap '' TERM; sleep " + n, code: -1, err: process.ErrTimedOut, timeout: 30 * time.Millisecond},
		{text: "exec /no/such/program", code: 127},
	}
	for runs, o := range map[int]*process.Options{
		900: {Supervisor: []string{"/proc/self/exe", "supervise"}, Limit: 16},
		100: {Limit: 16}, // looking through all processes at each end is slow
	} {
		r := process.New(o)
		var all sync.WaitGroup
		for i := range runs {
			all.Go(func() {
				k := kinds[i%len(kinds)]
				s := process.Spec{Shell: k.text, Dir: dir, Env: env, Stdin: []byte("{}"), Timeout: 20 * time.Second, Grace: 10 * time.Millisecond}
				if k.timeout > 0 {
					s.Timeout = k.timeout
				}
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				got, err := r.Run(ctx, s)
				if k.err == nil {
					assert.NoError(t, err, k.text)
					assert.Equal(t, k.code, got.ExitCode, k.text)
				} else {
					assert.ErrorIs(t, err, k.err, k.text)
				}
			})
		}
		all.Wait()
		assert.Empty(t, living(t, n))
		require.NoError(t, r.Close())
	}
	after := resources(t)
	assert.Equal(t, before.files, after.files, "open files")
	assert.Equal(t, before.children, after.children, "child processes")
	assert.NoError(t, goleak.Find(goroutines))
}

type resourceCount struct{ files, children int }

func resources(t *testing.T) resourceCount {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	children := 0
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			children++
		}
	}
	return resourceCount{len(files), children}
}
