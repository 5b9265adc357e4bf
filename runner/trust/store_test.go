//go:build unix

package trust_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/runner/trust"
)

func (w *world) state(d trust.Definition) trust.State {
	w.t.Helper()
	s, err := w.store.Check(w.measure(d))
	require.NoError(w.t, err)
	return s
}

func (w *world) storePath() string {
	return filepath.Join(filepath.Dir(w.dir), "state", "approvals.json")
}

func TestD3SourcesAndApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a.sh", "#!/bin/sh\n")
	for i, source := range trust.Sources() {
		assert.Equal(t, i, source.Order())
		d := w.command("./a.sh")
		d.Source = source
		want := trust.New
		switch source {
		case trust.Builtin, trust.Managed, trust.User, trust.Session:
			want = trust.Trusted
			assert.True(t, source.Loosens())
		default:
			assert.False(t, source.Loosens())
		}
		assert.Equal(t, want, w.state(d), source)
		assert.Equal(t, want == trust.New, source.NeedsApproval(false), source)
		assert.Equal(t, want == trust.New && source != trust.Workspace, source.NeedsApproval(true), source)
	}
	stranger := trust.Source("friend")
	assert.True(t, stranger.NeedsApproval(true))
	assert.False(t, stranger.Loosens())
	assert.False(t, stranger.Known())
	assert.Equal(t, len(trust.Sources()), stranger.Order())
}

func TestD4ApprovalsAreKeptCheckedListedRemovedAndCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a.sh", "#!/bin/sh\necho 1\n")
	w.write("lib.sh", "one")
	d := w.hook(trust.Definition{Command: []string{"./a.sh"}, Files: []string{"lib.sh"}})
	other := d
	other.ID = "hook-2"

	assert.Equal(t, trust.New, w.state(d))
	w.approve(d)
	assert.Equal(t, trust.Approved, w.state(d))
	assert.True(t, w.state(d).Runs())
	assert.Equal(t, trust.New, w.state(other), "an approval is for one hook")

	w.write("lib.sh", "two")
	assert.Equal(t, trust.Changed, w.state(d), "a declared file")
	w.write("lib.sh", "one")
	assert.Equal(t, trust.Approved, w.state(d))
	w.write("a.sh", "#!/bin/sh -e\necho 2\n")
	assert.Equal(t, trust.Changed, w.state(d))
	a, ok, err := w.store.Find(d)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, "mia", a.By)
	assert.Equal(t, anyTime(), a.At)
	var changes []string
	for _, c := range a.Diff(w.measure(d)) {
		changes = append(changes, c.String())
	}
	assert.Equal(t, []string{"modified script ./a.sh (" + filepath.Join(w.dir, "a.sh") + ")"}, changes)

	w.approve(d)
	assert.Equal(t, trust.Approved, w.state(d))
	w.write("a.sh", "#!/bin/sh\necho 1\n")
	assert.Equal(t, trust.Changed, w.state(d), "nobody goes back to an earlier approval")

	require.NoError(t, w.store.Refuse(w.measure(other), "joe", anyTime()))
	assert.Equal(t, trust.Refused, w.state(other))
	assert.False(t, w.state(other).Runs())

	second, err := trust.Open(w.storePath())
	require.NoError(t, err)
	list, err := second.List()
	require.NoError(t, err)
	require.NoError(t, second.Close())
	require.Len(t, list, 2)
	assert.Equal(t, "hook-1", list[0].ID)
	assert.True(t, list[1].Refused)

	_, err = w.store.Remove(trust.Selector{})
	require.ErrorIs(t, err, trust.ErrSelector)
	for _, digest := range []string{"0", "1234567", "hook-1-of-all", strings.Repeat("0", 65)} {
		_, err = w.store.Remove(trust.Selector{Digest: digest})
		require.ErrorIs(t, err, trust.ErrSelector, digest)
	}
	n, err := w.store.Remove(trust.Selector{ID: "hook-2", Digest: list[1].Digest.String()[:8]})
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.Equal(t, trust.New, w.state(other))
	require.NoError(t, w.store.Clear())
	assert.Equal(t, trust.New, w.state(d))
	list, err = w.store.List()
	require.NoError(t, err)
	assert.Empty(t, list)
}

func TestDiffSaysWhatCameAndWent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a.sh", "#!/bin/sh\n")
	w.write("b.sh", "#!/bin/sh\n")
	w.approve(w.shell("./a.sh; sh a.sh"))
	a, _, err := w.store.Find(w.shell(""))
	require.NoError(t, err)
	var changes []string
	for _, c := range a.Diff(w.measure(w.shell("./b.sh; sh a.sh"))) {
		changes = append(changes, string(c.Kind)+" "+string(c.Is.Role+c.Was.Role)+" "+c.Is.Name+c.Was.Name)
	}
	assert.Equal(t, []string{"modified definitiondefinition hook-1hook-1", "added script ./b.sh", "removed script ./a.sh"}, changes)
}

func TestStoreIsPrivateAndLasting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a.sh", "#!/bin/sh\n")
	w.approve(w.command("./a.sh"))
	info, err := os.Stat(w.storePath())
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	info, err = os.Stat(filepath.Dir(w.storePath()))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Dir(w.storePath()))
	require.NoError(t, err)
	assert.Len(t, entries, 2, "the file and its lock")

	open := filepath.Join(t.TempDir(), "open")
	require.NoError(t, os.Mkdir(open, 0o755))
	require.NoError(t, os.Chmod(open, 0o777))
	_, err = trust.Open(filepath.Join(open, "approvals.json"))
	require.ErrorIs(t, err, trust.ErrStore)
	_, err = trust.Open("approvals.json")
	require.ErrorIs(t, err, trust.ErrStore)
}

