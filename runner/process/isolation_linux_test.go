package process_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// TestOthersAreLeftAlone has runs with leftovers end beside a run that goes on
// and a child that no runner started.
func TestOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	confinements(t, func(t *testing.T, r *process.Runner) {
		bystander := exec.Command("/bin/sh", "-c", "read x; exit 7")
		stdin, err := bystander.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, bystander.Start())

		s := shell(t, `mkfifo go; touch up; sleep 3600 & setsid sh -c 'read x <go; echo from a session of its own'`)
		type outcome struct {
			result process.Result
			err    error
		}
		done := make(chan outcome, 1)
		go func() {
			result, err := r.Run(t.Context(), s)
			done <- outcome{result, err}
		}()
		require.Eventually(t, func() bool { _, err := os.Stat(s.Dir + "/up"); return err == nil }, 20*time.Second, time.Millisecond)
		for range 10 {
			_, err := r.Run(t.Context(), shell(t, "sleep 3600 & setsid -f sleep 3600; exit 0"))
			require.NoError(t, err)
		}
		require.NoError(t, os.WriteFile(s.Dir+"/go", []byte("now\n"), 0))
		o := <-done
		require.NoError(t, o.err)
		assert.Equal(t, "from a session of its own\n", string(o.result.Stdout.Bytes))

		require.NoError(t, stdin.Close())
		_ = bystander.Wait()
		assert.Equal(t, 7, bystander.ProcessState.ExitCode())
	})
}

func TestNothingIsInherited(t *testing.T) {
	t.Parallel()
	open, err := os.Open(os.DevNull)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, open.Close()) })
	confinements(t, func(t *testing.T, r *process.Runner) {
		s := shell(t, "ls /proc/self/fd; cut -d' ' -f6,7 /proc/self/stat; trap")
		s.Env = []string{"PATH=/usr/bin:/bin", "ONLY=this"}
		got, err := r.Run(t.Context(), s)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(got.Stdout.Bytes)), "\n")
		require.Len(t, lines, 5, "%q", lines)
		assert.Equal(t, []string{"0", "1", "2", "3"}, lines[:4], "the three streams, and the directory that ls reads")
		session, terminal, _ := strings.Cut(lines[4], " ")
		assert.Equal(t, "0", terminal)
		self, err := os.ReadFile("/proc/self/stat")
		require.NoError(t, err)
		assert.NotEqual(t, strings.Fields(string(self))[5], session)

		s.Shell = "tr '\\0' '\\n' </proc/self/environ"
		got, err = r.Run(t.Context(), s)
		require.NoError(t, err)
		var names []string
		for line := range strings.Lines(string(got.Stdout.Bytes)) {
			name, _, _ := strings.Cut(line, "=")
			names = append(names, name)
		}
		assert.Subset(t, []string{"PATH", "ONLY", "GRAPNEL_RUN", "PWD", "OLDPWD", "SHLVL", "_"}, names)
		assert.Contains(t, names, "ONLY")
	})
}
