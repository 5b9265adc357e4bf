//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	oracle "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// delivery is one request that an endpoint got.
type delivery struct {
	path   string
	header http.Header
	body   string
}

// endpoint is an HTTP server that remembers what it got.
type endpoint struct {
	*httptest.Server

	mu  sync.Mutex
	got []delivery
}

// newEndpoint starts one that answers as f does; n counts the requests to the
// same path, from 1.
func newEndpoint(t *testing.T, f func(w http.ResponseWriter, d delivery, n int)) *endpoint {
	t.Helper()
	e := new(endpoint)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		d := delivery{r.URL.Path, r.Header.Clone(), string(body)}
		e.mu.Lock()
		e.got = append(e.got, d)
		n := 0
		for _, other := range e.got {
			if other.path == d.path {
				n++
			}
		}
		e.mu.Unlock()
		f(w, d, n)
	}))
	t.Cleanup(e.Close)
	return e
}

// to lists what came to a path.
func (e *endpoint) to(path string) []delivery {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []delivery
	for _, d := range e.got {
		if d.path == path {
			list = append(list, d)
		}
	}
	return list
}

func (e *endpoint) address() string { return strings.TrimPrefix(e.URL, "http://") }

// says answers a hook.
func says(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
}

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// hooked is a site whose configuration may reach the endpoint; URL in rest
// stands for where that is.
func hooked(t *testing.T, e *endpoint, private, rest string) *site {
	t.Helper()
	s := newSite(t)
	s.env = append(s.env, "HOOK_SECRET="+webhookSecret, "HOOK_TOKEN=token-of-the-person")
	s.configure("version: 1\npolicy: {default: false}\n" + strings.ReplaceAll(rest, "URL", e.URL) + "webhooks:\n  private: [" + private + "]\n")
	return s
}

