//go:build unix

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/antigravity/antigravitytest"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode/claudecodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/cline/clinetest"
	"github.com/grapnel-dev/grapnel/internal/edge/codex/codextest"
	"github.com/grapnel-dev/grapnel/internal/edge/copilot/copilottest"
	"github.com/grapnel-dev/grapnel/internal/edge/cursor/cursortest"
	"github.com/grapnel-dev/grapnel/internal/edge/factorydroid/factorydroidtest"
	"github.com/grapnel-dev/grapnel/internal/edge/geminicli/geminiclitest"
	"github.com/grapnel-dev/grapnel/internal/edge/goose/goosetest"
	"github.com/grapnel-dev/grapnel/internal/edge/kimicode/kimicodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/kirocli/kiroclitest"
	"github.com/grapnel-dev/grapnel/internal/edge/opencode/opencodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
	"github.com/grapnel-dev/grapnel/internal/edge/qwencode/qwencodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/vscode/vscodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/windsurf/windsurftest"
)

// emulator stands in for one agent: it starts the hook as the agent does, ends
// it at the agent's time-out, reads what it left as the agent does, and then
// runs the tool or not.
type emulator struct {
	agent, event string
	// shell is what the command line is given to; none means that the agent
	// starts the program itself.
	shell []string
	// payload has %s for the shell command as a JSON string and %d for a number
	// that tells calls apart.
	payload string
	client  protocoltest.Client
	// closed says that the agent itself keeps the tool from running when the
	// hook is missing, or ended by a time-out.
	closedMissing, closedTimeout bool
}

func emulators() []emulator {
	sh, login := []string{"/bin/sh", "-c"}, []string{"/bin/sh", "-lc"}
	claude := `{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%s},"tool_use_id":"t%d"}`
	return []emulator{
		{agent: "claude-code", event: "PreToolUse", shell: sh, payload: claude, client: claudecodetest.Run},
		// A login shell: what rc files print would come before the answer.
		{agent: "codex", event: "PreToolUse", shell: login, payload: claude, client: codextest.Run},
		{agent: "gemini-cli", event: "BeforeTool", shell: sh, client: geminiclitest.Run, closedMissing: true,
			payload: `{"session_id":"s","cwd":"/tmp","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":%s},"timestamp":"2026-11-20T21:03:15.%03dZ"}`},
		{agent: "cursor", event: "preToolUse", shell: sh, client: cursortest.Run,
			payload: `{"conversation_id":"c","generation_id":"g","hook_event_name":"preToolUse","cursor_version":"3.9.2","workspace_roots":["/tmp"],"tool_name":"Shell","tool_input":{"command":%s},"tool_use_id":"t%d","cwd":"/tmp"}`},
		{agent: "copilot", event: "preToolUse", shell: sh, client: copilottest.Run, closedMissing: true,
			payload: `{"sessionId":"s","cwd":"/tmp","toolName":"bash","toolArgs":{"command":%s},"timestamp":%d}`},
		{agent: "vscode", event: "PreToolUse", shell: sh, client: vscodetest.Run,
			payload: `{"timestamp":"2026-11-20T08:00:00.123Z","cwd":"/tmp","sessionId":"s","hookEventName":"PreToolUse","transcript_path":"/tmp/t","tool_name":"run_in_terminal","tool_input":{"command":%s},"tool_use_id":"t%d"}`},
		{agent: "qwen-code", event: "PreToolUse", shell: sh, client: qwencodetest.Run,
			payload: `{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","permission_mode":"default","tool_name":"run_shell_command","tool_input":{"command":%s},"tool_use_id":"t%d"}`},
		{agent: "opencode", event: "tool.execute.before", client: opencodetest.Run, closedMissing: true, closedTimeout: true,
			payload: `{"hook_event_name":"tool.execute.before","session_id":"s","cwd":"/tmp","input":{"tool":"bash"},"output":{"args":{"command":%s}},"id":"t%d"}`},
		{agent: "windsurf", event: "pre_run_command", shell: sh, client: windsurftest.Run,
			payload: `{"agent_action_name":"pre_run_command","trajectory_id":"t","execution_id":"e","tool_info":{"command_line":%s,"cwd":"/tmp"},"timestamp":"2026-11-20T08:00:00.%03dZ"}`},
		{agent: "cline", event: "PreToolUse", client: clinetest.Run, closedMissing: true, closedTimeout: true,
			payload: `{"clineVersion":"3.60.0","hookName":"PreToolUse","taskId":"t","workspaceRoots":["/tmp"],"preToolUse":{"toolName":"execute_command","parameters":{"command":%s}},"timestamp":"1795161600%03d"}`},
		{agent: "factory-droid", event: "PreToolUse", shell: sh, client: factorydroidtest.Run,
			payload: `{"sessionId":"s","cwd":"/tmp","permissionMode":"auto-medium","hookEventName":"PreToolUse","tool_name":"Execute","tool_input":{"command":%s},"n":%d}`},
		// Our installer sets Goose's on_failure, and Antigravity is closed by itself.
		{agent: "goose", event: "PreToolUse", shell: sh, client: goosetest.Run, closedMissing: true, closedTimeout: true,
			payload: `{"event":"PreToolUse","session_id":"s","working_dir":"/tmp","tool_name":"developer__shell","tool_input":{"command":%s},"tool_call_id":"t%d"}`},
		{agent: "kimi-code", event: "PreToolUse", shell: sh, client: kimicodetest.Run,
			payload: `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/tmp","tool_name":"Bash","tool_input":{"command":%s},"tool_call_id":"t%d"}`},
		{agent: "kiro-cli", event: "preToolUse", shell: sh, client: kiroclitest.Run,
			payload: `{"hook_event_name":"preToolUse","cwd":"/tmp","session_id":"s","tool_name":"execute_bash","tool_input":{"command":%s},"n":%d}`},
		{agent: "antigravity", event: "PreToolUse", shell: sh, client: antigravitytest.Run, closedMissing: true, closedTimeout: true,
			payload: `{"conversationId":"c","workspacePaths":["/tmp"],"toolCall":{"name":"run_command","args":{"CommandLine":%s,"Cwd":"/tmp"}},"stepIdx":%d}`},
	}
}

