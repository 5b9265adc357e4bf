package bus_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/bustest"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// TestConformanceOfServerProcess runs the suite on nats-server as a process of
// its own, built from the module, with the configuration in deploy/nats.
func TestConformanceOfServerProcess(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "nats-server")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/nats-io/nats-server/v2").CombinedOutput()
	require.NoError(t, err, "build nats-server: %s", out)
	bustest.Run(t, func(t testing.TB) bustest.Broker { return startProcess(t, binary) })
}

func TestDeployedAccountsAreOurs(t *testing.T) {
	t.Parallel()
	deployed, err := os.ReadFile("../deploy/nats/accounts.conf")
	require.NoError(t, err)
	assert.Equal(t, natsd.Accounts(), string(deployed), "deploy/nats/accounts.conf must be a copy of bus/natsd/accounts.conf")
}

func startProcess(t testing.TB, binary string) bustest.Broker {
	dir := t.TempDir()
	cmd := exec.Command(binary, "-c", "../deploy/nats/grapnel.conf", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", dir)
	cmd.Env = []string{"GRAPNEL_NATS_STORE=" + filepath.Join(dir, "store")}
	passwords := make(map[natsd.Role]string)
	for _, r := range natsd.Roles() {
		passwords[r] = "secret-of-" + string(r)
		cmd.Env = append(cmd.Env, fmt.Sprintf("GRAPNEL_%s_PASSWORD=%s", strings.ToUpper(string(r)), passwords[r]))
	}
	var log lockedBuffer
	cmd.Stdout, cmd.Stderr = &log, &log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var ports struct {
		NATS []string `json:"nats"`
	}
	require.Eventually(t, func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "*.ports"))
		if len(files) != 1 {
			return false
		}
		b, err := os.ReadFile(files[0])
		return err == nil && json.Unmarshal(b, &ports) == nil && len(ports.NATS) > 0
	}, 20*time.Second, 10*time.Millisecond, "nats-server is up: %s", &log)
	return bustest.External(ports.NATS[0], passwords)
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
