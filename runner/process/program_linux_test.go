package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// sealed returns a file in memory that nobody can change any more.
func sealed(t testing.TB, content []byte) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("program", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	require.NoError(t, err)
	f := os.NewFile(uintptr(fd), "program")
	t.Cleanup(func() { f.Close() })
	_, err = f.Write(content)
	require.NoError(t, err)
	_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	require.NoError(t, err)
	return f
}

func binary(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

func TestProgram(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *process.Runner, box process.Sandbox) {
		script := sealed(t, []byte("#!/bin/sh\necho script \"$0\" \"$1\" $(cat /proc/self/fd/4 <&4)\ncat <&4; exit 4\n"))
		data := sealed(t, []byte("declared file\n"))
		s := shell(t, "")
		s.Sandbox = box
		s.Command, s.Program, s.Files = []string{"/opt/hooks/check.sh", "first"}, "/proc/self/fd/3", []*os.File{script, data}
		got, err := r.Run(t.Context(), s)
		require.NoError(t, err)
		assert.Equal(t, 4, got.ExitCode, "stderr %s", got.Stderr.Bytes)
		assert.Equal(t, "script /proc/self/fd/3 first declared file\n", string(got.Stdout.Bytes))

		s.Command, s.Files = []string{"/opt/hooks/cat", "/proc/self/cmdline"}, []*os.File{sealed(t, binary(t, "/bin/cat"))}
		got, err = r.Run(t.Context(), s)
		require.NoError(t, err)
		assert.Equal(t, "/opt/hooks/cat\x00/proc/self/cmdline\x00", string(got.Stdout.Bytes), "argv[0] stays; stderr %s", got.Stderr.Bytes)

		s.Shell, s.Command, s.Files = `echo "$0"; echo {} | cat`, nil, []*os.File{data, sealed(t, binary(t, "/bin/sh"))}
		s.Program, s.Name = "/proc/self/fd/4", "named"
		got, err = r.Run(t.Context(), s)
		require.NoError(t, err)
		assert.Equal(t, "named\n{}\n", string(got.Stdout.Bytes), "stderr %s", got.Stderr.Bytes)

		dir := t.TempDir()
		path := filepath.Join(dir, "copy")
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho copy $0\n"), 0o700))
		s = shell(t, "")
		s.Command, s.Program = []string{dir + "/absent"}, path
		s.Sandbox = box
		got, err = r.Run(t.Context(), s)
		require.NoError(t, err)
		assert.Equal(t, "copy "+path+"\n", string(got.Stdout.Bytes), "stderr %s", got.Stderr.Bytes)
	})
}

// TestAllFilesArrive hands down as many files as there may be, and holds that
// they are in their places and nothing else is open.
func TestAllFilesArrive(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, r *process.Runner, box process.Sandbox) {
		var files []*os.File
		var want strings.Builder
		for i := range process.MaxFiles {
			text := fmt.Sprintf("file %d\n", i)
			files = append(files, sealed(t, []byte(text)))
			want.WriteString(text)
		}
		s := shell(t, `i=3; while [ $i -lt 35 ]; do cat /proc/self/fd/$i; i=$((i+1)); done; ls /proc/self/fd | wc -l`)
		s.Files, s.Sandbox = files, box
		for range 3 {
			got, err := r.Run(t.Context(), s)
			require.NoError(t, err)
			assert.Equal(t, want.String()+"36", strings.TrimSpace(string(got.Stdout.Bytes)), "the streams, the files, and the directory that ls reads")
		}
		for _, f := range files {
			_, err := f.Stat()
			require.NoError(t, err, "files stay the caller's")
		}
	})
}

// TestProgramErrors has each way not to start or to end badly, with a file in
// memory as program.
func TestProgramErrors(t *testing.T) {
	t.Parallel()
	script := func(text string) func(t *testing.T, s *process.Spec) {
		return func(t *testing.T, s *process.Spec) { s.Files = []*os.File{sealed(t, []byte(text))} }
	}
	cases := map[string]struct {
		change func(*testing.T, *process.Spec)
		want   error
		says   string
	}{
		"missing interpreter": {script("#!/no/such/python\n"), process.ErrInterpreter, "/no/such/python"},
		"windows line ends":   {script("#!/bin/sh\r\necho\r\n"), process.ErrInterpreter, "carriage return"},
		"no interpreter line": {script("echo hello\n"), process.ErrInterpreter, "#!"},
		"wrong format":        {script("\x7fELF of another system"), process.ErrInterpreter, "neither a program"},
		"empty":               {script(""), process.ErrInterpreter, "neither a program"},
		"not executable": {func(t *testing.T, s *process.Spec) {
			s.Files = []*os.File{sealed(t, []byte("#!/bin/sh\n"))}
			require.NoError(t, s.Files[0].Chmod(0o600))
		}, process.ErrNotExecutable, "/opt/hooks/check"},
		"not found":      {func(_ *testing.T, s *process.Spec) { s.Program = "/no/such/file" }, process.ErrNotFound, "/no/such/file"},
		"a directory":    {func(_ *testing.T, s *process.Spec) { s.Program = "/etc" }, process.ErrNotExecutable, "directory"},
		"timed out":      {script("#!/bin/sh\nsleep 100\n"), process.ErrTimedOut, "300ms"},
		"killed":         {script("#!/bin/sh\nkill -KILL $$\n"), process.ErrSignal, "SIGKILL"},
		"segfault":       {script("#!/bin/sh\nkill -SEGV $$\n"), process.ErrSignal, "SIGSEGV"},
		"descriptor":     {func(_ *testing.T, s *process.Spec) { s.Program = "/proc/self/fd/9" }, process.ErrSpec, "/proc/self/fd/9"},
		"a stream":       {func(_ *testing.T, s *process.Spec) { s.Program = "/proc/self/fd/0" }, process.ErrSpec, "start at"},
		"odd descriptor": {func(_ *testing.T, s *process.Spec) { s.Program = "/proc/self/fd/03" }, process.ErrSpec, "/fd/03"},
		"relative":       {func(_ *testing.T, s *process.Spec) { s.Program = "check" }, process.ErrSpec, "absolute"},
		"NUL":            {func(_ *testing.T, s *process.Spec) { s.Program = "/bin/\x00" }, process.ErrSpec, "NUL"},
		"nil file":       {func(_ *testing.T, s *process.Spec) { s.Files = append(s.Files, nil) }, process.ErrSpec, "nil"},
		"too many files": {func(_ *testing.T, s *process.Spec) { s.Files = make([]*os.File, 33) }, process.ErrSpec, "at most 32"},
	}
	everywhere(t, func(t *testing.T, r *process.Runner, box process.Sandbox) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := shell(t, "")
				s.Command, s.Program, s.Sandbox = []string{"/opt/hooks/check"}, "/proc/self/fd/3", box
				s.Files = []*os.File{sealed(t, []byte("#!/bin/sh\n"))}
				if c.want == process.ErrTimedOut {
					s.Timeout = 300 * time.Millisecond
				}
				c.change(t, &s)
				got, err := r.Run(t.Context(), s)
				require.ErrorIs(t, err, c.want, "result %+v", got)
				assert.Contains(t, err.Error(), c.says)
				if c.want != process.ErrSpec {
					assert.NotContains(t, err.Error(), "fd/3", "people know it by its name")
				}
			})
		}
	})
}