// call runs the hook, and then the tool if the agent would: a program that
// leaves a file behind.
func (m emulator) call(s *site, hook []string, command string, n int, timeout time.Duration) (ran bool, out protocoltest.Outcome, p protocoltest.Process) {
	s.t.Helper()
	quoted, err := json.Marshal(command)
	require.NoError(s.t, err)
	stdin := fmt.Sprintf(m.payload, quoted, n)
	require.True(s.t, json.Valid([]byte(stdin)), stdin)
	argv := append(append([]string{}, hook...), m.agent, m.event)
	if len(m.shell) > 0 {
		for i, word := range argv {
			argv[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		argv = append(append([]string{}, m.shell...), strings.Join(argv, " "))
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.path("work"), s.env, time.Second
	cmd.Stdin = strings.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	p = protocoltest.Process{Stdout: stdout.String(), Stderr: stderr.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		p.Ending = protocoltest.TimedOut
	case errors.As(err, &exit):
		if p.Exit = exit.ExitCode(); p.Exit < 0 {
			p.Ending = protocoltest.Killed
		} else if p.Exit == 127 {
			p.Ending = protocoltest.NotFound
		}
	case err != nil:
		p.Ending, p.Exit = protocoltest.NotFound, 127
	}
	out = m.client(protocoltest.Situation{Event: m.event, Approved: true}, p)
	marker := s.path("ran")
	if !out.Blocked {
		require.NoError(s.t, os.WriteFile(marker, nil, 0o600)) // the tool's side effect
	}
	_, err = os.Stat(marker)
	if ran = err == nil; ran {
		require.NoError(s.t, os.Remove(marker))
	}
	return ran, out, p
}

func TestThereIsAnEmulatorForEachAgent(t *testing.T) {
	t.Parallel()
	var names []string
	for _, m := range emulators() {
		names = append(names, m.agent)
	}
	assert.ElementsMatch(t, edge.Agents(), names)
}

// TestEveryAgentObeys: what is decided on the bus is what each agent does, and
// whatever fails on our side leaves the tool not run.
func TestEveryAgentObeys(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.configure("version: 1\nhooks: [{name: broken, on: [pre_tool_use, pre_shell], shell: 'grep -q cargo && kill -9 $$; true'}]\n")
	d := s.up()
	hook := []string{program("grapnel-hook")}
	for n, m := range emulators() {
		ran, out, p := m.call(s, hook, "ls", 10*n, patience)
		assert.True(t, ran, "%s: a harmless command runs: %+v", m.agent, p)
		assert.False(t, out.Granted, "%s: and nobody has granted it", m.agent)
		assert.False(t, out.Dropped, "%s: %s", m.agent, p.Stdout)

		ran, out, p = m.call(s, hook, "rm -rf /", 10*n+1, patience)
		assert.False(t, ran, "%s: a denied command runs: %+v", m.agent, p)
		assert.False(t, out.Dropped, "%s: %s", m.agent, p.Stdout)
		assert.NotEmpty(t, append(out.ToModel, out.ToUser...), "%s: nobody is told why: %+v", m.agent, p)

		ran, _, p = m.call(s, hook, "cargo build", 10*n+2, patience)
		assert.False(t, ran, "%s: a decider that fails lets it run: %+v", m.agent, p)
	}
	// Each decision is on record under the agent's own name.
	denied := make(map[string]bool)
	for _, r := range s.records("--effect", "deny") {
		denied[r.Event] = true
	}
	assert.True(t, denied["pre_tool_use"])

	// A daemon that hangs: the hook program answers before the agent gives up.
	d.signal(syscall.SIGSTOP)
	for n, m := range emulators() {
		ran, _, p := m.call(s, []string{hook[0], "--within", "300"}, "ls", 10*n+3, patience)
		assert.False(t, ran, "%s: a daemon that hangs lets it run: %+v", m.agent, p)
	}
	// An agent that gives up first has no answer: who is closed then is so by
	// itself.
	for n, m := range emulators() {
		ran, _, p := m.call(s, hook, "ls", 10*n+4, 150*time.Millisecond)
		assert.Equal(t, protocoltest.TimedOut, p.Ending, m.agent)
		assert.Equal(t, !m.closedTimeout, ran, "%s: after its own time-out", m.agent)
	}
	d.signal(syscall.SIGCONT)
	d.signal(syscall.SIGTERM)
	_, err := d.exit()
	require.NoError(t, err)

	// A dead daemon and nothing that could start one.
	alone := s.path("alone/grapnel-hook")
	require.NoError(t, os.MkdirAll(filepath.Dir(alone), 0o700))
	require.NoError(t, os.Link(hook[0], alone)) // a file that was just written may be "busy"
	for n, m := range emulators() {
		ran, _, p := m.call(s, []string{alone}, "ls", 10*n+5, patience)
		assert.False(t, ran, "%s: a dead daemon lets it run: %+v", m.agent, p)
	}
	// No hook program at all, as a careless uninstall leaves it.
	for n, m := range emulators() {
		ran, _, p := m.call(s, []string{s.path("alone/gone")}, "ls", 10*n+6, patience)
		assert.Equal(t, !m.closedMissing, ran, "%s: without the hook program: %+v", m.agent, p)
	}
}
