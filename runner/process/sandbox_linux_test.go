package process_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// sandboxed runs a test with supervisors of both kinds, which sandboxed runs
// do not tell apart.
func sandboxed(t *testing.T, test func(t *testing.T, r *process.Runner)) {
	t.Helper()
	for name, namespace := range map[string]bool{"supervised": false, "namespace": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}, Namespace: namespace})
			t.Cleanup(func() { require.NoError(t, r.Close()) })
			test(t, r)
		})
	}
}

// run runs a sandboxed shell text and returns its lines.
func run(t *testing.T, r *process.Runner, s process.Spec) ([]string, process.Result) {
	t.Helper()
	got, err := r.Run(t.Context(), s)
	require.NoError(t, err, "stderr %s", got.Stderr.Bytes)
	return strings.Split(strings.TrimSpace(string(got.Stdout.Bytes)), "\n"), got
}

func TestClosedFileSystem(t *testing.T) {
	t.Parallel()
	sandboxed(t, func(t *testing.T, r *process.Runner) {
		home, work, cache := t.TempDir(), t.TempDir(), t.TempDir()
		secret := filepath.Join(home, "secret")
		require.NoError(t, os.WriteFile(secret, []byte("key"), 0o600))
		require.NoError(t, os.WriteFile(work+"/source", []byte("text"), 0o600))
		require.NoError(t, os.WriteFile(work+"/tool", []byte("#!/bin/sh\necho tool\n"), 0o700))
		s := shell(t, `
			try() { if ( eval "$2" ) 2>err; then echo "$1 done"; elif grep -q -e 'ermission denied' -e 'not permitted' -e 'cross-device link' err; then echo "$1 refused"; else echo "$1 failed: $(cat err)"; fi; }
			cd "$CACHE"
			try "read of a secret" 'cat "$SECRET"'
			try "list of home" 'ls "$HOME"'
			try "write to home" ': >"$HOME/new"'
			try "append to a secret" 'echo x >>"$SECRET"'
			try "truncate a secret" 'truncate -s 0 "$SECRET"'
			try "remove a secret" 'rm -f "$SECRET"'
			try "write to the working directory" ': >"$WORK/new"'
			try "change in the working directory" 'echo x >>"$WORK/source"'
			try "move out of the working directory" 'mv "$WORK/source" "$CACHE/source"'
			try "link to a secret" 'ln "$SECRET" "$CACHE/hard"'
			try "through a symbolic link" 'ln -sf "$SECRET" soft; cat soft'
			try "through the file system of its parent" 'cat /proc/$PPID/root"$SECRET"'
			try "environment of its parent" 'cat /proc/$PPID/environ'
			try "write to /tmp" ': >/tmp/grapnel-test-new'
			try "write to /etc" ': >/etc/grapnel-test-new'
			try "make a device" 'mknod dev b 8 0'
			try "read of the working directory" 'grep -q text "$WORK/source"'
			try "tool in the working directory" '"$WORK/tool"'
			try "write to the cache" 'echo x >file && mkdir dir && mv file dir && cat dir/file && rm -r dir'
			try "temporary file" 'f=$(mktemp) && echo x >"$f" && cat "$f"'
			try "devices" 'head -c 1 /dev/urandom >/dev/null'
			try "streams by name" 'echo x >/dev/stdout'
			try "usual tools" 'sort /etc/passwd | awk -F: "{print \$1}" | sed -n 1p'
			echo "$TMPDIR"; stat -c %a "$TMPDIR"`)
		s.Dir = work
		s.Env = append(s.Env, "HOME="+home, "SECRET="+secret, "WORK="+work, "CACHE="+cache)
		s.Sandbox = process.Sandbox{Mode: process.SandboxRequired, ReadWrite: []string{cache}}
		lines, got := run(t, r, s)
		var verdicts []string
		for _, line := range lines {
			if strings.HasSuffix(line, " done") || strings.HasSuffix(line, " refused") || strings.Contains(line, " failed") {
				verdicts = append(verdicts, line)
			}
		}
		assert.Equal(t, []string{
			"read of a secret refused", "list of home refused", "write to home refused", "append to a secret refused",
			"truncate a secret refused", "remove a secret refused", "write to the working directory refused",
			"change in the working directory refused", "move out of the working directory refused", "link to a secret refused",
			"through a symbolic link refused", "through the file system of its parent refused", "environment of its parent refused",
			"write to /tmp refused", "write to /etc refused", "make a device refused",
			"read of the working directory done", "tool in the working directory done", "write to the cache done",
			"temporary file done", "devices done", "streams by name done", "usual tools done",
		}, verdicts, "stdout %s stderr %s", got.Stdout.Bytes, got.Stderr.Bytes)
		b, err := os.ReadFile(secret)
		require.NoError(t, err)
		assert.Equal(t, "key", string(b))
		require.Equal(t, "700", lines[len(lines)-1])
		assert.NoDirExists(t, lines[len(lines)-2], "temporary files are gone after the run")
		assert.Equal(t, process.Namespace, got.Confinement)
		e := got.Sandbox
		assert.True(t, e.NoNewPrivileges && e.PIDNamespace && e.Files && !e.Network, "%+v", e)
		assert.Positive(t, e.Landlock)
		assert.Empty(t, e.Missing)
	})
}

