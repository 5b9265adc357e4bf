//go:build unix

package pack_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/command/pack"
)

func TestWhatIsNoFileIsRefusedInADirectory(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(dir string) error{
		"a symbolic link": func(dir string) error { return os.Symlink("check.sh", filepath.Join(dir, "bin", "link")) },
		"a pipe":          func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "bin", "pipe"), 0o600) },
		"set-user-id":     func(dir string) error { return os.Chmod(filepath.Join(dir, "bin", "check.sh"), 0o755|os.ModeSetuid) },
		"portable":        func(dir string) error { return os.WriteFile(filepath.Join(dir, ".env"), nil, 0o600) },
		"one name":        func(dir string) error { return os.WriteFile(filepath.Join(dir, "BIN"), nil, 0o600) },
		"not in the list": func(dir string) error { return os.WriteFile(filepath.Join(dir, "extra"), nil, 0o600) },
		"is missing":      func(dir string) error { return os.Remove(filepath.Join(dir, "bin", "check.sh")) },
		"has more than": func(dir string) error {
			return os.Truncate(filepath.Join(dir, "bin", "check.sh"), pack.MaxFile+1)
		},
	} {
		c := good()
		dir := c.with(manifest(t, "1.0.0", c, nil)).directory(t)
		require.NoError(t, change(dir), what)
		_, err := pack.Open(dir, find)
		if assert.Error(t, err, what) {
			assert.ErrorContains(t, err, what)
		}
	}
	c := good()
	dir := c.with(manifest(t, "1.0.0", c, nil)).directory(t)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "bin")))
	require.NoError(t, os.Symlink("/usr/bin", filepath.Join(dir, "bin")))
	_, err := pack.Open(dir, find)
	assert.ErrorContains(t, err, "a symbolic link")

	for _, path := range []string{"/no/such/pack", "/dev/null", "/dev/zero"} {
		_, err := pack.Open(path, find)
		assert.Error(t, err, path)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err = pack.Open(pipe, find)
	assert.ErrorContains(t, err, "a pipe")
}
