//go:build unix

package edge_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// socketDir is a short path: a socket's may have about a hundred bytes.
func socketDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "gr")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "run")
}

// serve runs a server until the test ends; stop stops it and waits.
func serve(t testing.TB, b edge.Bus, options *edge.ListenOptions) (path string, stop func()) {
	t.Helper()
	path = filepath.Join(socketDir(t), "hook.sock")
	e := edge.New(b, nil)
	s, err := edge.Listen(path, e, options)
	require.NoError(t, err)
	assert.Equal(t, path, s.Path())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-done)
		e.Close()
	})
	t.Cleanup(stop)
	return path, stop
}

// exchange sends one request over a new connection.
func exchange(t testing.TB, path string, q hookwire.Request) (hookwire.Response, error) {
	t.Helper()
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	defer conn.Close()
	frame, err := hookwire.AppendRequest(nil, q)
	require.NoError(t, err)
	if _, err := conn.Write(frame); err != nil {
		return hookwire.Response{}, err
	}
	return hookwire.ReadResponse(conn)
}

func TestSocket(t *testing.T) {
	t.Parallel()
	b := says(hook.Verdict{Effect: hook.Deny, Reason: "no"})
	path, stop := serve(t, b, nil)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSocket|0o600, info.Mode())
	info, err = os.Lstat(filepath.Dir(path))
	require.NoError(t, err)
	assert.Equal(t, os.ModeDir|0o700, info.Mode())

	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			r, err := exchange(t, path, ask(t, "PreToolUse", nil))
			assert.NoError(t, err)
			mustDeny(t, "PreToolUse", r, "no")
		})
	}
	callers.Wait()

	// The socket gives the bytes that the edge gives without one.
	r, err := exchange(t, path, ask(t, "UserPromptSubmit", nil))
	require.NoError(t, err)
	assert.Equal(t, closing(t, edge.New(b, nil)).Decide(t.Context(), ask(t, "UserPromptSubmit", nil)), r)

	stop()
	assert.NoFileExists(t, path, "the socket goes with the server")
}

func TestListenRefusesAnUnsafePlace(t *testing.T) {
	t.Parallel()
	e := closing(t, edge.New(bus{}, nil))
	listen := func(path string) error {
		s, err := edge.Listen(path, e, nil)
		if err == nil {
			s.Close()
		}
		return err
	}
	dir := socketDir(t)
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.Chmod(dir, 0o755))
	err := listen(dir + "/hook.sock")
	require.ErrorIs(t, err, edge.ErrUnsafe)
	assert.ErrorContains(t, err, "chmod go-rwx")

	link := socketDir(t)
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, os.Symlink(dir, link))
	assert.ErrorIs(t, listen(link+"/hook.sock"), edge.ErrUnsafe, "a symbolic link may be turned")

	require.NoError(t, os.WriteFile(dir+"/hook.sock", []byte("precious"), 0o600))
	assert.ErrorIs(t, listen(dir+"/hook.sock"), edge.ErrUnsafe)
	assert.FileExists(t, dir+"/hook.sock", "what is no socket is not removed")

	assert.ErrorIs(t, listen("hook.sock"), edge.ErrUnsafe)
	err = listen(filepath.Join(dir, strings.Repeat("x", 120)))
	assert.ErrorContains(t, err, "--socket")
	require.NoError(t, listen(filepath.Join(dir, "deep", "er", "hook.sock")), "missing directories are made")
}

func TestListenTakesOverAStaleSocket(t *testing.T) {
	t.Parallel()
	path, stop := serve(t, says(hook.Verdict{}), nil)
	e := closing(t, edge.New(bus{}, nil))
	_, err := edge.Listen(path, e, nil)
	require.ErrorIs(t, err, edge.ErrInUse)
	_, err = exchange(t, path, ask(t, "Stop", nil))
	require.NoError(t, err, "the daemon that is there was not disturbed")
	stop()

	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	dead.Close()
	require.FileExists(t, path)
	s, err := edge.Listen(path, e, nil)
	require.NoError(t, err)

	// A socket that took the place of ours is not removed with ours.
	require.NoError(t, os.Remove(path))
	other, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	defer other.Close()
	s.Close()
	s.Close()
	assert.FileExists(t, path)
	assert.NoError(t, s.Run(t.Context()), "running a closed server returns")
}