func TestTemporaryFilesAreRemovedWhateverTheirModes(t *testing.T) {
	t.Parallel()
	sandboxed(t, func(t *testing.T, r *process.Runner) {
		s := shell(t, `echo "$TMPDIR"; cd "$TMPDIR"; mkdir -p a/b; echo x >a/b/c; ln -s /etc link; chmod 0 a/b/c a/b a`)
		s.Sandbox = process.Sandbox{Mode: process.SandboxRequired, ReadOnly: []string{"/usr"}}
		lines, _ := run(t, r, s)
		assert.NoDirExists(t, lines[0])
		assert.FileExists(t, "/etc/passwd")
	})
}

// TestLinksAreNotFollowed has a command put a link where the next run's
// sandbox is to be open.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	sandboxed(t, func(t *testing.T, r *process.Runner) {
		home, cache := t.TempDir(), t.TempDir()
		require.NoError(t, os.WriteFile(home+"/secret", []byte("key"), 0o600))
		require.NoError(t, os.Mkdir(cache+"/sub", 0o700))
		box := process.Sandbox{Mode: process.SandboxBestEffort, ReadWrite: []string{cache, cache + "/sub"}}
		s := shell(t, "rmdir "+cache+"/sub && ln -s "+home+" "+cache+"/sub")
		s.Sandbox = box
		_, got := run(t, r, s)
		require.Empty(t, got.Sandbox.Missing)

		s = shell(t, "cat "+cache+"/sub/secret || echo refused")
		s.Sandbox = box
		lines, got := run(t, r, s)
		assert.Equal(t, []string{"refused"}, lines)
		require.Len(t, got.Sandbox.Missing, 1)
		assert.Contains(t, got.Sandbox.Missing[0], "symbolic link")
		assert.Contains(t, got.Sandbox.String(), cache+"/sub")

		s.Sandbox.Mode = process.SandboxRequired
		got, err := r.Run(t.Context(), s)
		require.ErrorIs(t, err, process.ErrSandbox)
		assert.Empty(t, got.Stdout.Bytes)

		linked := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(home, linked))
		s = shell(t, "cat secret || echo refused")
		s.Dir, s.Sandbox = linked, process.Sandbox{Mode: process.SandboxBestEffort, ReadOnly: []string{cache}}
		lines, got = run(t, r, s)
		assert.Equal(t, []string{"refused"}, lines)
		assert.Contains(t, got.Sandbox.String(), "working directory")
	})
}

func TestMissingPaths(t *testing.T) {
	t.Parallel()
	sandboxed(t, func(t *testing.T, r *process.Runner) {
		s := shell(t, "touch "+t.TempDir()+"/ran; echo ran")
		s.Sandbox = process.Sandbox{Mode: process.SandboxBestEffort, ReadOnly: []string{"/no/such/directory"}}
		lines, got := run(t, r, s)
		assert.Equal(t, []string{"ran"}, lines)
		require.Len(t, got.Sandbox.Missing, 1)
		assert.Contains(t, got.Sandbox.Missing[0], "/no/such/directory")

		dir := t.TempDir()
		s.Shell = "touch " + dir + "/ran"
		s.Sandbox = process.Sandbox{Mode: process.SandboxRequired, ReadWrite: []string{dir, "/no/such/directory"}}
		got, err := r.Run(t.Context(), s)
		require.ErrorIs(t, err, process.ErrSandbox)
		assert.ErrorContains(t, err, "/no/such/directory")
		assert.NoFileExists(t, dir+"/ran", "nothing is run")
		assert.True(t, got.Started.IsZero())
		assert.NotEmpty(t, got.Sandbox.Missing, "the record says why")

		s.Sandbox.ReadWrite = []string{dir}
		_, err = r.Run(t.Context(), s)
		require.NoError(t, err, "the supervisor goes on after a refusal")
		assert.FileExists(t, dir+"/ran")
	})
}

