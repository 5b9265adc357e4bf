package httpedge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	ce "github.com/cloudevents/sdk-go/v2"
	"github.com/cloudevents/sdk-go/v2/binding"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/claudecode/claudecodetest"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
	"github.com/grapnel-dev/grapnel/internal/edge/httpedge"
	"github.com/grapnel-dev/grapnel/internal/edge/protocol/protocoltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "0123456789abcdefghijklmnopqrstuv"

// bus is a Bus of two functions.
type bus struct {
	request func(context.Context, hook.Event) (hook.Verdict, error)
	publish func(context.Context, hook.Event) (hook.Receipt, error)
}

func (b bus) Request(ctx context.Context, e hook.Event) (hook.Verdict, error) {
	return b.request(ctx, e)
}
func (b bus) Publish(ctx context.Context, e hook.Event) (hook.Receipt, error) {
	return b.publish(ctx, e)
}

func says(v hook.Verdict) bus {
	return bus{
		request: func(_ context.Context, e hook.Event) (hook.Verdict, error) {
			v := v
			v.EventID = e.ID
			return v, nil
		},
		publish: func(_ context.Context, e hook.Event) (hook.Receipt, error) {
			return hook.Receipt{EventID: e.ID, Stream: "NOTIFY", Sequence: 7}, nil
		},
	}
}

// endpoint is a running server.
type endpoint struct {
	t      *testing.T
	url    string
	client *http.Client
}

func start(t *testing.T, b edge.Bus) endpoint {
	t.Helper()
	e := edge.New(b, nil)
	h, err := httpedge.NewHandler(e, b, token, nil)
	require.NoError(t, err)
	s, err := httpedge.Listen(t.Context(), "127.0.0.1:0", h)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		assert.NoError(t, <-done)
		e.Close()
	})
	return endpoint{t, "http://" + s.Addr(), &http.Client{Transport: transport, Timeout: 20 * time.Second}}
}

// post sends a request with the token; change may alter it.
func (p endpoint) post(path, body string, change func(*http.Request)) (status int, header http.Header, text string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url+path, strings.NewReader(body))
	require.NoError(p.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	if change != nil {
		change(r)
	}
	response, err := p.client.Do(r)
	require.NoError(p.t, err)
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	require.NoError(p.t, err)
	return response.StatusCode, response.Header, string(b)
}

const call = `{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}`

func TestClaudeCodeIsAnswered(t *testing.T) {
	t.Parallel()
	p := start(t, says(hook.Verdict{Effect: hook.Deny, Reason: "not today"}))
	status, header, text := p.post("/hook/claude-code/PreToolUse", call, nil)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "2", header.Get("Grapnel-Exit-Code"))
	// Over HTTP the JSON alone counts.
	out := claudecodetest.Run(protocoltest.Situation{Event: "PreToolUse", Approved: true}, protocoltest.Process{Stdout: text})
	assert.True(t, out.Blocked, text)
	assert.Contains(t, text, "not today")

	status, _, text = p.post("/hook/claude-code/PreToolUse", `{"a":1,"a":2}`, nil)
	assert.Equal(t, http.StatusOK, status)
	out = claudecodetest.Run(protocoltest.Situation{Event: "PreToolUse", Approved: true}, protocoltest.Process{Stdout: text})
	assert.True(t, out.Blocked, "what is no event is denied: %s", text)

	status, _, text = p.post("/hook/nobody/PreToolUse", call, nil)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, text, "there is no agent")
	assert.Contains(t, text, `"deny"`)

	status, _, _ = p.post("/hook/codex/Stop", `{"hook_event_name":"Stop","session_id":"s"}`, nil)
	assert.Equal(t, http.StatusOK, status)
}

func TestSilenceHasNoBody(t *testing.T) {
	t.Parallel()
	p := start(t, says(hook.Verdict{}))
	status, _, text := p.post("/hook/codex/PreToolUse", strings.ReplaceAll(call, "tool_use_id", "tool_use_id"), nil)
	assert.Equal(t, http.StatusNoContent, status)
	assert.Empty(t, text)
}

func TestWhoMayNot(t *testing.T) {
	t.Parallel()
	p := start(t, bus{}) // a call of it would crash
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"no token":       {func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		"another token":  {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token+"x") }, http.StatusUnauthorized},
		"two tokens":     {func(r *http.Request) { r.Header.Add("Authorization", "Bearer "+token) }, http.StatusUnauthorized},
		"another scheme": {func(r *http.Request) { r.Header.Set("Authorization", "Basic "+token) }, http.StatusUnauthorized},
		"a web page":     {func(r *http.Request) { r.Header.Set("Origin", "https://example.com") }, http.StatusForbidden},
		"our own page":   {func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"a browser":      {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, http.StatusForbidden},
		"a rebound name": {func(r *http.Request) { r.Host = "attacker.example:80" }, http.StatusMisdirectedRequest},
		"another port":   {func(r *http.Request) { r.Host = "127.0.0.1:1" }, http.StatusMisdirectedRequest},
		"no port":        {func(r *http.Request) { r.Host = "localhost" }, http.StatusMisdirectedRequest},
	} {
		status, _, text := p.post("/hook/claude-code/PreToolUse", call, c.change)
		assert.Equal(t, c.status, status, name)
		assert.Contains(t, text, `"error"`, name)
		assert.NotContains(t, text, token, name)
	}
	status, _, _ := p.post("/elsewhere", call, nil)
	assert.Equal(t, http.StatusNotFound, status)
	status, _, _ = p.post("/events", call, func(r *http.Request) { r.Method = http.MethodGet })
	assert.Equal(t, http.StatusMethodNotAllowed, status)
	status, _, text := p.post("/events", strings.Repeat("x", hookwire.MaxStdin+1), nil)
	assert.Equal(t, http.StatusRequestEntityTooLarge, status, text)

	_, err := httpedge.NewHandler(nil, bus{}, "short", nil)
	require.ErrorContains(t, err, "token")
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:80", "localhost:0", "127.0.0.1"} {
		_, err := httpedge.Listen(t.Context(), address, nil)
		assert.ErrorIs(t, err, httpedge.ErrAddress, address)
	}
}

