//go:build unix

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// patience is how long anything may take that has to happen; it is long,
// because the machine may have a lot else to do.
const patience = 40 * time.Second

// site is one user's machine as far as grapnel sees it: a home, a state, a
// configuration and a runtime directory of its own.
type site struct {
	t   testing.TB
	dir string // short, since socket paths are
	env []string
}

func newSite(t testing.TB) *site {
	t.Helper()
	dir, err := os.MkdirTemp("", "gr")
	require.NoError(t, err)
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	s := &site{t: t, dir: dir, env: environment(dir, filepath.Join(dir, "run"))}
	for _, name := range []string{"home", "run", "state", "config/grapnel", "tmp", "work"} {
		require.NoError(t, os.MkdirAll(s.path(name), 0o700))
	}
	t.Cleanup(func() {
		for _, p := range running(dir) {
			t.Errorf("a process outlived the test: %s", p)
			p.kill()
		}
		if t.Failed() {
			if log, err := os.ReadFile(s.state("daemon.log")); err == nil {
				t.Logf("daemon.log:\n%s", log)
			}
		}
		assert.NoError(t, os.RemoveAll(dir))
	})
	return s
}

// environment is that of every program that is run on a site.
func environment(dir, run string) []string {
	return []string{
		"HOME=" + filepath.Join(dir, "home"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "XDG_RUNTIME_DIR=" + run, "TMPDIR=" + filepath.Join(dir, "tmp"),
		"PATH=" + programs() + ":" + os.Getenv("PATH"), "GOCACHE=" + goCache(),
	}
}

// goCache lets `go build` in a home of its own find what has been built.
func goCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	cache, _ := os.UserCacheDir()
	return filepath.Join(cache, "go-build")
}

func (s *site) path(name string) string  { return filepath.Join(s.dir, filepath.FromSlash(name)) }
func (s *site) state(name string) string { return s.path("state/grapnel/" + name) }
func (s *site) socket() string           { return s.path("run/grapnel/hook.sock") }

// configure writes the configuration file.
func (s *site) configure(text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(s.path("config/grapnel/grapnel.yaml"), []byte(text), 0o600))
}

// command is a program that may take patience at most.
func (s *site) command(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program(name), args...)
	cmd.Dir, cmd.Env = s.path("work"), s.env
	cmd.WaitDelay = time.Second
	return cmd
}

// result is what a program left behind.
type result struct {
	exit           int
	stdout, stderr string
	took           time.Duration
}

func (r result) String() string {
	return fmt.Sprintf("exit %d after %s\nstdout: %.2000s\nstderr: %.2000s", r.exit, r.took, r.stdout, r.stderr)
}

func (s *site) run(stdin, name string, args ...string) result {
	s.t.Helper()
	return finish(s.t, s.command(name, args...), stdin)
}

func finish(t testing.TB, cmd *exec.Cmd, stdin string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	r := result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String(), time.Since(begin)}
	var exit *exec.ExitError
	// A program that answers before it has read everything closes its stdin.
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, syscall.EPIPE) {
		require.NoError(t, err)
	}
	require.Less(t, r.took, patience, "%s hung: %s", cmd, r)
	return r
}

// grapnel runs a command that must succeed, and returns its stdout.
func (s *site) grapnel(args ...string) string {
	s.t.Helper()
	r := s.run("", "grapnel", args...)
	require.Zero(s.t, r.exit, "grapnel %v: %s", args, r)
	return r.stdout
}

// status is the part of `grapnel status --json` that tests look at.
type status struct {
	Health  string   `json:"health"`
	Reasons []string `json:"reasons"`
	Audit   int64    `json:"audit_records"`
}

func (s *site) status() status {
	s.t.Helper()
	r := s.run("", "grapnel", "status", "--json")
	var v status
	require.NoError(s.t, json.Unmarshal([]byte(r.stdout), &v), "%s", r)
	assert.Equal(s.t, map[string]int{"green": 0, "red": 3}[v.Health], r.exit, "%s", r)
	return v
}

// up starts a bus and waits until it says that it is ready.
func (s *site) up(args ...string) *daemon {
	s.t.Helper()
	d := s.start(args...)
	require.NoError(s.t, d.wait())
	return d
}

// start starts a bus; the test's end kills it.
func (s *site) start(args ...string) *daemon {
	s.t.Helper()
	cmd := exec.Command(program("grapnel"), append([]string{"up"}, args...)...)
	cmd.Dir, cmd.Env = s.path("work"), s.env
	d, err := launch(cmd)
	require.NoError(s.t, err)
	s.t.Cleanup(d.kill)
	return d
}

// stop ends a bus as a service manager would.
func (s *site) stop(d *daemon) {
	s.t.Helper()
	d.signal(syscall.SIGTERM)
	code, err := d.exit()
	require.NoError(s.t, err)
	require.Zero(s.t, code, "%s", d)
}

// broker starts a nats-server of its own on deploy/nats, whose users' passwords
// are secret-of-<user>, and returns its URL.
func (s *site) broker() (string, *daemon) {
	s.t.Helper()
	dir := s.path("nats")
	require.NoError(s.t, os.CopyFS(dir, os.DirFS("../../deploy/nats")))
	for _, r := range natsd.Roles() {
		s.env = append(s.env, passwordVariable(r)+"=secret-of-"+string(r))
	}
	cmd := exec.Command(program("nats-server"), "-c", filepath.Join(dir, "grapnel.conf"), "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", dir)
	cmd.Env = append(s.env, "GRAPNEL_NATS_STORE="+s.path("nats/store"))
	d, err := launch(cmd)
	require.NoError(s.t, err)
	s.t.Cleanup(d.kill)
	url := ""
	require.True(s.t, poll(func() bool { url = clientURL(dir); return url != "" }), "%s", d)
	return url, d
}

// running is the process that says that it is the daemon.
func (s *site) running() int {
	s.t.Helper()
	text, err := os.ReadFile(s.state("access.json"))
	require.NoError(s.t, err)
	var a struct {
		PID int `json:"pid"`
	}
	require.NoError(s.t, json.Unmarshal(text, &a))
	require.Positive(s.t, a.PID)
	return a.PID
}
