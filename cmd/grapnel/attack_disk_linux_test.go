package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestFullDisk: the kernel refuses every write beyond a size of file, as a full
// disk does, also in the middle of a record.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.up()
	s.recorded()
	for _, room := range []int{0, 1, 300} {
		segments, err := filepath.Glob(s.state("audit/segments/*.seg"))
		require.NoError(t, err)
		require.Len(t, segments, 1)
		content, err := os.ReadFile(segments[0])
		require.NoError(t, err)
		written := len(bytes.TrimRight(content, "\x00")) // there is room set aside behind it
		s.limit(d, uint64(written+room))
		s.unrecorded()
		s.limit(d, unix.RLIM_INFINITY)
		s.recorded()
		s.verified()
	}
	s.stop(d)
	s.verified()
	// Every answer that was no denial is on record.
	var abstained int
	for _, r := range s.records("--event", "pre_tool_use") {
		if r.Effect == "abstain" {
			abstained++
		}
	}
	assert.GreaterOrEqual(t, abstained, 8)
}

// limit says how large the files of a running process may get.
func (s *site) limit(d *daemon, bytes uint64) {
	s.t.Helper()
	require.NoError(s.t, unix.Prlimit(d.pid(), unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}, nil))
}

// TestStartOnAFullDisk: a bus that cannot keep its record does not start, and
// says why.
func TestStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cmd := s.command("grapnel", "up")
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `ulimit -f 1 && exec "$0" up`, program("grapnel")}
	r := finish(t, cmd, "")
	assert.Equal(t, 1, r.exit, "%s", r)
	assert.Empty(t, r.stdout)
	assert.Contains(t, r.stderr, "grapnel: ")
}