// TestPrivileges looks at what the kernel says of a sandboxed command.
func TestPrivileges(t *testing.T) {
	t.Parallel()
	sandboxed(t, func(t *testing.T, r *process.Runner) {
		s := shell(t, "grep -e NoNewPrivs -e CapEff -e CapPrm -e CapAmb /proc/self/status")
		s.Sandbox = process.Sandbox{Mode: process.SandboxRequired}
		lines, _ := run(t, r, s)
		require.Len(t, lines, 4)
		for _, line := range lines {
			name, value, _ := strings.Cut(line, ":\t")
			n, err := strconv.ParseUint(value, 16, 64)
			require.NoError(t, err)
			if name == "NoNewPrivs" {
				assert.EqualValues(t, 1, n)
			} else {
				assert.Zero(t, n&^uint64(0b11011), "%s: only root's power over files, CAP_CHOWN, DAC_OVERRIDE, FOWNER, FSETID", line)
			}
		}
		s.Sandbox = process.Sandbox{}
		lines, got := run(t, r, s)
		assert.Contains(t, lines, "NoNewPrivs:\t0", "without a sandbox nothing changes, on the same runner")
		assert.Equal(t, process.Enforced{}, got.Sandbox)
		assert.Equal(t, "off", got.Sandbox.String())
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	second := hook.Duration(time.Second)
	cases := map[string]struct {
		limits process.Limits
		text   string
		want   string
		signal string
		raise  string
	}{
		"file_size":  {process.Limits{FileSize: 64 << 10}, "head -c 200000 /dev/zero >file; stat -c %s file", "65536", "", "ulimit -f unlimited"},
		"memory":     {process.Limits{Memory: 100 << 20}, "dd if=/dev/zero of=/dev/null bs=300M count=1 2>/dev/null || echo refused", "refused", "", "ulimit -v unlimited"},
		"open_files": {process.Limits{OpenFiles: 8}, "(exec 3</dev/null 4</dev/null 5</dev/null 6</dev/null 7</dev/null; exec cat /dev/null) 2>/dev/null || echo refused; ulimit -Hn", "refused\n8", "", "ulimit -n 64"},
		"cpu":        {process.Limits{CPU: second / 2}, "while :; do :; done", "", "SIGXCPU", "ulimit -t unlimited"},
	}
	sandboxed(t, func(t *testing.T, r *process.Runner) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := shell(t, c.text)
				s.Sandbox = process.Sandbox{Mode: process.SandboxRequired, Limits: c.limits}
				got, err := r.Run(t.Context(), s)
				if c.signal == "" {
					require.NoError(t, err, "stderr %s", got.Stderr.Bytes)
				} else {
					require.ErrorIs(t, err, process.ErrSignal)
				}
				assert.Equal(t, c.signal, got.Signal)
				assert.Equal(t, c.want, strings.TrimSpace(string(got.Stdout.Bytes)))
				assert.Equal(t, []string{name}, got.Sandbox.Limits)

				s.Shell = c.raise + " 2>/dev/null || echo refused"
				lines, _ := run(t, r, s)
				assert.Equal(t, []string{"refused"}, lines, "it cannot raise its limit")
			})
		}
		t.Run("cpu, signal ignored", func(t *testing.T) {
			t.Parallel()
			s := shell(t, "trap '' XCPU; while :; do :; done")
			s.Sandbox = process.Sandbox{Mode: process.SandboxRequired, Limits: process.Limits{CPU: second}}
			got, err := r.Run(t.Context(), s)
			require.ErrorIs(t, err, process.ErrSignal)
			assert.Equal(t, "SIGKILL", got.Signal)
		})
		t.Run("all", func(t *testing.T) {
			t.Parallel()
			s := shell(t, "ulimit -Ht; ulimit -St; ulimit -Hv; ulimit -Hn; exit 7")
			s.Sandbox = process.Sandbox{Mode: process.SandboxRequired, Limits: process.Limits{CPU: 3 * second, Memory: 1 << 30, FileSize: 1 << 20, OpenFiles: 50}}
			got, err := r.Run(t.Context(), s)
			require.NoError(t, err)
			assert.Equal(t, 7, got.ExitCode)
			assert.Equal(t, "4\n3\n1048576\n50\n", string(got.Stdout.Bytes))
			assert.Equal(t, []string{"cpu", "memory", "file_size", "open_files"}, got.Sandbox.Limits)
		})
	})
}

func TestNoNetwork(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	abstract, err := net.Listen("unix", "@grapnel-test-"+nonce(t))
	require.NoError(t, err)
	t.Cleanup(func() { abstract.Close() })
	sandboxed(t, func(t *testing.T, r *process.Runner) {
		for _, c := range []struct{ what, network, address string }{
			{"dial", "tcp", listener.Addr().String()}, {"listen", "tcp4", "127.0.0.1:0"}, {"dial", "unix", abstract.Addr().String()},
		} {
			s := shell(t, "")
			s.Shell, s.Command = "", []string{self, c.what, c.network, c.address}
			s.Sandbox = process.Sandbox{Mode: process.SandboxRequired}
			lines, got := run(t, r, s)
			assert.Equal(t, []string{"done"}, lines, "%v: the network is open unless it is closed", c)
			assert.False(t, got.Sandbox.Network)
			s.Sandbox.NoNetwork = true
			lines, got = run(t, r, s)
			assert.Equal(t, []string{"refused"}, lines, "%v", c)
			assert.True(t, got.Sandbox.Network)
		}
	})
}

