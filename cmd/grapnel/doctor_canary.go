package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/install"
)

// canary is a call of the agent's shell tool that must be denied, and how to
// see that the agent would have been stopped.
type canary struct {
	event   string
	payload map[string]any
	// denies are keys of the answer, dots between the levels, with the values
	// that stop it; reasons are where the reason stands then.
	denies  map[string]any
	reasons []string
	// exit2 says whether exit code 2 stops it.
	exit2 exit2
	// shell is what the agent gives the command line to.
	shell shell
}

// exit2 says what exit code 2 means to an agent.
type exit2 int

const (
	ignored    exit2 = iota
	stops            // it stops, whatever else there is
	withText         // it stops if stderr says why
	unlessJSON       // as withText, unless there is an answer in JSON
)

// shell says how an agent starts a command line.
type shell int

const (
	plainShell shell = iota // sh -c
	loginShell              // $SHELL -lc, whose start-up files can spoil the answer
)

const canaryCommand = "rm -rf /"

// canaryOf returns the canary for an agent, with a shell command.
func canaryOf(agent, text string) (canary, bool) {
	cwd, _ := os.Getwd()
	now := time.Now()
	id, session := fmt.Sprintf("canary-%d", now.UnixNano()), "grapnel-doctor-"+agent
	command := map[string]any{"command": text}
	nested := map[string]any{"hookSpecificOutput.permissionDecision": "deny", "decision": "block"}
	nestedReasons := []string{"hookSpecificOutput.permissionDecisionReason", "permissionDecisionReason", "reason"}
	claude := func(tool string, more map[string]any) map[string]any {
		payload := map[string]any{
			"session_id": session, "cwd": cwd, "hook_event_name": "PreToolUse", "permission_mode": "default",
			"tool_name": tool, "tool_input": command, "tool_use_id": id,
		}
		for key, v := range more {
			if payload[key] = v; v == nil {
				delete(payload, key)
			}
		}
		return payload
	}
	c := canary{event: "PreToolUse", denies: nested, reasons: nestedReasons, exit2: withText}
	switch agent {
	case hookwire.ClaudeCode:
		c.payload, c.exit2 = claude("Bash", nil), stops
	case hookwire.Codex:
		c.payload, c.shell = claude("Bash", map[string]any{"turn_id": id, "model": "canary", "transcript_path": nil}), loginShell
	case hookwire.QwenCode:
		c.payload = claude("run_shell_command", map[string]any{"timestamp": now.UTC().Format(time.RFC3339Nano)})
	case hookwire.GeminiCLI:
		c.event, c.exit2, c.denies = "BeforeTool", unlessJSON, map[string]any{"decision": "deny"}
		c.payload = map[string]any{
			"session_id": session, "transcript_path": "", "cwd": cwd, "hook_event_name": "BeforeTool",
			"timestamp": now.UTC().Format(time.RFC3339Nano), "tool_name": "run_shell_command", "tool_input": command,
		}
	case hookwire.Cursor:
		c.event, c.exit2, c.denies, c.reasons = "preToolUse", stops, map[string]any{"permission": "deny"}, []string{"user_message", "agent_message"}
		c.payload = map[string]any{
			"conversation_id": session, "generation_id": id, "model": "canary", "hook_event_name": "preToolUse", "cursor_version": "0",
			"workspace_roots": []string{cwd}, "user_email": nil, "transcript_path": nil,
			"tool_name": "Shell", "tool_input": command, "tool_use_id": id, "cwd": cwd,
		}
	case hookwire.Copilot:
		c.event, c.exit2, c.denies, c.reasons = "preToolUse", stops, map[string]any{"permissionDecision": "deny"}, []string{"permissionDecisionReason"}
		c.payload = map[string]any{"sessionId": session, "timestamp": now.UnixMilli(), "cwd": cwd, "toolName": "bash", "toolArgs": command}
	case hookwire.VSCode:
		c.exit2 = stops
		c.payload = map[string]any{
			"timestamp": now.UTC().Format(time.RFC3339Nano), "cwd": cwd, "sessionId": session, "hookEventName": "PreToolUse",
			"transcript_path": "", "tool_name": "run_in_terminal", "tool_input": command, "tool_use_id": id,
		}
	case hookwire.Windsurf:
		c.event, c.exit2, c.denies = "pre_run_command", stops, nil
		c.payload = map[string]any{
			"agent_action_name": "pre_run_command", "trajectory_id": session, "execution_id": id, "timestamp": now.UTC().Format(time.RFC3339Nano),
			"model_name": "canary", "tool_info": map[string]any{"command_line": text, "cwd": cwd},
		}
	case hookwire.Cline:
		c.exit2, c.denies, c.reasons = stops, map[string]any{"cancel": true}, []string{"errorMessage"}
		c.payload = map[string]any{
			"clineVersion": "0", "hookName": "PreToolUse", "timestamp": fmt.Sprint(now.UnixMilli()), "taskId": session,
			"workspaceRoots": []string{cwd}, "userId": "canary",
			"preToolUse": map[string]any{"toolName": "execute_command", "parameters": command},
		}
	case hookwire.FactoryDroid:
		c.exit2 = stops
		c.payload = map[string]any{
			"sessionId": session, "transcriptPath": "", "cwd": cwd, "permissionMode": "off", "hookEventName": "PreToolUse",
			"tool_name": "Execute", "tool_input": command,
		}
	case hookwire.Goose:
		c.exit2 = stops
		c.payload = map[string]any{
			"event": "PreToolUse", "session_id": session, "working_dir": cwd, "matcher_context": "developer__shell",
			"tool_name": "developer__shell", "tool_input": command, "tool_call_id": id,
		}
	case hookwire.KimiCode:
		c.payload = map[string]any{
			"hook_event_name": "PreToolUse", "session_id": session, "cwd": cwd, "tool_name": "Bash", "tool_input": command, "tool_call_id": id,
		}
	case hookwire.KiroCLI:
		c.exit2, c.denies = withText, nil
		c.payload = map[string]any{"hook_event_name": "PreToolUse", "cwd": cwd, "tool_name": "execute_bash", "tool_input": command}
	case hookwire.Antigravity:
		c.exit2, c.denies, c.reasons = ignored, map[string]any{"decision": "deny"}, []string{"reason"}
		c.payload = map[string]any{
			"conversationId": session, "stepIdx": now.UnixNano(), "modelName": "canary", "transcriptPath": "", "workspacePaths": []string{cwd},
			"toolCall": map[string]any{"name": "run_command", "args": map[string]any{"CommandLine": text, "Cwd": cwd}},
		}
	case hookwire.OpenCode:
		// Our plugin is in between: it throws on exit code 2 and on this decision.
		c.event, c.exit2, c.denies, c.reasons = "tool.execute.before", stops, map[string]any{"decision": "block"}, []string{"reason"}
		c.payload = map[string]any{
			"hook_event_name": "tool.execute.before", "id": id, "session_id": session, "cwd": cwd,
			"input":  map[string]any{"tool": "bash", "sessionID": session, "callID": id},
			"output": map[string]any{"args": command},
		}
	default:
		return canary{}, false
	}
	return c, true
}