// TestATamperedStoreApprovesNothing damages the file in many ways.
func TestATamperedStoreApprovesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a.sh", "#!/bin/sh\n")
	d := w.command("./a.sh")
	w.approve(d)
	good, err := os.ReadFile(w.storePath())
	require.NoError(t, err)
	m := w.measure(d)
	path := w.storePath()
	put := func(b []byte) func() error { return func() error { return os.WriteFile(path, b, 0o600) } }
	for name, damage := range map[string]func() error{
		"empty":          put(nil),
		"cut off":        put(good[:len(good)/2]),
		"more after it":  put(append(bytes.Clone(good), '{')),
		"another key":    put(bytes.Replace(good, []byte(`"by"`), []byte(`"By"`), 1)),
		"two keys":       put(bytes.Replace(good, []byte(`"by"`), []byte(`"id": "hook-1", "by"`), 1)),
		"short digest":   put(bytes.Replace(good, []byte(`"digest": "`), []byte(`"digest": "0`), 1)),
		"long digest":    put(bytes.Replace(good, []byte(m.Digest().String()), []byte(m.Digest().String()+"00"), -1)),
		"capital digest": put(bytes.Replace(good, []byte(m.Digest().String()), []byte(strings.ToUpper(m.Digest().String())), 1)),
		"other version":  put(bytes.Replace(good, []byte(`"version": 1`), []byte(`"version": 2`), 1)),
		"twice": func() error {
			var l map[string]any
			require.NoError(t, json.Unmarshal(good, &l))
			l["approvals"] = append(l["approvals"].([]any), l["approvals"].([]any)[0])
			b, err := json.Marshal(l)
			require.NoError(t, err)
			return put(b)()
		},
		"garbage":        put([]byte("\x00\xff")),
		"too large":      func() error { return os.Truncate(path, 100<<20) },
		"others write":   func() error { return os.Chmod(path, 0o620) },
		"everyone":       func() error { return os.Chmod(path, 0o602) },
		"a link outside": func() error { _ = os.Remove(path); return os.Symlink("/etc/passwd", path) },
		"a directory":    func() error { _ = os.Remove(path); return os.Mkdir(path, 0o700) },
		"a FIFO":         func() error { _ = os.Remove(path); return exec.Command("mkfifo", path).Run() },
	} {
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, os.WriteFile(path, good, 0o600))
		state, err := w.store.Check(m)
		require.NoError(t, err)
		require.Equal(t, trust.Approved, state)
		require.NoError(t, damage(), name)
		for range 2 {
			state, err = w.store.Check(m)
			require.ErrorIs(t, err, trust.ErrStore, name)
			assert.Contains(t, err.Error(), path, name)
			assert.Equal(t, trust.New, state, name)
		}
		require.ErrorIs(t, w.store.Approve(m, "mia", anyTime()), trust.ErrStore, "%s: it is not written over", name)
		_, err = w.store.List()
		require.ErrorIs(t, err, trust.ErrStore, name)
	}
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o666))
	require.NoError(t, w.store.Clear())
	assert.Equal(t, trust.New, w.state(d))
	w.approve(d)
	assert.Equal(t, trust.Approved, w.state(d))

	require.NoError(t, w.store.Close())
	require.NoError(t, w.store.Close())
	_, err = w.store.Check(m)
	require.ErrorIs(t, err, trust.ErrClosed)
	require.ErrorIs(t, w.store.Clear(), trust.ErrClosed)
}

func TestStoreIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := make([]trust.Approval, trust.MaxApprovals)
	for i := range list {
		list[i] = trust.Approval{Dialect: "d", File: "/f", ID: fmt.Sprint(i), Source: trust.User, Digest: trust.Digest{1}, At: anyTime(), Parts: []trust.Part{}}
	}
	b, err := trust.EncodeLedger(list)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.storePath(), b, 0o600))
	got, err := w.store.List()
	require.NoError(t, err)
	assert.Equal(t, trust.MaxApprovals, len(got))
	w.write("a.sh", "#!/bin/sh\n")
	m := w.measure(w.command("./a.sh"))
	require.ErrorIs(t, w.store.Approve(m, "mia", anyTime()), trust.ErrFull)
	n, err := w.store.Remove(trust.Selector{ID: "7"})
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	require.NoError(t, w.store.Approve(m, "mia", anyTime()))
	got, err = w.store.List()
	require.NoError(t, err)
	assert.Equal(t, trust.MaxApprovals, len(got))
}

// TestWritersLoseNothing has processes and goroutines approve at once.
func TestWritersLoseNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			out, err := exec.Command(os.Args[0], "approve", w.storePath(), fmt.Sprintf("process-%d", i)).CombinedOutput()
			assert.NoError(t, err, "%s", out)
		})
	}
	for i := range 2 {
		all.Go(func() { assert.NoError(t, approveAll(w.storePath(), fmt.Sprintf("goroutine-%d", i))) })
	}
	all.Wait()
	list, err := w.store.List()
	require.NoError(t, err)
	assert.Equal(t, 150, len(list))
}
