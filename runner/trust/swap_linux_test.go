package trust_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
)

// tries is how often a swapped script gets its chance.
const tries = 1000

// attempt runs a hook by the whole road, and says whether it was refused.
// It calls late when the check is done and the run is to begin.
func (w *world) attempt(d trust.Definition, late func()) (out string, refused bool) {
	m, err := w.gauge.Measure(d)
	if err != nil {
		for _, known := range []error{trust.ErrUnstable, trust.ErrFile, process.ErrNotFound, process.ErrNotExecutable, trust.ErrInterpreter} {
			if errors.Is(err, known) {
				return "", true
			}
		}
		require.NoError(w.t, err)
	}
	defer m.Close()
	state, err := w.store.Check(m)
	require.NoError(w.t, err)
	if !state.Runs() {
		require.Equal(w.t, trust.Changed, state)
		return "", true
	}
	late()
	r := w.bound(m)
	return string(r.Stdout.Bytes) + string(r.Stderr.Bytes), false
}

// swapped runs the hook again and again while swap changes what it is made of,
// back and forth.
func swapped(t *testing.T, w *world, d trust.Definition, want string, n int, swap func(evil bool)) {
	t.Helper()
	w.approve(d)
	stop, done := make(chan struct{}), make(chan struct{})
	var now atomic.Bool // what the disk has is evil
	go func() {
		defer close(done)
		for evil := true; ; evil = !evil {
			select {
			case <-stop:
				return
			default:
				swap(evil)
				now.Store(evil)
			}
		}
	}()
	ran, refusals, dodged := 0, 0, 0
	for i := 0; i < n || (dodged == 0 || refusals == 0) && i < 20*n; i++ {
		out, refused := w.attempt(d, func() {
			if now.Load() {
				dodged++
			}
		})
		if refused {
			refusals++
			continue
		}
		ran++
		if !assert.Equal(t, want, out, "try %d", i) {
			break
		}
	}
	close(stop)
	<-done
	t.Logf("%d ran as approved, in %d of these the disk had the other by then; %d were refused", ran, dodged, refusals)
	assert.Positive(t, dodged, "it ran in place of what had been swapped in")
	assert.Positive(t, refusals, "a swap was seen")
}

func replace(t *testing.T, path, text string) {
	if !assert.NoError(t, os.WriteFile(path+".new", []byte(text), 0o755)) ||
		!assert.NoError(t, os.Rename(path+".new", path)) {
		t.FailNow()
	}
}

func choose(evil bool, text string) string {
	if evil {
		return strings.ReplaceAll(text, "good", "EVIL")
	}
	return text
}

func TestSwappedScriptNeverRuns(t *testing.T) {
	t.Parallel()
	const text = "#!/bin/sh\necho good\n"
	forms := map[string]func(w *world) trust.Definition{
		"program": func(w *world) trust.Definition { return w.command("./a.sh") },
		"script":  func(w *world) trust.Definition { return w.command("sh", "a.sh") },
		"shell":   func(w *world) trust.Definition { return w.shell("./a.sh") },
		"source":  func(w *world) trust.Definition { return w.shell(". ./a.sh") },
	}
	for form, make := range forms {
		t.Run(form+" by rename", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			path := w.write("a.sh", text)
			d := make(w)
			if d.Command != nil && d.Command[0] == "sh" {
				d.Command[0] = lookup(t, "sh")
			}
			swapped(t, w, d, "good\n", tries, func(evil bool) { replace(t, path, choose(evil, text)) })
		})
	}
	t.Run("in place", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		path := w.write("a.sh", text)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		require.NoError(t, err)
		defer f.Close()
		swapped(t, w, w.command("./a.sh"), "good\n", tries, func(evil bool) {
			_, err := f.WriteAt([]byte(choose(evil, text)), 0)
			assert.NoError(t, err)
		})
	})
	t.Run("by symbolic link", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.write("good.sh", text)
		w.write("evil.sh", choose(true, text))
		link := filepath.Join(w.dir, "a.sh")
		require.NoError(t, os.Symlink("good.sh", link))
		swapped(t, w, w.command("./a.sh"), "good\n", tries, func(evil bool) {
			target := map[bool]string{true: "evil.sh", false: "good.sh"}[evil]
			assert.NoError(t, os.Symlink(target, link+".new"))
			assert.NoError(t, os.Rename(link+".new", link))
		})
	})
	t.Run("by directory", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.write("good/a.sh", text)
		w.write("evil/a.sh", choose(true, text))
		link := filepath.Join(w.dir, "hooks")
		require.NoError(t, os.Symlink("good", link))
		swapped(t, w, w.command("hooks/a.sh"), "good\n", tries/4, func(evil bool) {
			target := map[bool]string{true: "evil", false: "good"}[evil]
			assert.NoError(t, os.Symlink(target, link+".new"))
			assert.NoError(t, os.Rename(link+".new", link))
		})
	})
}

