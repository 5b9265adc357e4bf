package process_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// confinements runs a test with every way of holding a tree together that this
// machine has.
func confinements(t *testing.T, test func(t *testing.T, r *process.Runner)) {
	t.Helper()
	for want, o := range map[process.Confinement]*process.Options{
		process.Supervised: {Supervisor: []string{"/proc/self/exe", "supervise"}},
		process.Namespace:  {Supervisor: []string{"/proc/self/exe", "supervise"}, Namespace: true},
		process.Group:      nil,
	} {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			r := process.New(o)
			t.Cleanup(func() { require.NoError(t, r.Close()) })
			got, err := r.Check(t.Context())
			require.NoError(t, err)
			if want == process.Namespace && got != want {
				want = process.Supervised // a system that permits no namespaces says so
			}
			require.Equal(t, want, got)
			test(t, r)
		})
	}
}

// everywhere runs a test with every confinement, and with each that can have
// one in an open and in a closed sandbox.
func everywhere(t *testing.T, test func(t *testing.T, r *process.Runner, box process.Sandbox)) {
	t.Helper()
	confinements(t, func(t *testing.T, r *process.Runner) {
		held, err := r.Check(t.Context())
		require.NoError(t, err)
		boxes := map[string]process.Sandbox{"no sandbox": {}}
		if held != process.Group {
			boxes["open sandbox"] = process.Sandbox{Mode: process.SandboxBestEffort}
			boxes["closed sandbox"] = process.Sandbox{
				Mode: process.SandboxRequired, ReadOnly: []string{"/usr"}, NoNetwork: true,
				Limits: process.Limits{FileSize: 1 << 30},
			}
		}
		for name, box := range boxes {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, r, box)
			})
		}
	})
}

func shell(t *testing.T, text string) process.Spec {
	t.Helper()
	return process.Spec{
		Shell: text, Dir: t.TempDir(), Timeout: 30 * time.Second,
		Env: process.Environment(os.Environ(), process.CleanPath(os.Getenv("PATH")), nil, nil),
	}
}

