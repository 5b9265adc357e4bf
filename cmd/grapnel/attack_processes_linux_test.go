package main_test

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHookCommandsEndWithTheDaemon: whatever a hook command started is dead
// when the daemon is, even when nobody had the time to see to it.
func TestHookCommandsEndWithTheDaemon(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.configure(`start_daemon: false
hooks:
  - name: lingers
    on: [pre_tool_use.bash]
    shell: 'echo $$ >>started; setsid sleep 600 & (sleep 600 &) ; sleep 600'
    timeout: 60s
`)
	d := s.up()
	var waiting sync.WaitGroup
	var r result
	waiting.Go(func() {
		r = s.hook(ways[0], "PreToolUse", strings.Replace(bash("ls"), `"/tmp"`, `"`+s.path("work")+`"`, 1))
	})
	require.True(t, poll(func() bool { _, err := os.Stat(s.path("work/started")); return err == nil }))
	d.kill()
	waiting.Wait()
	denied(t, "PreToolUse", r, "grapnel")
	assert.Empty(t, running(s.dir))
	text, err := os.ReadFile(s.path("work/started"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	assert.True(t, dead(pid))
}
