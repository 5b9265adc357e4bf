//go:build unix

package main_test

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// registered is the command line that the installer wrote for an event.
func (s *site) registered(event string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.path("home/.claude/settings.json"))
	require.NoError(s.t, err)
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string `json:"command"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	require.NoError(s.t, json.Unmarshal(text, &settings))
	require.NotEmpty(s.t, settings.Hooks[event])
	return settings.Hooks[event][0].Hooks[0].Command
}

// agent runs a registered command as Claude Code does.
func (s *site) agent(event, stdin string, environment ...string) result {
	s.t.Helper()
	cmd := s.command("grapnel-hook")
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", s.registered(event)}
	cmd.Env = append(append([]string(nil), s.env...), environment...)
	return finish(s.t, cmd, stdin)
}

// TestNoVariableMovesTheBus: a workspace may set the agent's variables. Those
// cannot send the hooks that the installer wrote to somebody else's daemon,
// state or configuration.
func TestNoVariableMovesTheBus(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.configure("start_daemon: false\n")
	s.grapnel("install", "claude-code")
	// An impostor that has no objection to anything.
	fake := s.path("fake/grapnel/hook.sock")
	require.NoError(t, os.MkdirAll(filepath.Dir(fake), 0o700))
	listener, err := net.Listen("unix", fake)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(fake, 0o600))
	var serving sync.WaitGroup
	t.Cleanup(func() { listener.Close(); serving.Wait() })
	var mu sync.Mutex
	asked := 0
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := hookwire.ReadRequest(conn); err == nil {
				mu.Lock()
				asked++
				mu.Unlock()
				if frame, err := hookwire.AppendResponse(nil, hookwire.Response{Stdout: []byte("{}\n")}); err == nil {
					_, _ = conn.Write(frame)
				}
			}
			conn.Close()
		}
	})
	lenient := s.path("lenient.yaml")
	require.NoError(t, os.WriteFile(lenient, []byte("policy: {default: false}\naudit: {on_failure: ignore}\n"), 0o600))
	variables := []string{
		"GRAPNEL_SOCKET=" + fake, "XDG_RUNTIME_DIR=" + s.path("fake"), "XDG_STATE_HOME=" + s.path("fake"), "HOME=" + s.path("fake"),
		"GRAPNEL_STATE=" + s.path("fake/grapnel"), "GRAPNEL_CONFIG=" + lenient, "XDG_CONFIG_HOME=" + s.path("fake"),
		"GRAPNEL=off", "GRAPNEL_DISABLE=1", "GRAPNEL_SKIP=1", "NO_GRAPNEL=1",
	}
	for _, mode := range []string{"with a daemon", "without"} {
		var d *daemon
		if mode == "with a daemon" {
			d = s.up()
		}
		for _, variable := range variables {
			denied(t, "PreToolUse", s.agent("PreToolUse", bash("rm -rf /"), variable))
		}
		denied(t, "PreToolUse", s.agent("PreToolUse", bash("rm -rf /"), variables...))
		if d != nil {
			assert.Len(t, s.records(), len(variables)+1, "the installed hooks reach the daemon")
			s.stop(d)
		}
	}
	assert.Zero(t, asked, "the impostor was asked")
	// It would have been, by a hook that nobody told where the bus is.
	s.env = append(s.env, "GRAPNEL_SOCKET="+fake)
	passed(t, "PreToolUse", s.hook(ways[0], "PreToolUse", bash("rm -rf /")))
	assert.Equal(t, 1, asked)
}

// TestDaemonOfAHook: a daemon that a hook started has nothing of the agent's:
// not its tokens, not its terminal, not its streams, not its directory.
func TestDaemonOfAHook(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.env = append(s.env, "ANTHROPIC_API_KEY=sk-secret-of-the-agent", "AWS_SECRET_ACCESS_KEY=secret-of-the-agent")
	denied(t, "PreToolUse", s.hook(ways[0], "PreToolUse", bash("rm -rf /")), "delete")
	pid := s.running()
	if environment, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ")); err == nil {
		assert.Contains(t, string(environment), "HOME=")
		assert.NotContains(t, string(environment), "secret-of-the-agent")
	}
	if dir, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd")); err == nil {
		assert.Equal(t, "/", dir)
	}
	session, err := unix.Getsid(pid)
	require.NoError(t, err)
	assert.Equal(t, pid, session, "a session of its own")
	assert.Empty(t, holding(s.path("state"), "secret-of-the-agent"))
	s.grapnel("down")
}