// TestSwappedProgramNeverRuns swaps a binary: of a hook, and of the #! line of
// its script.
func TestSwappedProgramNeverRuns(t *testing.T) {
	t.Parallel()
	cat, err := os.ReadFile("/bin/cat")
	require.NoError(t, err)
	sh, err := os.ReadFile("/bin/sh")
	require.NoError(t, err)
	for name, script := range map[string]bool{"program": false, "interpreter": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			bin := t.TempDir() // a #! line takes no blanks
			path := filepath.Join(bin, "sh")
			replace(t, path, string(sh))
			w.write("a.sh", "#!"+path+"\nexit 3\nEVIL\n")
			d := w.command(path, "-c", "echo good")
			want := "good\n"
			if script {
				// With cat as its interpreter the script would be printed.
				d, want = w.command("./a.sh"), ""
			}
			swapped(t, w, d, want, tries/4, func(evil bool) {
				if evil {
					replace(t, path, string(cat))
				} else {
					replace(t, path, string(sh))
				}
			})
		})
	}
}

// TestHardLinkIsTheSameBytes writes through another name of the approved file.
func TestHardLinkIsTheSameBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.write("a.sh", "#!/bin/sh\necho good\n")
	require.NoError(t, os.Link(path, filepath.Join(w.dir, "b.sh")))
	d := w.command("./a.sh")
	w.approve(d)
	m := w.measure(d)
	w.write("b.sh", "#!/bin/sh\necho EVIL\n")
	assert.Equal(t, "good\n", string(w.bound(m).Stdout.Bytes), "after the check")
	_, refused := w.attempt(d, func() {})
	assert.True(t, refused, "before it")
}

// TestAppendedTextNeverRuns appends to a script that a shell is just reading.
func TestAppendedTextNeverRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fifo := filepath.Join(w.dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	path := w.write("a.sh", "#!/bin/sh\nread x < fifo\necho $x\n")
	m := w.measure(w.command("./a.sh"))
	go func() { // ends when the script has opened the FIFO and read from it
		f, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for the script
		if !assert.NoError(t, err) {
			return
		}
		defer f.Close()
		script, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if assert.NoError(t, err) {
			_, err = script.WriteString("echo EVIL\n")
			assert.NoError(t, errors.Join(err, script.Close()))
		}
		_, err = f.WriteString("good\n")
		assert.NoError(t, err)
	}()
	assert.Equal(t, "good\n", string(w.bound(m).Stdout.Bytes))
}

// TestPinnedBytesCannotBeWritten has the hook itself try.
func TestPinnedBytesCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a.sh", "#!/bin/sh\necho EVIL 2>/dev/null > \"$0\" || echo sealed\nchmod 0 \"$0\" 2>/dev/null; cat \"$0\" >/dev/null && echo good\n")
	d := w.command("./a.sh")
	for range 2 {
		assert.Equal(t, "sealed\ngood\n", w.output(d))
	}
}

func TestMissingStaysMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bin := t.TempDir()
	d := w.shell("late-comer; sh ./late.sh; echo end")
	d.SearchPath = bin + ":" + searchPath
	m := w.measure(d)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "late-comer"), []byte("#!/bin/sh\necho EVIL\n"), 0o755))
	w.write("late.sh", "echo EVIL\n")
	r := w.bound(m, func(s *process.Spec) { s.Env = []string{"PATH=" + d.SearchPath} })
	assert.Equal(t, "end\n", string(r.Stdout.Bytes))
	assert.NotEqual(t, m.Digest(), w.measure(d).Digest(), "and what has appeared is seen")
}
