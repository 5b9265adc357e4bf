package process

import (
	"strings"
	"testing"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"github.com/stretchr/testify/assert"
)

// TestRule is from the inside: a machine has one kernel.
func TestRule(t *testing.T) {
	t.Parallel()
	files := Sandbox{Mode: SandboxRequired, ReadOnly: []string{"/usr"}}
	network := Sandbox{Mode: SandboxRequired, NoNetwork: true}
	both := Sandbox{Mode: SandboxRequired, ReadWrite: []string{"/tmp"}, NoNetwork: true}
	for _, c := range []struct {
		s       Sandbox
		abi     int
		missing string // comma-separated beginnings
	}{
		{Sandbox{Mode: SandboxRequired}, 0, ""},
		{files, 0, "files: this kernel has no Landlock"},
		{files, 1, "files, against truncating"},
		{files, 2, "files, against truncating"},
		{files, 3, ""},
		{files, 99, ""},
		{network, 0, "network: this kernel has no Landlock"},
		{network, 3, "network: Landlock of this kernel has version 3, 4 is needed"},
		{network, 4, "network, abstract unix sockets"},
		{network, 5, "network, abstract unix sockets"},
		{network, 6, ""},
		{both, 0, "files: this|network: this"},
		{both, 3, "network: Landlock"},
		{both, 7, ""},
	} {
		r := rule(c.s, c.abi)
		var want []string
		if c.missing != "" {
			want = strings.Split(c.missing, "|")
		}
		if assert.Len(t, r.missing, len(want), "%+v on %d: %q", c.s, c.abi, r.missing) {
			for i := range want {
				assert.True(t, strings.HasPrefix(r.missing[i], want[i]), "%+v on %d: %q", c.s, c.abi, r.missing)
			}
		}
		assert.Equal(t, c.s.closed() && c.abi >= 1, r.closesFiles && r.files != 0)
		assert.Equal(t, c.s.NoNetwork && c.abi >= 4, r.noTCP && r.net != 0)
		assert.Equal(t, c.abi >= 6, r.confinesSignals && r.scoped&landlock.ScopeSignal != 0)
		assert.Equal(t, r.files|r.net|r.scoped != 0, r.abi == c.abi && c.abi > 0, "%+v on %d", c.s, c.abi)
	}
}

// TestHandledFiles holds that no right that a version has is left open, and no
// right is asked of a kernel that does not know it.
func TestHandledFiles(t *testing.T) {
	t.Parallel()
	for abi, last := range map[int]uint64{
		1: landlock.AccessFSMakeSym, 2: landlock.AccessFSRefer, 3: landlock.AccessFSTruncate, 4: landlock.AccessFSTruncate,
		5: landlock.AccessFSIoctlDev, 8: landlock.AccessFSIoctlDev, 9: landlock.AccessFSResolveUnix, 42: landlock.AccessFSResolveUnix,
	} {
		assert.Equal(t, last<<1-1, handledFiles(abi), "version %d", abi)
	}
	for name, rights := range map[string]uint64{"read": readTree, "write": readTree | writeTree, "device": useDevice} {
		assert.Zero(t, rights&(landlock.AccessFSMakeBlock|landlock.AccessFSMakeChar), name)
	}
}
