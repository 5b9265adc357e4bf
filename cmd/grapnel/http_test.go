//go:build unix

package main_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHooksOverHTTP posts to the running daemon what an agent would, and what a
// program would that somebody wrote.
func TestHooksOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.up("--http", "127.0.0.1:0")
	stdout, _ := d.said()
	m := regexp.MustCompile(`(?m)^http +(http://127\.0\.0\.1:\d+), token in (.+)$`).FindStringSubmatch(stdout)
	require.NotNil(t, m, stdout)
	token, err := os.ReadFile(m[2])
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(m[2]))
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077, "others cannot read the token")
	client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
	t.Cleanup(client.CloseIdleConnections)
	post := func(path, contentType, body, token string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m[1]+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := client.Do(r)
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(text)
	}
	secret := strings.TrimSpace(string(token))
	const call = `{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"tool_use_id":"1"}`
	status, text := post("/hook/claude-code/PreToolUse", "application/json", call, secret)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, text, `"permissionDecision":"deny"`)
	status, _ = post("/hook/claude-code/PreToolUse", "application/json", call, "guessed")
	assert.Equal(t, http.StatusUnauthorized, status)

	const remove = `{"tool":{"name":"Bash","kind":"shell","input":{"command":"rm -rf /"}}}`
	status, text = post("/events", "application/cloudevents+json", structured("1", "pre_tool_use", "Bash", remove), secret)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, text, `"effect":"deny"`)
	assert.Contains(t, text, `"record":`)
	status, text = post("/events", "application/cloudevents+json", structured("2", "post_tool_use", "Bash", remove), secret)
	assert.Equal(t, http.StatusAccepted, status)
	assert.Contains(t, text, `"stream":"NOTIFY"`)
	status, text = post("/events", "application/cloudevents-batch+json", "["+structured("3", "stop", "", `{}`)+"]", secret)
	assert.Equal(t, http.StatusUnsupportedMediaType, status)
	assert.Contains(t, text, "one by one")
}
