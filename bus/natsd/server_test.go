package natsd_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOneServerPerDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := natsd.Start(t.Context(), dir, nil)
	require.NoError(t, err)
	t.Cleanup(first.Close)
	_, err = natsd.Start(t.Context(), dir, nil)
	assert.ErrorIs(t, err, natsd.ErrLocked)
	assert.ErrorContains(t, err, "grapnel down", "the error says what to do")
	first.Close()
	second, err := natsd.Start(t.Context(), dir, nil)
	require.NoError(t, err, "the directory is free again")
	second.Close()
	second.Close()
}

func TestStartErrorsAreReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := natsd.Start(t.Context(), file, nil)
	assert.Error(t, err, "a file for a directory")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "jetstream"), nil, 0o600))
	_, err = natsd.Start(t.Context(), dir, nil)
	assert.Error(t, err, "a file where the store should be; the server itself would say it runs")

	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = busy.Close() })
	_, err = natsd.Start(t.Context(), t.TempDir(), &natsd.Options{Listen: busy.Addr().String()})
	assert.ErrorContains(t, err, "in use")
}

func TestListensNowhereUnlessTold(t *testing.T) {
	t.Parallel()
	s, err := natsd.Start(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	assert.Empty(t, s.URL())
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:4222", "[::]:0", "localhost", "127.0.0.1:x", "127.0.0.1:99999"} {
		_, err := natsd.Start(t.Context(), t.TempDir(), &natsd.Options{Listen: address})
		assert.Error(t, err, "listening on %s", address)
	}
}

func TestUnixSocket(t *testing.T) {
	t.Parallel()
	s, err := natsd.Start(t.Context(), t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	path := filepath.Join(t.TempDir(), "bus", "nats.sock")
	require.NoError(t, s.ServeUnix(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	dial := func() (net.Conn, error) { return net.Dial("unix", path) }
	c, err := bus.Connect(t.Context(), bus.ConnectOptions{Dial: dial, User: "agent", Password: s.Password(natsd.Agent)})
	require.NoError(t, err)
	assert.True(t, c.Connected())
	c.Close()
	_, err = bus.Connect(t.Context(), bus.ConnectOptions{Dial: dial, User: "agent", Password: "guess"})
	assert.Error(t, err, "credentials are needed there too")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.ErrorContains(t, s.ServeUnix(file), "no socket")
}