func TestBadCallers(t *testing.T) {
	t.Parallel()
	path, _ := serve(t, says(hook.Verdict{Effect: hook.Deny, Reason: "no"}), &edge.ListenOptions{ReadTime: 50 * time.Millisecond, MaxConns: 2})
	frame, err := hookwire.AppendRequest(nil, ask(t, "PreToolUse", nil))
	require.NoError(t, err)
	old := append([]byte(nil), frame...)
	old[4] = 99
	for name, bytes := range map[string][]byte{
		"garbage": []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), "another version": old, "half": frame[:len(frame)/2],
		"huge": append(append([]byte(nil), frame[:8]...), 0xff, 0xff, 0xff, 0xff), "nothing, and stays": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("unix", path)
			require.NoError(t, err)
			defer conn.Close()
			_, err = conn.Write(bytes)
			require.NoError(t, err)
			_, err = hookwire.ReadResponse(conn)
			var refused *hookwire.Refused
			require.ErrorAs(t, err, &refused)
			assert.NotEmpty(t, refused.Reason)
		})
	}
	t.Run("gone at once", func(t *testing.T) {
		t.Parallel()
		for range 20 {
			conn, err := net.Dial("unix", path)
			require.NoError(t, err)
			conn.Close()
		}
	})
	// Beside all of them, others are served.
	for range 10 {
		r, err := exchange(t, path, ask(t, "PreToolUse", nil))
		require.NoError(t, err)
		mustDeny(t, "PreToolUse", r, "no")
	}
}

func TestStopAnswersWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	for name, drains := range map[string]bool{"in time": true, "not in time": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, release := make(chan struct{}), make(chan struct{})
			drain := time.Minute
			if !drains {
				drain = time.Millisecond
			}
			path, stop := serve(t, bus{request: func(ctx context.Context, e hook.Event) (hook.Verdict, error) {
				close(asked)
				select {
				case <-release:
					return hook.Verdict{EventID: e.ID, Effect: hook.Deny, Reason: "decided"}, nil
				case <-ctx.Done():
					return hook.Verdict{}, context.Cause(ctx)
				}
			}}, &edge.ListenOptions{DrainTime: drain})
			answers := make(chan hookwire.Response, 1)
			go func() {
				r, err := exchange(t, path, ask(t, "PreToolUse", nil))
				assert.NoError(t, err)
				answers <- r
			}()
			<-asked
			stopped := make(chan struct{})
			go func() { stop(); close(stopped) }()
			if drains {
				require.Eventually(t, func() bool { _, err := os.Lstat(path); return err != nil }, 5*time.Second, time.Millisecond)
				close(release)
				mustDeny(t, "PreToolUse", <-answers, "decided")
			} else {
				mustDeny(t, "PreToolUse", <-answers, "the daemon is stopping")
			}
			<-stopped
		})
	}
}

func TestCallersWaitForASlot(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var mu sync.Mutex
	now, most := 0, 0
	path, _ := serve(t, bus{request: func(_ context.Context, e hook.Event) (hook.Verdict, error) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		<-release
		mu.Lock()
		now--
		mu.Unlock()
		return hook.Verdict{EventID: e.ID, Effect: hook.Deny, Reason: "no"}, nil
	}}, &edge.ListenOptions{MaxConns: 3})
	var callers sync.WaitGroup
	for range 12 {
		callers.Go(func() {
			r, err := exchange(t, path, ask(t, "PreToolUse", nil))
			assert.NoError(t, err)
			mustDeny(t, "PreToolUse", r, "no")
		})
	}
	require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return now == 3 }, 5*time.Second, time.Millisecond)
	close(release)
	callers.Wait()
	assert.Equal(t, 3, most)
}