func TestA11WebhooksDecide(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, func(w http.ResponseWriter, d delivery, _ int) {
		switch {
		case strings.Contains(d.body, "denied"):
			says(w, `{"effect": "deny", "reason": "`+d.path+` says no"}`)
		case strings.Contains(d.body, "asked"):
			says(w, `{"effect": "ask", "reason": "sure?"}`)
		case strings.Contains(d.body, "allowed"):
			says(w, `{"effect": "allow"}`)
		case strings.Contains(d.body, "rewritten"):
			says(w, `{"effect": "abstain", "rewrite": {"command": "changed"}}`)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	s := newSite(t)
	s.env = append(s.env, "HOOK_SECRET="+webhookSecret, "HOOK_TOKEN=token-of-the-person")
	s.configure(strings.ReplaceAll(`version: 1
policy: {default: false}
webhooks:
  private: ["127.0.0.0/8"]
  hooks:
    - name: structured
      on: [pre_tool_use.bash]
      url: URL/structured
      headers: {Authorization: Bearer $HOOK_TOKEN}
      allowed_env: [HOOK_TOKEN, HOOK_SECRET]
      secrets: [$HOOK_SECRET]
    - {name: binary, on: [pre_tool_use.write], url: URL/binary, body: cloudevents-binary, rewrites: true, grants: true}
    - {name: native, on: [pre_tool_use.read], url: URL/native, body: native}
    - {name: some, on: [pre_tool_use.edit], when: event.tool.input.command == 'denied', url: URL/some}
`, "URL", e.URL))
	d := s.up()

	v := s.emit("Bash", command("denied"))
	assert.Equal(t, "deny", v.Effect)
	assert.Equal(t, "/structured says no", v.Reason)
	v = s.emit("Bash", command("asked"))
	assert.Equal(t, "ask", v.Effect)
	assert.Equal(t, "sure?", v.Reason)
	assert.Equal(t, "abstain", s.emit("Bash", command("allowed")).Effect, "nobody granted it that")
	assert.Equal(t, "abstain", s.emit("Bash", command("nothing")).Effect)
	v = s.emit("Bash", command("rewritten"))
	assert.Equal(t, "deny", v.Effect, "nor that")
	assert.Empty(t, v.Input)

	got := e.to("/structured")
	require.Len(t, got, 5)
	assert.Equal(t, "application/cloudevents+json", strings.Split(got[0].header.Get("Content-Type"), ";")[0])
	assert.Equal(t, "Bearer token-of-the-person", got[0].header.Get("Authorization"))
	var event struct {
		SpecVersion, Type, Subject string
		Data                       struct {
			Tool struct{ Name, Kind string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got[0].body), &event))
	assert.Equal(t, "1.0", event.SpecVersion)
	assert.Equal(t, "dev.grapnel.hook.pre_tool_use.v1", event.Type)
	assert.Equal(t, "Bash", event.Data.Tool.Name)
	theirs, err := oracle.NewWebhook(webhookSecret)
	require.NoError(t, err)
	for _, r := range got {
		require.NoError(t, theirs.Verify([]byte(r.body), r.header))
		require.Error(t, theirs.Verify([]byte(r.body+" "), r.header))
	}

	assert.Equal(t, "deny", s.emit("Write", command("denied")).Effect)
	assert.Equal(t, "allow", s.emit("Write", command("allowed")).Effect)
	v = s.emit("Write", command("rewritten"))
	assert.Equal(t, "abstain", v.Effect)
	assert.JSONEq(t, command("changed"), string(v.Input))
	binary := e.to("/binary")[0]
	assert.Equal(t, "1.0", binary.header.Get("Ce-Specversion"))
	assert.Equal(t, "dev.grapnel.hook.pre_tool_use.v1", binary.header.Get("Ce-Type"))
	assert.Equal(t, "application/json", binary.header.Get("Content-Type"))
	assert.Empty(t, binary.header.Get("Webhook-Signature"))
	assert.NotEmpty(t, binary.header.Get("Webhook-Id"))
	require.NoError(t, json.Unmarshal([]byte(binary.body), &event.Data))
	assert.Equal(t, "Write", event.Data.Tool.Name)

	payload := call("PreToolUse", "Read", map[string]string{"file_path": "/denied"})
	r := s.hook("grapnel-hook", "PreToolUse", payload)
	denied(t, "PreToolUse", r, "/native says no")
	assert.Equal(t, payload, e.to("/native")[0].body, "the agent's own words")

	assert.Equal(t, "deny", s.emit("Edit", command("denied")).Effect)
	assert.Equal(t, "abstain", s.emit("Edit", command("other")).Effect)
	assert.Len(t, e.to("/some"), 1, "its condition did not hold")

	assert.Regexp(t, `(?m)^structured +- +user +pre_tool_use.bash .*127\.0\.0\.1.* ready$`, s.grapnel("hooks", "list"))
	assert.NotContains(t, s.grapnel("hooks", "list", "--json"), "token-of-the-person")
	s.stop(d)
	assert.Empty(t, holding(s.state(""), "token-of-the-person"))
	assert.Empty(t, holding(s.state(""), webhookSecret))
	s.verified()
}

// TestA11WhatAnEndpointMayNotBe: this machine and network are for those whom the
// configuration lists.
func TestA11WhatAnEndpointMayNotBe(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, func(w http.ResponseWriter, d delivery, _ int) {
		if d.path == "/moved" {
			w.Header().Set("Location", "/hidden")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
		says(w, `{"effect": "abstain"}`)
	})
	s := newSite(t)
	configure := func(private, url string) {
		s.configure(fmt.Sprintf(`version: 1
policy: {default: false}
webhooks:
  private: [%s]
  hooks:
    - {name: local, on: [pre_tool_use.bash], url: "%s/local"}
    - {name: moved, on: [pre_tool_use.write], url: "%s/moved"}
`, private, url, url))
	}
	// An address is refused at the start,
	for _, private := range []string{"", `"127.0.0.1:1"`, `"10.0.0.0/8"`} {
		configure(private, e.URL)
		r := s.run("", "grapnel", "up")
		assert.Equal(t, 2, r.exit, "%s: %s", private, r)
		assert.Contains(t, r.stderr, "address is not allowed: "+e.address(), private)
		assert.Contains(t, r.stderr, "put it into webhooks.private", private)
	}
	// a name when it is known where it leads.
	_, port, _ := strings.Cut(e.address(), ":")
	configure("", "https://localhost:"+port)
	d := s.up()
	v := s.emit("Bash", command("ls"))
	assert.Equal(t, "deny", v.Effect)
	assert.Contains(t, v.Reason, "address is not allowed")
	assert.Contains(t, v.Reason, "put it into webhooks.private")
	s.stop(d)
	assert.Empty(t, e.to("/local"), "nothing was sent")

	configure(`"`+e.address()+`"`, e.URL)
	d = s.up()
	assert.Equal(t, "abstain", s.emit("Bash", command("ls")).Effect)
	v = s.emit("Write", command("ls"))
	assert.Equal(t, "deny", v.Effect)
	assert.Contains(t, v.Reason, "307", "no redirect is followed")
	s.stop(d)
	assert.Len(t, e.to("/local"), 1)
	assert.Empty(t, e.to("/hidden"))

	for text, want := range map[string]string{
		`{name: a, on: [stop], url: "ftp://example.com"}`:                                                "http",
		`{name: a, on: [stop], url: "http://example.com/x"}`:                                             "https",
		`{name: a, on: [], url: "https://example.com"}`:                                                  "name the events",
		`{name: a, on: [no_such_event.x], url: "https://example.com"}`:                                   "no_such_event",
		`{name: a, on: [stop], url: "https://example.com", headers: {X-Key: $NO_SUCH_VARIABLE}}`:         "NO_SUCH_VARIABLE",
		`{name: a, on: [stop], url: "https://example.com", secrets: [plain]}`:                            "whsec_",
		`{name: a, on: [stop], url: "https://example.com", body: xml}`:                                   "xml",
		`{name: a, on: [stop], url: "https://e.com", when: "event.("}`:                                   "when",
		`{name: a, on: [stop], url: "https://e.com"}, {name: a, on: [stop], url: "https://example.com"}`: "used twice",
		`{name: a, on: [stop], url: "https://person:very-secret@example.com/"}`:                          "url",
	} {
		s.configure("webhooks: {hooks: [" + text + "]}")
		r := s.run("", "grapnel", "up")
		assert.Equal(t, 2, r.exit, "%s: %s", text, r)
		assert.Contains(t, r.stderr, want, text)
		assert.NotContains(t, r.stderr, "very-secret", text)
	}
	s.configure(`webhooks: {private: ["everything"]}`)
	r := s.run("", "grapnel", "up")
	assert.Equal(t, 2, r.exit, "%s", r)
	assert.Contains(t, r.stderr, `"everything" is neither host:port nor a network`)
}

// TestA11WhatIsNoAnswer: the failure policy counts.
func TestA11WhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	const secret = "what-only-the-endpoint-knows"
	e := newEndpoint(t, func(w http.ResponseWriter, d delivery, _ int) {
		kind := map[string]string{"text": "text/plain"}
		body := map[string]string{
			"text": `{"effect":"allow"}`, "prose": "yes", "unknown": `{"effect":"allow","more":1}`, "two": `{"effect":"allow"}{"effect":"allow"}`,
			"twice": `{"effect":"deny","effect":"allow"}`, "null": `{"effect":null}`, "large": `{"effect":"allow","reason":"` + strings.Repeat("x", 2<<20) + `"}`,
			"500": secret, "404": secret,
		}
		for word, text := range body {
			if !strings.Contains(d.body, `"command":"`+word+`"`) {
				continue
			}
			w.Header().Set("Content-Type", "application/json")
			if kind[word] != "" {
				w.Header().Set("Content-Type", kind[word])
			}
			if word == "500" || word == "404" {
				w.WriteHeader(map[string]int{"500": 500, "404": 404}[word])
			}
			_, _ = io.WriteString(w, text)
			return
		}
		if strings.Contains(d.body, "breaks") {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	s := newSite(t)
	s.configure(strings.ReplaceAll(`version: 1
policy: {default: false}
webhooks:
  private: ["127.0.0.0/8"]
  hooks:
    - {name: default, on: [pre_tool_use.bash], url: URL/default, grants: true}
    - {name: asks, on: [pre_tool_use.write], url: URL/asks, on_failure: ask}
    - {name: goes-on, on: [pre_tool_use.read], url: URL/goes-on, on_failure: abstain}
`, "URL", e.URL))
	d := s.up()
	for _, word := range []string{"500", "404", "text", "prose", "unknown", "two", "twice", "null", "large", "breaks"} {
		v := s.emit("Bash", command(word))
		assert.Equal(t, "deny", v.Effect, word)
		assert.Contains(t, v.Reason, "default", "%s: the reason says who", word)
		assert.NotContains(t, v.Reason, secret, "and nothing of what it wrote")
	}
	assert.Contains(t, s.emit("Bash", command("500")).Reason, "500")
	v := s.emit("Write", command("500"))
	assert.Equal(t, "ask", v.Effect)
	assert.Contains(t, v.Reason, "500")
	assert.Equal(t, "abstain", s.emit("Read", command("500")).Effect)
	s.stop(d)
	assert.Empty(t, holding(s.state(""), secret))
}

// TestA11NotificationsAreDelivered: again where that can help, with the same id.
func TestA11NotificationsAreDelivered(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, func(w http.ResponseWriter, d delivery, n int) {
		switch {
		case d.path == "/flaky" && n < 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case d.path == "/final":
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	s := newSite(t)
	s.env = append(s.env, "HOOK_SECRET="+webhookSecret)
	s.configure(strings.ReplaceAll(`version: 1
policy: {default: false}
webhooks:
  private: ["127.0.0.0/8"]
  hooks:
    - {name: flaky, on: [post_tool_use.bash], url: URL/flaky, allowed_env: [HOOK_SECRET], secrets: ["${HOOK_SECRET}"]}
    - {name: final, on: [post_tool_use.bash], url: URL/final}
    - {name: other, on: [post_tool_use.write], url: URL/other}
    - {name: both, on: [post_tool_use.bash, pre_tool_use.bash], url: URL/both}
`, "URL", e.URL))
	d := s.up()
	r := s.run(command("ls"), "grapnel", "emit", "post_tool_use", "--tool", "Bash", "--data", "-")
	require.Zero(t, r.exit, "%s", r)
	assert.Contains(t, r.stdout, "NOTIFY", "nobody waits for it")
	require.True(t, poll(func() bool { return len(e.to("/flaky")) == 3 && len(e.to("/final")) > 0 && len(e.to("/both")) == 1 }))
	ids := make(map[string]bool)
	theirs, err := oracle.NewWebhook(webhookSecret)
	require.NoError(t, err)
	for _, got := range e.to("/flaky") {
		ids[got.header.Get("Webhook-Id")] = true
		assert.Contains(t, got.body, "dev.grapnel.hook.post_tool_use.v1")
		require.NoError(t, theirs.Verify([]byte(got.body), got.header))
	}
	assert.Len(t, ids, 1, "an endpoint can tell that it is the same")
	assert.Equal(t, "abstain", s.emit("Bash", command("ls")).Effect)
	assert.Len(t, e.to("/both"), 2)
	assert.Empty(t, e.to("/other"))
	s.stop(d)
	assert.Len(t, e.to("/flaky"), 3)
}

// TestA11HTTPHooksOfClaudeCode get Claude Code's own input and answer in its
// words. Only the person's own may reach what the configuration lists.
func TestA11HTTPHooksOfClaudeCode(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, func(w http.ResponseWriter, d delivery, _ int) {
		switch {
		case strings.Contains(d.body, "denied"):
			says(w, `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "the endpoint says no"}}`)
		case strings.Contains(d.body, "fails"):
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	s := hooked(t, e, `"127.0.0.0/8"`, "dialects: [claude-code, grapnel]\n")
	s.write("home/.claude/settings.json", strings.ReplaceAll(`{"hooks": {"PreToolUse": [
  {"matcher": "Bash", "hooks": [{"type": "http", "url": "URL/own", "timeout": 5,
    "headers": {"Authorization": "Bearer $HOOK_TOKEN", "X-Other": "$HOME"}, "allowedEnvVars": ["HOOK_TOKEN"]}]},
  {"matcher": "Write", "hooks": [{"type": "http", "url": "URL/blocks", "onFailure": "block"}]}]}}`, "URL", e.URL))
	s.write("work/.grapnel/hooks.json", `{"hooks": [{"name": "theirs", "on": ["pre_tool_use.read"], "url": "`+e.URL+`/theirs"}]}`)
	d := s.up()
	v := s.emit("Bash", command("denied"))
	assert.Equal(t, "deny", v.Effect)
	assert.Equal(t, "the endpoint says no", v.Reason)
	assert.Equal(t, "abstain", s.emit("Bash", command("ls")).Effect)
	assert.Equal(t, "abstain", s.emit("Bash", command("fails")).Effect, "Claude Code goes on")
	assert.Equal(t, "deny", s.emit("Write", command("fails")).Effect, "unless the hook says block")
	got := e.to("/own")
	require.Len(t, got, 3)
	var input struct {
		Event string `json:"hook_event_name"`
		Tool  string `json:"tool_name"`
		CWD   string `json:"cwd"`
	}
	require.NoError(t, json.Unmarshal([]byte(got[0].body), &input))
	assert.Equal(t, "PreToolUse", input.Event)
	assert.Equal(t, "Bash", input.Tool)
	assert.Equal(t, s.path("work"), input.CWD)
	assert.Equal(t, "application/json", got[0].header.Get("Content-Type"))
	assert.Equal(t, "Bearer token-of-the-person", got[0].header.Get("Authorization"))
	assert.Empty(t, got[0].header.Get("X-Other"), "a variable that was not allowed is nothing")
	// Claude Code itself posts what stands in its own file.
	passed(t, "PreToolUse", s.hook("grapnel-hook", "PreToolUse", bash("denied")))
	assert.Len(t, e.to("/own"), 3)

	assert.Equal(t, "abstain", s.emit("Read", command("ls")).Effect, "nobody has approved it")
	s.grapnel("trust", "add", "theirs")
	v = s.emit("Read", command("ls"))
	assert.Equal(t, "deny", v.Effect, "approved, and not allowed to reach this machine")
	assert.Contains(t, v.Reason, "127.0.0.1")
	assert.Empty(t, e.to("/theirs"))
	s.stop(d)
}
