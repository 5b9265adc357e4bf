package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/runner/process"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	parent := []string{
		"PATH=/evil", "HOME=/home/u", "USER=u", "LOGNAME=u", "SHELL=/bin/zsh", "LANG=C", "LC_ALL=C", "LC_TIME=C", "TZ=UTC", "TERM=xterm", "TMPDIR=/tmp",
		"LD_PRELOAD=x", "LD_LIBRARY_PATH=x", "DYLD_INSERT_LIBRARIES=x", "BASH_ENV=x", "ENV=x", "PROMPT_COMMAND=x", "GIT_SSH_COMMAND=x",
		"PYTHONSTARTUP=x", "NODE_OPTIONS=x", "PERL5LIB=x", "RUBYOPT=x", "BASH_FUNC_ls%%=() { evil; }", "IFS=x", "GRAPNEL_RUN=x", "API_KEY=x",
		"WANTED=first", "WANTED=second", "malformed", "=odd",
	}
	got := process.Environment(parent, "/usr/bin", []string{"WANTED", "LD_PRELOAD", "ABSENT"}, []string{"GRAPNEL_EVENT=stop", "TERM=dumb"})
	assert.ElementsMatch(t, []string{
		"HOME=/home/u", "USER=u", "LOGNAME=u", "SHELL=/bin/zsh", "LANG=C", "LC_ALL=C", "LC_TIME=C", "TZ=UTC", "TERM=dumb", "TMPDIR=/tmp",
		"PATH=/usr/bin", "WANTED=second", "LD_PRELOAD=x", "GRAPNEL_EVENT=stop",
	}, got, "each name once")
	assert.Equal(t, []string{}, process.Environment(nil, "", nil, nil))
}

func TestCleanPath(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "/usr/bin:/bin", process.CleanPath("/usr/bin:.:relative::/bin:"))
	assert.Empty(t, process.CleanPath(""))
	assert.Empty(t, process.CleanPath("."))
}

func TestLookup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), mode))
		return path
	}
	file("a/plain", 0o644)
	inB := file("b/plain", 0o755)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a/tool"), 0o755))
	tool := file("b/tool", 0o755)
	path := dir + "/a:.::" + dir + "/b"

	for name, want := range map[string]string{"plain": inB, "tool": tool, inB: inB} {
		got, err := process.Lookup(name, path)
		require.NoError(t, err, name)
		assert.Equal(t, want, got)
	}
	for name, want := range map[string]error{
		"": process.ErrSpec, "./plain": process.ErrSpec, "b/tool": process.ErrSpec, "../x": process.ErrSpec, "a\x00b": process.ErrSpec,
		"absent": process.ErrNotFound, dir + "/absent": process.ErrNotFound, dir + "/a/plain": process.ErrNotExecutable, dir + "/a": process.ErrNotExecutable,
	} {
		_, err := process.Lookup(name, path)
		require.ErrorIs(t, err, want, "%q", name)
	}
	_, err := process.Lookup("plain", ".:")
	assert.ErrorContains(t, err, "relative entries of PATH are not searched")
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"FOO", "foo", "_x1", "GIT_DIR"} {
		assert.NoError(t, process.CheckName(name))
	}
	for _, name := range []string{"", "1A", "A B", "A=B", "A*", "Ä", "GRAPNEL_RUN", "A\x00"} {
		assert.Error(t, process.CheckName(name), "%q", name)
	}
}
