//go:build unix

package main_test

import (
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStoppedDaemon: a daemon that is stopped takes connections and answers
// nobody. Both programs answer for themselves by their deadline.
func TestStoppedDaemon(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.up()
	d.signal(syscall.SIGSTOP)
	const within = 300 * time.Millisecond
	for _, way := range ways {
		best := patience
		for range 5 { // on a machine that does something else besides
			r := s.hook(way, "PreToolUse", bash("ls"), "--within", "300")
			denied(t, "PreToolUse", r, "grapnel", "300ms")
			if best = min(best, r.took); best < within+250*time.Millisecond {
				break
			}
		}
		assert.Less(t, best, within+250*time.Millisecond, way)
		assert.GreaterOrEqual(t, best, within, way)
		denied(t, "PermissionRequest", s.hook(way, "PermissionRequest", call("PermissionRequest", "Bash", map[string]string{}), "--within", "300"), "300ms")
		for _, event := range []string{"Stop", "PostToolUse"} {
			passed(t, event, s.hook(way, event, happened(event), "--within", "300"))
		}
		// More than the socket holds, so that it cannot even be handed over.
		denied(t, "PreToolUse", s.hook(way, "PreToolUse", bash("ls # "+strings.Repeat("x", 3<<20)), "--within", "300"), "300ms")
		// What the agent itself gives no time for.
		r := s.hook(way, "SessionEnd", happened("SessionEnd"))
		passed(t, "SessionEnd", r)
	}
	// It is not started a second time, and the command line does not hang.
	r := s.run("", "grapnel", "status")
	assert.Equal(t, 4, r.exit, "%s", r)
	assert.Contains(t, r.stderr, "does not answer")
	d.signal(syscall.SIGCONT)
	denied(t, "PreToolUse", s.hook(ways[0], "PreToolUse", bash("rm -rf /")), "delete")
	assert.Equal(t, "green", s.status().Health)
	s.stop(d)
	s.verified()
}

// TestKilledWhileAHookWaits: the daemon dies with the question in its hands. It
// may have begun to act on it, so nothing looser than by class is answered.
func TestKilledWhileAHookWaits(t *testing.T) {
	t.Parallel()
	for way, signals := range map[string][]syscall.Signal{ways[0]: {syscall.SIGKILL, syscall.SIGTERM}, ways[1]: {syscall.SIGKILL}} {
		for _, end := range signals {
			t.Run(way+" "+end.String(), func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				s.configure("start_daemon: false\n")
				d := s.up()
				asked := make(chan struct{}, 2)
				s.decider("silent", func(*nats.Conn, *nats.Msg) { asked <- struct{}{} })
				s.grapnel("roster", "set", "silent", "--filter", "pre_tool_use, session_start")
				require.True(t, poll(func() bool { _, err := os.Stat(s.state("policy.bundle")); return err == nil }), "the policy is kept for later")
				var gate, lifecycle result
				var waiting sync.WaitGroup
				waiting.Go(func() { gate = s.hook(way, "PreToolUse", bash("ls")) })
				waiting.Go(func() { lifecycle = s.hook(way, "SessionStart", happened("SessionStart")) })
				for range 2 {
					select {
					case <-asked:
					case <-time.After(patience):
						require.Fail(t, "nobody was asked")
					}
				}
				d.signal(end)
				waiting.Wait()
				denied(t, "PreToolUse", gate, "grapnel")
				passed(t, "SessionStart", lifecycle)
				code, err := d.exit()
				require.NoError(t, err)
				assert.Equal(t, map[syscall.Signal]int{syscall.SIGKILL: -1, syscall.SIGTERM: 0}[end], code, "%s", d)
				// And now that it is gone, the signed policy decides.
				denied(t, "PreToolUse", s.hook(way, "PreToolUse", bash("rm -rf /")), "delete")
				passed(t, "PreToolUse", s.hook(way, "PreToolUse", bash("ls")))
			})
		}
	}
}

// TestManyHooksWithoutADaemon: they all start one, one of those lives, and all
// are answered by it.
func TestManyHooksWithoutADaemon(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const n = 6
	results := make([]result, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { results[i] = s.hook(ways[i%2], "PreToolUse", bash("rm -rf /")) })
	}
	all.Wait()
	for _, r := range results {
		denied(t, "PreToolUse", r, "delete")
	}
	assert.Len(t, s.records("--kind", "verdict"), n)
	// After a power cut they start it again.
	first := s.running()
	require.NoError(t, syscall.Kill(first, syscall.SIGKILL))
	require.True(t, poll(func() bool {
		conn, err := net.Dial("unix", s.socket())
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}), "the kernel has closed what it had open")
	denied(t, "PreToolUse", s.hook(ways[0], "PreToolUse", bash("rm -rf /")), "delete")
	assert.NotEqual(t, first, s.running())
	assert.Len(t, s.records("--kind", "verdict"), n+1)
	assert.Empty(t, exposed(s.path("state")))
	assert.Empty(t, exposed(s.path("run")))
	// One that a hook of the first round started may still be on its way: it
	// comes up when the one before it is gone.
	require.True(t, poll(func() bool {
		s.run("", "grapnel", "down")
		return len(running(s.dir)) == 0
	}), "none comes up any more")
	s.verified()
}

// TestManyUps: of many that are started at once on one state, one gets ready;
// the others say why they do not.
func TestManyUps(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	daemons := make([]*daemon, 5)
	for i := range daemons {
		daemons[i] = s.start()
	}
	var winner *daemon
	for _, d := range daemons {
		if d.wait() == nil {
			require.Nil(t, winner, "two are ready")
			winner = d
			continue
		}
		code, err := d.exit()
		require.NoError(t, err)
		assert.Equal(t, 1, code, "%s", d)
		_, stderr := d.said()
		assert.Contains(t, stderr, "another grapnel runs on this state directory")
		assert.Contains(t, stderr, "grapnel down")
	}
	require.NotNil(t, winner)
	denied(t, "PreToolUse", s.hook(ways[0], "PreToolUse", bash("rm -rf /")), "delete")
	s.stop(winner)
	s.verified()
}

// TestBrokerGoesAway: without its broker the daemon denies, passes, and says
// so.
func TestBrokerGoesAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	address, broker := s.broker()
	d := s.up("--nats", address)
	denied(t, "PreToolUse", s.hook(ways[0], "PreToolUse", bash("rm -rf /")), "delete")
	broker.kill()
	// Until the daemon has noticed, whom it knows to be heard are all in its
	// own process, and they are.
	require.True(t, poll(func() bool { return s.hook(ways[0], "PreToolUse", bash("ls")).exit == 2 }), "it notices")
	for _, way := range ways {
		denied(t, "PreToolUse", s.hook(way, "PreToolUse", bash("ls")), "grapnel")
		passed(t, "Stop", s.hook(way, "Stop", happened("Stop")))
		passed(t, "PostToolUse", s.hook(way, "PostToolUse", happened("PostToolUse")))
	}
	r := s.run("", "grapnel", "status")
	assert.Equal(t, 4, r.exit, "%s", r)
	s.stop(d)
	s.verified()
}