func TestSandboxWithoutSupervisor(t *testing.T) {
	t.Parallel()
	r := process.New(nil)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	s := shell(t, "echo ran")
	s.Sandbox.Mode = process.SandboxBestEffort
	lines, got := run(t, r, s)
	assert.Equal(t, []string{"ran"}, lines)
	assert.Contains(t, got.Sandbox.String(), "best-effort: nothing is on; missing: all of it")
	s.Sandbox.Mode = process.SandboxRequired
	got, err := r.Run(t.Context(), s)
	require.ErrorIs(t, err, process.ErrSandbox)
	assert.Empty(t, got.Stdout.Bytes)
	assert.Contains(t, got.Sandbox.String(), "required: nothing is on")
}

func TestSandboxesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for says, box := range map[string]process.Sandbox{
		"no mode":        {NoNetwork: true},
		"there is no":    {Mode: "requird"},
		"absolute":       {Mode: process.SandboxRequired, ReadOnly: []string{"usr"}},
		"NUL":            {Mode: process.SandboxRequired, ReadWrite: []string{"/a\x00"}},
		"negative":       {Mode: process.SandboxRequired, Limits: process.Limits{Memory: -1}},
		"at most":        {Mode: process.SandboxRequired, ReadOnly: make([]string, 300)},
		"it has no mode": {Limits: process.Limits{CPU: 1}},
	} {
		require.ErrorIs(t, box.Check(), process.ErrSpec)
		assert.ErrorContains(t, box.Check(), says)
		s := shell(t, "true")
		s.Sandbox = box
		_, err := process.New(nil).Run(t.Context(), s)
		require.ErrorIs(t, err, process.ErrSpec)
	}
	assert.NoError(t, process.Sandbox{Mode: process.SandboxOff, NoNetwork: true}.Check())
}

func TestSandboxInConfigurations(t *testing.T) {
	t.Parallel()
	full := process.Sandbox{
		Mode: process.SandboxRequired, ReadOnly: []string{"/usr"}, ReadWrite: []string{"/var/cache/x"}, NoNetwork: true,
		Limits: process.Limits{CPU: hook.Duration(10 * time.Second), Memory: 1 << 30, FileSize: 1 << 20, OpenFiles: 64, Processes: 100},
	}
	for text, want := range map[string]process.Sandbox{
		`{"sandbox":"best-effort"}`: {Mode: process.SandboxBestEffort},
		`{"sandbox":{"mode":"required","read_only":["/usr"],"read_write":["/var/cache/x"],"no_network":true,
			"limits":{"cpu":"10s","memory":1073741824,"file_size":1048576,"open_files":64,"processes":100}}}`: full,
		`{}`: {},
	} {
		var c struct {
			Sandbox process.Sandbox `json:"sandbox" yaml:"sandbox"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &c), text)
		assert.Equal(t, want, c.Sandbox)
		c.Sandbox = process.Sandbox{}
		require.NoError(t, yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()), text) // JSON is YAML
		assert.Equal(t, want, c.Sandbox, text)

		written, err := yaml.Marshal(c)
		require.NoError(t, err)
		c.Sandbox = process.Sandbox{}
		require.NoError(t, yaml.UnmarshalWithOptions(written, &c, yaml.Strict()), "%s", written)
		assert.Equal(t, want, c.Sandbox, "%s", written)
	}
	for _, text := range []string{`{"sandbox":{"mod":"required"}}`, `{"sandbox":{"limits":{"cpus":"1s"}}}`, `{"sandbox":[1]}`, `{"sandbox":{"mode":"off","mode":"required"}}`} {
		var c struct {
			Sandbox process.Sandbox `json:"sandbox" yaml:"sandbox"`
		}
		assert.Error(t, json.Unmarshal([]byte(text), &c), text)
		assert.Error(t, yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()), text)
	}
}

func ExampleEnforced() {
	fmt.Println(process.Enforced{
		Mode: process.SandboxBestEffort, NoNewPrivileges: true, PIDNamespace: true, Landlock: 3, Files: true, Limits: []string{"cpu"},
		Missing: []string{"network: Landlock of this kernel has version 3, 4 is needed"},
	})
	// Output: best-effort: no_new_privileges, pid_namespace, landlock 3 (files), limits (cpu); missing: network: Landlock of this kernel has version 3, 4 is needed
}