func TestResult(t *testing.T) {
	t.Parallel()
	confinements(t, func(t *testing.T, r *process.Runner) {
		s := shell(t, `cat; echo "to stderr" >&2; pwd; umask; exit 3`)
		s.Stdin = []byte("from stdin\n")
		got, err := r.Run(t.Context(), s)
		require.NoError(t, err)
		assert.Equal(t, 3, got.ExitCode)
		lines := strings.Split(string(got.Stdout.Bytes), "\n")
		require.Len(t, lines, 4, "stdout %q", got.Stdout.Bytes)
		assert.Equal(t, "from stdin", lines[0])
		assert.Equal(t, s.Dir, lines[1])
		if got.Confinement != process.Group {
			assert.Equal(t, "0077", lines[2], "umask")
		}
		assert.Equal(t, "to stderr\n", string(got.Stderr.Bytes))
		assert.False(t, got.Stdout.Truncated)
		assert.EqualValues(t, len(got.Stdout.Bytes), got.Stdout.Total)
		assert.False(t, got.Started.IsZero())
		assert.Positive(t, got.Duration)
		assert.Empty(t, got.Signal)
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	command := func(argv ...string) func(*process.Spec) {
		return func(s *process.Spec) { s.Shell, s.Command = "", argv }
	}
	cases := map[string]struct {
		change func(*process.Spec)
		want   error
		says   string
	}{
		"nothing to run":      {command(), process.ErrSpec, "either"},
		"relative command":    {command("true"), process.ErrSpec, "absolute"},
		"NUL in an argument":  {command("/bin/echo", "a\x00b"), process.ErrSpec, "NUL"},
		"NUL in a variable":   {func(s *process.Spec) { s.Env = []string{"A=\x00"} }, process.ErrSpec, "NUL"},
		"relative directory":  {func(s *process.Spec) { s.Dir = "." }, process.ErrSpec, "absolute"},
		"no such file":        {command(dir + "/absent"), process.ErrNotFound, "absent"},
		"file under a file":   {command(file("plain", "", 0o644) + "/x"), process.ErrNotFound, "plain/x"},
		"not executable":      {command(file("script", "#!/bin/sh\n", 0o644)), process.ErrNotExecutable, "chmod"},
		"a directory":         {command(dir), process.ErrNotExecutable, "directory"},
		"missing interpreter": {command(file("python", "#!/no/such/python\n", 0o755)), process.ErrInterpreter, "/no/such/python"},
		"windows line ends":   {command(file("crlf", "#!/bin/sh\r\necho\r\n", 0o755)), process.ErrInterpreter, "carriage return"},
		"no interpreter line": {command(file("noline", "echo hello\n", 0o755)), process.ErrInterpreter, "#!"},
		"missing directory":   {func(s *process.Spec) { s.Dir = dir + "/gone" }, process.ErrDir, "gone"},
		"directory is a file": {func(s *process.Spec) { s.Dir = file("f", "", 0o600) }, process.ErrDir, "not a directory"},
		"one long argument":   {command("/bin/true", strings.Repeat("x", 200<<10)), process.ErrTooLong, "stdin"},
		"many long variables": {func(s *process.Spec) { s.Env = slicesOf("A="+strings.Repeat("x", 100<<10), 60) }, process.ErrTooLong, ""},
		"more than a frame":   {func(s *process.Spec) { s.Env = slicesOf("A="+strings.Repeat("x", 100<<10), 120) }, process.ErrTooLong, ""},
		"killed by itself":    {func(s *process.Spec) { s.Shell = "sh -c 'kill -SEGV $$'; kill -KILL $$" }, process.ErrSignal, "SIGKILL"},
		"takes too long":      {func(s *process.Spec) { s.Shell, s.Timeout = "sleep 100", 50*time.Millisecond }, process.ErrTimedOut, "50ms"},
		"exits 0 on SIGTERM": {func(s *process.Spec) {
			s.Shell, s.Timeout = "trap 'exit 0' TERM; sleep 100 & wait", 300*time.Millisecond
		}, process.ErrTimedOut, "300ms"},
		"ignores SIGTERM": {func(s *process.Spec) {
			s.Shell, s.Timeout, s.Grace = "trap '' TERM; sleep 100", 50*time.Millisecond, 50*time.Millisecond
		}, process.ErrTimedOut, ""},
		"not NAME=value":    {func(s *process.Spec) { s.Env = []string{"A"} }, process.ErrSpec, "NAME=value"},
		"command and shell": {func(s *process.Spec) { s.Command = []string{"/bin/true"} }, process.ErrSpec, "either"},
		"negative time-out": {func(s *process.Spec) { s.Timeout = -1 }, process.ErrSpec, "negative"},
	}
	everywhere(t, func(t *testing.T, r *process.Runner, box process.Sandbox) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := shell(t, "true")
				s.Sandbox = box
				c.change(&s)
				got, err := r.Run(t.Context(), s)
				require.ErrorIs(t, err, c.want, "result %+v", got)
				assert.Contains(t, err.Error(), c.says)
			})
		}
	})
}

func slicesOf(v string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = v
	}
	return list
}

func TestContext(t *testing.T) {
	t.Parallel()
	confinements(t, func(t *testing.T, r *process.Runner) {
		s := shell(t, "echo started; touch up; sleep 100")
		got, err := runUntilUp(t, r, s, context.Canceled)
		require.ErrorIs(t, err, process.ErrCancelled)
		assert.Equal(t, "started\n", string(got.Stdout.Bytes), "what it wrote is kept")
		assert.Equal(t, "SIGTERM", got.Signal)

		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err = r.Run(ctx, shell(t, "sleep 100"))
		require.ErrorIs(t, err, process.ErrTimedOut, "a deadline is a time-out")
		_, err = r.Run(ctx, shell(t, "true"))
		require.ErrorIs(t, err, process.ErrTimedOut, "the context ended before the start")
	})
}

