package filelock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/filelock"
)

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second := open(), open()
	taken, err := filelock.Try(first)
	require.NoError(t, err)
	assert.True(t, taken)
	taken, err = filelock.Try(second)
	require.NoError(t, err)
	assert.False(t, taken, "somebody has it")
	require.NoError(t, first.Close())
	taken, err = filelock.Try(second)
	require.NoError(t, err)
	assert.True(t, taken, "it was given back")
}
