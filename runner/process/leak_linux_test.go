package process_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// holdings are what a process has.
type holdings struct{ threads, confined, files, children int }

func holdingsOf(t testing.TB, pid string) (h holdings) {
	t.Helper()
	files, err := os.ReadDir("/proc/" + pid + "/fd")
	require.NoError(t, err)
	for _, f := range files {
		// What the runtime polls with, it opens at the first use.
		if to, _ := os.Readlink("/proc/" + pid + "/fd/" + f.Name()); !strings.HasPrefix(to, "anon_inode:[event") {
			h.files++
		}
	}
	threads, err := filepath.Glob("/proc/" + pid + "/task/*")
	require.NoError(t, err)
	h.threads = len(threads)
	for _, thread := range threads {
		list, _ := os.ReadFile(thread + "/children") // of one that has ended: none
		status, _ := os.ReadFile(thread + "/status")
		if strings.Contains(string(status), "NoNewPrivs:\t1") {
			h.confined++
		}
		h.children += len(strings.Fields(string(list)))
	}
	return h
}

// TestSandboxedRunsLeaveNothing is not parallel: it counts what this process
// and its supervisors have.
func TestSandboxedRunsLeaveNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	n := nonce(t)
	file := sealed(t, []byte("#!/bin/sh\nsetsid -f sleep "+n+"\n"))
	_, err := process.New(nil).Run(t.Context(), shell(t, "true")) // the runtime opens files of its own at the first use
	require.NoError(t, err)
	for _, namespace := range []bool{false, true} {
		goroutines := goleak.IgnoreCurrent()
		before := resources(t)
		r := process.New(&process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}, Namespace: namespace, Idle: 50, Limit: 50, IdleTime: time.Hour})
		s := shell(t, "")
		s.Command, s.Program, s.Files = []string{"/check"}, "/proc/self/fd/3", []*os.File{file}
		s.Sandbox = process.Sandbox{
			Mode: process.SandboxRequired, ReadOnly: []string{"/usr"}, NoNetwork: true,
			Limits: process.Limits{CPU: hook.Duration(10 * time.Second), OpenFiles: 100},
		}
		var mu sync.Mutex
		supervisors := map[string]int{}
		once := func(ctx context.Context) {
			got, err := r.Run(ctx, s)
			if !assert.NoError(t, err, "stderr %s", got.Stderr.Bytes) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, pid := range children(t) {
				supervisors[pid]++
			}
		}
		for range 10 {
			once(t.Context())
		}
		require.Len(t, supervisors, 1, "one after the other need one")
		var supervisor string
		for supervisor = range supervisors {
		}
		early := holdingsOf(t, supervisor)
		for range 200 {
			once(t.Context())
		}
		require.Len(t, supervisors, 1)
		for range 4 {
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() { once(context.Background()) })
			}
			all.Wait()
		}
		for pid := range supervisors {
			// A thread that was told to end needs a moment.
			assert.Eventually(t, func() bool {
				late := holdingsOf(t, pid)
				return late.files == early.files && late.children == 0 && late.confined == 0 && late.threads <= early.threads+3
			}, 10*time.Second, 10*time.Millisecond, "early %+v, late %+v", early, holdingsOf(t, pid))
		}
		assert.Empty(t, living(t, n))
		require.NoError(t, r.Close())
		assert.Equal(t, before, resources(t))
		assert.NoError(t, goleak.Find(goroutines))
		left, err := filepath.Glob(filepath.Join(os.TempDir(), "grapnel-run-*"))
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}

// children lists this process's living children.
func children(t testing.TB) (list []string) {
	t.Helper()
	for _, path := range mustGlob(t, "/proc/self/task/*/children") {
		b, _ := os.ReadFile(path) // of a thread that has ended: none
		list = append(list, strings.Fields(string(b))...)
	}
	return list
}

func mustGlob(t testing.TB, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	require.NoError(t, err)
	return list
}