// runUntilUp cancels the run once its command has made the file "up".
func runUntilUp(t *testing.T, r *process.Runner, s process.Spec, cause error) (process.Result, error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	type outcome struct {
		result process.Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := r.Run(ctx, s)
		done <- outcome{result, err}
	}()
	assert.Eventually(t, func() bool { _, err := os.Stat(s.Dir + "/up"); return err == nil }, 20*time.Second, time.Millisecond)
	cancel(cause)
	o := <-done
	return o.result, o.err
}

func TestClose(t *testing.T) {
	t.Parallel()
	confinements(t, func(t *testing.T, r *process.Runner) {
		time.AfterFunc(100*time.Millisecond, func() { _ = r.Close() })
		_, err := r.Run(t.Context(), shell(t, "sleep 100"))
		require.ErrorIs(t, err, process.ErrClosed)
		require.NoError(t, r.Close(), "closing again does nothing")
		_, err = r.Run(t.Context(), shell(t, "true"))
		require.ErrorIs(t, err, process.ErrClosed)
	})
}

func TestLimitQueues(t *testing.T) {
	t.Parallel()
	r := process.New(&process.Options{Limit: 1})
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	dir := t.TempDir()
	first := make(chan error, 1)
	s := shell(t, "mkfifo "+dir+"/fifo; read x <"+dir+"/fifo")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := r.Run(ctx, s)
		first <- err
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(dir + "/fifo"); return err == nil }, 10*time.Second, time.Millisecond)
	short, done := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer done()
	_, err := r.Run(short, shell(t, "true"))
	require.ErrorIs(t, err, process.ErrTimedOut)
	assert.ErrorContains(t, err, "before it was started")
	cancel()
	require.ErrorIs(t, <-first, process.ErrCancelled)
}

func TestStreams(t *testing.T) {
	t.Parallel()
	confinements(t, func(t *testing.T, r *process.Runner) {
		t.Run("more output than is kept", func(t *testing.T) {
			t.Parallel()
			s := shell(t, "head -c 30000000 /dev/zero; head -c 20000000 /dev/zero >&2")
			got, err := r.Run(t.Context(), s)
			require.NoError(t, err)
			assert.Len(t, got.Stdout.Bytes, process.DefaultMaxOutput)
			assert.EqualValues(t, 30000000, got.Stdout.Total)
			assert.True(t, got.Stdout.Truncated)
			assert.EqualValues(t, 20000000, got.Stderr.Total)
			assert.True(t, got.Stderr.Truncated)
		})
		t.Run("exactly what is kept", func(t *testing.T) {
			t.Parallel()
			s := shell(t, "printf 12345678")
			s.MaxOutput = 8
			got, err := r.Run(t.Context(), s)
			require.NoError(t, err)
			assert.Equal(t, "12345678", string(got.Stdout.Bytes))
			assert.False(t, got.Stdout.Truncated)
		})
		t.Run("input that nobody reads", func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"true", "exec <&-; true", "head -c 1 >/dev/null"} {
				s := shell(t, text)
				s.Stdin = make([]byte, 10<<20)
				_, err := r.Run(t.Context(), s)
				require.NoError(t, err, text)
			}
		})
		t.Run("all of a large input", func(t *testing.T) {
			t.Parallel()
			s := shell(t, "wc -c")
			s.Stdin = make([]byte, 10<<20)
			got, err := r.Run(t.Context(), s)
			require.NoError(t, err)
			assert.Equal(t, "10485760", strings.TrimSpace(string(got.Stdout.Bytes)))
		})
		t.Run("an endless writer", func(t *testing.T) {
			t.Parallel()
			s := shell(t, "yes | head -c 200000; touch up; yes")
			s.MaxOutput = 1000
			got, err := runUntilUp(t, r, s, context.Canceled)
			require.ErrorIs(t, err, process.ErrCancelled)
			assert.True(t, got.Stdout.Truncated)
			assert.Len(t, got.Stdout.Bytes, 1000)
		})
		t.Run("binary output", func(t *testing.T) {
			t.Parallel()
			got, err := r.Run(t.Context(), shell(t, `printf '\000\377\033[2J'`))
			require.NoError(t, err)
			assert.Equal(t, "\x00\xff\x1b[2J", string(got.Stdout.Bytes), "raw bytes are kept")
		})
	})
}
