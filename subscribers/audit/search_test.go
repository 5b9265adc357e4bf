package audit_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

func find(t testing.TB, r *audit.Reader, f audit.Filter) []int64 {
	t.Helper()
	list := []int64{}
	for rec, err := range r.Search(context.Background(), f) {
		require.NoError(t, err)
		list = append(list, rec.Index)
	}
	return list
}

func TestSearch(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, &audit.Options{NoIndex: true})
	appendN(t, l, 0, 10)
	odd := record(10)
	odd.Event.Subject, odd.Event.Name, odd.Event.Data.Native.Agent = "Write", hook.PostToolUse, "codex"
	odd.Event.Data.Tool.Input = []byte(`{"command":"say \"Hello\" to C:\\dir"}`)
	odd.Kind, odd.Verdict = hook.RecordNotification, nil
	_, err := l.Append(context.Background(), odd)
	require.NoError(t, err)
	r := reader(t, dir)

	assert.Equal(t, []int64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, find(t, r, audit.Filter{}))
	assert.Equal(t, []int64{0, 1, 2}, find(t, r, audit.Filter{OldestFirst: true, Limit: 3}))
	assert.Equal(t, []int64{7, 4, 1}, find(t, r, audit.Filter{Session: "session-1", Kind: hook.RecordVerdict}))
	assert.Equal(t, []int64{8, 3}, find(t, r, audit.Filter{Effect: "deny"}))
	assert.Equal(t, []int64{10}, find(t, r, audit.Filter{Agent: "codex"}))
	assert.Equal(t, []int64{10}, find(t, r, audit.Filter{Tool: "write"}))
	assert.Equal(t, []int64{10}, find(t, r, audit.Filter{Event: "post_tool_use"}))
	assert.Equal(t, []int64{5}, find(t, r, audit.Filter{EventID: "event-5"}))
	assert.Equal(t, []int64{10}, find(t, r, audit.Filter{Text: `say "hello"`}))
	assert.Equal(t, []int64{10}, find(t, r, audit.Filter{Text: `C:\dir`}))
	assert.Equal(t, []int64{7}, find(t, r, audit.Filter{Text: "ECHO 7"}))
	assert.Empty(t, find(t, r, audit.Filter{Text: "nothing of the kind"}))
	five, err := r.Record(5)
	require.NoError(t, err)
	assert.Equal(t, []int64{4, 3, 2, 1, 0}, find(t, r, audit.Filter{Until: five.Logged}))
	assert.Equal(t, []int64{10, 9, 8, 7, 6, 5}, find(t, r, audit.Filter{Since: five.Logged}))

	// A redacted record is found by what its envelope says, not by its text.
	_, err = l.Redact(context.Background(), 7, "me", "it was private")
	require.NoError(t, err)
	assert.Empty(t, find(t, r, audit.Filter{Text: "echo 7"}))
	assert.Equal(t, []int64{7}, find(t, r, audit.Filter{EventID: "event-7"}))
	assert.Equal(t, []int64{11}, find(t, r, audit.Filter{Text: "it was private"}))

	s, err := r.Stats(context.Background(), time.Time{})
	require.NoError(t, err)
	assert.EqualValues(t, 12, s.Records)
	assert.Equal(t, map[string]int64{"verdict": 10, "notification": 1, "redaction": 1}, s.Kinds)
	assert.Equal(t, map[string]int64{"abstain": 2, "allow": 2, "ask": 2, "deny": 2, "halt": 2}, s.Effects)
	assert.Equal(t, map[string]int64{"Bash": 10, "Write": 1}, s.Tools)
	assert.True(t, s.First.Before(s.Last))
}

func TestIndexCanBeLost(t *testing.T) {
	t.Parallel()
	s := newSample(t, 150, 64<<10)
	path := filepath.Join(s.dir, "index.sqlite")
	want := find(t, reader(t, s.dir), audit.Filter{Effect: "halt"})
	require.Len(t, want, 30)
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Zero(t, info.Mode().Perm()&0o077, "the index is for its owner")
	}
	spoil := map[string]func(){
		"gone":    func() { require.NoError(t, os.Remove(path)) },
		"garbage": func() { require.NoError(t, os.WriteFile(path, []byte("this is no database, not at all"), 0o600)) },
		"another log's": func() {
			o := newSample(t, 160, 64<<10)
			find(t, reader(t, o.dir), audit.Filter{})
			b, err := os.ReadFile(filepath.Join(o.dir, "index.sqlite"))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, b, 0o600))
		},
	}
	for what, f := range spoil {
		os.Remove(path + "-wal")
		os.Remove(path + "-shm")
		f()
		r, err := audit.OpenReader(s.dir)
		require.NoError(t, err)
		assert.Equal(t, want, find(t, r, audit.Filter{Effect: "halt"}), what)
		require.NoError(t, r.Close())
	}
}

func TestManyIndexAtOnce(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, nil)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			r, err := audit.OpenReader(dir)
			if !assert.NoError(t, err) {
				return
			}
			for range 5 {
				n, err := r.Len()
				assert.NoError(t, err)
				got := 0
				for _, err := range r.Search(context.Background(), audit.Filter{}) {
					assert.NoError(t, err)
					got++
				}
				assert.GreaterOrEqual(t, got, int(n), "a search sees all that was there when it began")
			}
			assert.NoError(t, r.Close())
		})
	}
	appendN(t, l, 0, 200)
	all.Wait()
	assert.Len(t, find(t, reader(t, dir), audit.Filter{}), 200)
}
