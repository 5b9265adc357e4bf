//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unrecorded asserts that the record cannot be written, and what follows from
// that: gates are denied with that reason, nothing else is held up, and the
// health is red.
func (s *site) unrecorded() {
	s.t.Helper()
	for _, way := range ways {
		denied(s.t, "PreToolUse", s.hook(way, "PreToolUse", bash("ls")), "record")
		denied(s.t, "PermissionRequest", s.hook(way, "PermissionRequest", call("PermissionRequest", "Bash", map[string]string{"command": "ls"})), "record")
		for _, event := range []string{"Stop", "SessionStart", "PostToolUse", "SessionEnd"} {
			passed(s.t, event, s.hook(way, event, happened(event)))
		}
	}
	v := s.status()
	assert.Equal(s.t, "red", v.Health)
	assert.Contains(s.t, strings.Join(v.Reasons, "\n"), "audit log")
	r := s.run("", "grapnel", "doctor")
	assert.Equal(s.t, 3, r.exit, "%s", r)
}

// recorded asserts that all is well.
func (s *site) recorded() {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		return s.hook(ways[0], "PreToolUse", bash("ls")).exit == 0
	}, patience, 20*time.Millisecond, "the log can be written again")
	r := s.hook(ways[0], "PreToolUse", bash("rm -rf /"))
	denied(s.t, "PreToolUse", r, "delete")
	passed(s.t, "PreToolUse", s.hook(ways[0], "PreToolUse", bash("ls")))
	assert.Equal(s.t, "green", s.status().Health)
}

// TestAuditLogRemoved: a log whose files are gone takes nothing more.
func TestAuditLogRemoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ remove, restore func(s *site) error }{
		"moved away and back": {
			func(s *site) error { return os.Rename(s.state("audit"), s.path("away")) },
			func(s *site) error { return os.Rename(s.path("away"), s.state("audit")) },
		},
		"deleted": {func(s *site) error { return os.RemoveAll(s.state("audit")) }, nil},
		"replaced": {func(s *site) error {
			if err := os.Rename(s.state("audit"), s.path("away")); err != nil {
				return err
			}
			return os.CopyFS(s.state("audit"), os.DirFS(s.path("away")))
		}, nil},
		"its segments deleted": {func(s *site) error {
			files, err := filepath.Glob(s.state("audit/segments/*.seg"))
			if err != nil {
				return err
			}
			return os.Remove(files[0])
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			d := s.up()
			s.recorded()
			require.NoError(t, c.remove(s))
			s.unrecorded()
			if c.restore != nil {
				require.NoError(t, c.restore(s))
				s.recorded()
				s.stop(d)
				s.verified()
				return
			}
			s.stop(d)
		})
	}
}

// TestRecordThatIsNotRequired: whoever says that work goes on without a record
// has it so, and the health is red all the same.
func TestRecordThatIsNotRequired(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"warn", "ignore"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.configure("audit: {on_failure: " + mode + "}\n")
			d := s.up()
			require.NoError(t, os.RemoveAll(s.state("audit")))
			passed(t, "PreToolUse", s.hook(ways[0], "PreToolUse", bash("ls")))
			denied(t, "PreToolUse", s.hook(ways[0], "PreToolUse", bash("rm -rf /")), "delete")
			assert.Equal(t, "red", s.status().Health)
			s.stop(d)
		})
	}
}