// canary sends what must be denied through a registered command line, as the
// agent would, and looks whether the agent would have been stopped.
func (a *app) canary(ctx context.Context, agent, scope string, c canary, line string) check {
	what := canaryTitle(agent, scope)
	payload, err := json.Marshal(c.payload)
	if err != nil {
		return check{what, false, err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := shellCommand(ctx, line)
	if login := a.getenv("SHELL"); c.shell == loginShell && login != "" {
		cmd = exec.CommandContext(ctx, login, "-lc", line)
	}
	cmd.Stdin = bytes.NewReader(payload)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err = cmd.Run()
	took := time.Since(begin)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return check{what, false, err.Error() + "; run `grapnel install " + agent + "` again"}
	}
	denied, reason := c.judge(cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes())
	if !denied {
		return check{what, false, reason}
	}
	return check{what, true, fmt.Sprintf("after %.1f ms: %s", float64(took.Microseconds())/1000, oneLine(reason, 200))}
}

func canaryTitle(agent, scope string) string {
	return agent + ": a canary (" + canaryCommand + ") is denied through the hook in the " + scope + " settings"
}

// postedCanary posts it, as the agent would. There is no exit code then: the
// body alone counts, and only with a status of success.
func (a *app) postedCanary(ctx context.Context, agent, scope string, c canary, post install.Post) check {
	what := canaryTitle(agent, scope) + ", which is posted"
	again := "; run `grapnel install " + agent + " --http` again"
	payload, err := json.Marshal(c.payload)
	if err != nil {
		return check{what, false, err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, post.URL, bytes.NewReader(payload))
	if err != nil {
		return check{what, false, err.Error() + again}
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range post.Header {
		request.Header.Set(name, value)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	begin := time.Now()
	response, err := client.Do(request)
	if err != nil {
		note := err.Error()
		if refused := (*net.OpError)(nil); errors.As(err, &refused) && refused.Op == "dial" {
			note = "nobody listens at " + request.URL.Host + ": start the bus with `grapnel up`" + a.listens(request.URL.Host, again)
		}
		return check{what, false, note}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, hookwire.MaxResponse))
	took := time.Since(begin)
	switch {
	case err != nil:
		return check{what, false, err.Error()}
	case response.StatusCode == http.StatusUnauthorized:
		return check{what, false, "the token in the settings is not that of the bus at " + request.URL.Host + again}
	case response.StatusCode/100 != 2:
		return check{what, false, fmt.Sprintf("the answer has status %d, with which nothing is decided: %s%s", response.StatusCode, oneLine(string(body), 300), again)}
	}
	denied, reason := c.judge(0, body, nil)
	if !denied {
		return check{what, false, reason}
	}
	return check{what, true, fmt.Sprintf("after %.1f ms: %s", float64(took.Microseconds())/1000, oneLine(reason, 200))}
}

// listens says what to do beside starting the bus, when it would not listen
// where hooks are posted to.
func (a *app) listens(host, again string) string {
	c, err := loadConfig(a.paths)
	switch {
	case err != nil || c.HTTP.Listen == host:
		return ""
	case c.HTTP.Listen == "":
		return "; first put http: {listen: \"" + host + "\"} into " + a.paths.config
	}
	return "; but " + a.paths.config + " has it listen at " + c.HTTP.Listen + again
}

// judge says whether the agent would have been stopped, with the reason that it
// was given, or else with what is wrong.
func (c canary) judge(exit int, stdout, stderr []byte) (denied bool, reason string) {
	var answer map[string]any
	text := bytes.TrimSpace(stdout)
	bad := len(text) > 0 && json.Unmarshal(text, &answer) != nil
	for _, key := range c.reasons {
		if s, ok := at(answer, key).(string); ok && reason == "" {
			reason = s
		}
	}
	said := strings.TrimSpace(string(stderr))
	if reason == "" {
		reason = said
	}
	for key, want := range c.denies {
		if exit != 2 && exit != 0 {
			break // it is not what we answer
		}
		if at(answer, key) == want && reason != "" && (exit == 0 || c.exit2 == unlessJSON) {
			return true, reason
		}
	}
	if exit == 2 && (c.exit2 == stops || c.exit2 == withText && said != "" || c.exit2 == unlessJSON && answer == nil && said != "") {
		return true, reason
	}
	switch answered := oneLine(string(stdout)+" "+string(stderr), 300); {
	case exit != 0 && exit != 2:
		return false, fmt.Sprintf("the hook ended with code %d: %s", exit, answered)
	case bad:
		return false, "its answer is no JSON: " + answered
	default:
		return false, "the answer was " + answered + "\nno rule denies it: is the policy that ships switched off?"
	}
}

// at is the value at a key, with dots between the levels.
func at(answer map[string]any, key string) any {
	head, rest, more := strings.Cut(key, ".")
	if !more {
		return answer[head]
	}
	inner, _ := answer[head].(map[string]any)
	return at(inner, rest)
}