// sent is an event as the CloudEvents SDK sends it.
func sent(t *testing.T, name hook.Name, mode func(context.Context) context.Context) (body string, change func(*http.Request)) {
	t.Helper()
	e := ce.NewEvent()
	e.SetID("e-1")
	e.SetSource("/my/agent")
	e.SetType(name.Type())
	e.SetSubject("Bäsh")
	e.SetExtension("sessionid", "s1")
	require.NoError(t, e.SetData("application/json", map[string]any{
		"cwd": "/w", "tool": map[string]any{"name": "Bäsh", "kind": "shell", "input": map[string]any{"command": "ls"}},
	}))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", nil)
	require.NoError(t, err)
	require.NoError(t, cehttp.WriteRequest(mode(t.Context()), binding.ToMessage(&e), r))
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text), func(to *http.Request) {
		for k, v := range r.Header {
			to.Header[k] = v
		}
	}
}

func TestCloudEvents(t *testing.T) {
	t.Parallel()
	got := make(chan hook.Event, 1)
	b := says(hook.Verdict{Effect: hook.Ask, Reason: "sure?"})
	decide := b.request
	b.request = func(ctx context.Context, e hook.Event) (hook.Verdict, error) {
		got <- e
		return decide(ctx, e)
	}
	p := start(t, b)
	for name, mode := range map[string]func(context.Context) context.Context{
		"binary": binding.WithForceBinary, "structured": binding.WithForceStructured,
	} {
		body, change := sent(t, hook.PreToolUse, mode)
		status, _, text := p.post("/events", body, change)
		require.Equal(t, http.StatusOK, status, "%s: %s", name, text)
		var v hook.Verdict
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		assert.Equal(t, hook.Ask, v.Effect, name)
		e := <-got
		assert.Equal(t, "e-1", e.ID, name)
		assert.Equal(t, "Bäsh", e.Subject, name)
		assert.Equal(t, "s1", e.SessionID, name)
		assert.JSONEq(t, `{"command":"ls"}`, string(e.Data.Tool.Input), name)

		body, change = sent(t, hook.PostToolUse, mode)
		status, _, text = p.post("/events", body, change)
		assert.Equal(t, http.StatusAccepted, status, "%s: %s", name, text)
		assert.Contains(t, text, `"sequence":7`, name)
	}
	body, change := sent(t, hook.PreToolUse, binding.WithForceStructured)
	status, _, text := p.post("/events", "["+body+"]", func(r *http.Request) {
		change(r)
		r.Header.Set("Content-Type", "application/cloudevents-batch+json")
	})
	assert.Equal(t, http.StatusUnsupportedMediaType, status)
	assert.Contains(t, text, "one by one")
	status, _, text = p.post("/events", body, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
	assert.Equal(t, http.StatusUnsupportedMediaType, status, text)
	for what, bad := range map[string]string{
		"a key twice":      strings.Replace(body, `"id"`, `"id":"x","id"`, 1),
		"another version":  strings.Replace(body, `"1.0"`, `"0.3"`, 1),
		"no id":            strings.Replace(body, `"id":"e-1"`, `"id":""`, 1),
		"half of it":       body[:len(body)/2],
		"an unknown event": strings.ReplaceAll(body, "pre_tool_use", "pre tool use"),
	} {
		status, _, text := p.post("/events", bad, change)
		assert.Equal(t, http.StatusBadRequest, status, "%s: %s", what, text)
	}
}

func TestNoVerdict(t *testing.T) {
	t.Parallel()
	p := start(t, bus{
		request: func(context.Context, hook.Event) (hook.Verdict, error) {
			return hook.Verdict{}, errors.New("the bus is gone")
		},
		publish: func(context.Context, hook.Event) (hook.Receipt, error) {
			return hook.Receipt{}, errors.New("the disk is full")
		},
	})
	body, change := sent(t, hook.PreToolUse, binding.WithForceStructured)
	status, _, text := p.post("/events", body, change)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	var v hook.Verdict
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	assert.Equal(t, hook.Deny, v.Effect)
	assert.Contains(t, v.Reason, "the bus is gone")
	body, change = sent(t, hook.PostToolUse, binding.WithForceStructured)
	status, _, text = p.post("/events", body, change)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, text, "the disk is full")
}

func FuzzEvents(f *testing.F) {
	b := says(hook.Verdict{Effect: hook.Deny, Reason: "no"})
	e := edge.New(b, nil)
	f.Cleanup(e.Close)
	f.Add("application/cloudevents+json", []byte(`{"specversion":"1.0","id":"1","source":"/a","type":"dev.grapnel.hook.stop.v1"}`))
	f.Add("application/json", []byte(`{}`))
	f.Add("application/cloudevents-batch+json", []byte(`[]`))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		r, err := http.NewRequest(http.MethodPost, "/events", bytes.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set("Content-Type", contentType)
		httpedge.Read(r, body)
	})
}
