package webhook_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

func TestDecisionsAreRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    hook.Decision
	}{
		"204":            {answer(204, "", ""), hook.Decision{}},
		"200 and length": {answer(200, "", ""), hook.Decision{}},
		"202 and space":  {answer(202, "text/plain", " \n"), hook.Decision{}},
		"allow":          {answer(200, "application/json", `{"effect":"allow"}`), hook.Decision{Effect: hook.Allow}},
		"deny":           {answer(201, "application/json; charset=UTF-8", `{"effect":"deny","reason":"no \u001b[2Jway","rules":["r1"]}`), hook.Decision{Effect: hook.Deny, Reason: "no way", Rules: []string{"r1"}}},
		"no reason":      {answer(200, "application/vnd.acme+json", `{"effect":"halt"}`), hook.Decision{Effect: hook.Halt, Reason: "webhook tested says halt and gave no reason"}},
		"rewrite":        {answer(200, "application/json", `{"effect":"allow","rewrite":{"command":"ls"},"context":"c"}`), hook.Decision{Effect: hook.Allow, Context: "c", Rewrite: []byte(`{"command":"ls"}`)}},
		"chunks": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
		}, hook.Decision{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := to(t, serve(t, c.handler), webhook.Hook{Rewrites: true}).Decide(t.Context(), event())
			require.NoError(t, err)
			assert.Equal(t, c.want, d)
		})
	}
}

// Nothing here may come out as a decision: an abstention or allow would let the
// tool run.
func TestWhatIsNoAnswerIsAFailure(t *testing.T) {
	t.Parallel()
	raw := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			_, _ = conn.Write([]byte(text))
			_ = conn.Close()
		}
	}
	json := func(body string) http.HandlerFunc { return answer(200, "application/json", body) }
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		is      error
	}{
		"400":                  {answer(400, "application/json", `{"effect":"allow"}`), webhook.ErrStatus},
		"401":                  {answer(401, "", ""), webhook.ErrStatus},
		"404":                  {answer(404, "", ""), webhook.ErrStatus},
		"410":                  {answer(410, "", ""), webhook.ErrGone},
		"500":                  {answer(500, "application/json", `{"effect":"allow"}`), webhook.ErrStatus},
		"503":                  {answer(503, "", ""), webhook.ErrStatus},
		"304":                  {answer(304, "", ""), webhook.ErrRedirect},
		"301 without location": {answer(301, "", ""), webhook.ErrRedirect},
		"999":                  {answer(999, "", ""), webhook.ErrStatus},
		"text":                 {answer(200, "text/plain", `{"effect":"allow"}`), webhook.ErrAnswer},
		"no type":              {raw("HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{\"effect\":\"allow\"}"), webhook.ErrAnswer},
		"two types":            {raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Type: text/html\r\nContent-Length: 18\r\n\r\n{\"effect\":\"allow\"}"), webhook.ErrAnswer},
		"other charset":        {answer(200, "application/json; charset=utf-7", `{"effect":"allow"}`), webhook.ErrAnswer},
		"broken type":          {answer(200, "application/json; charset", `{"effect":"allow"}`), webhook.ErrAnswer},
		"gzip": {func(w http.ResponseWriter, r *http.Request) {
			assert.Empty(t, r.Header.Get("Accept-Encoding"))
			w.Header().Set("Content-Encoding", "gzip")
			json(`{"effect":"allow"}`)(w, r)
		}, webhook.ErrAnswer},
		"cut, no length":      {raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"), webhook.ErrAnswer},
		"cut in length":       {raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n"), webhook.ErrConnect},
		"cut in chunks":       {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), webhook.ErrConnect},
		"not HTTP":            {raw("SSH-2.0-OpenSSH_9.9\r\n"), webhook.ErrConnect},
		"two lengths":         {raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n"), webhook.ErrConnect},
		"switching":           {raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), webhook.ErrStatus},
		"no effect":           {json(`{}`), webhook.ErrAnswer},
		"null effect":         {json(`{"effect":null}`), webhook.ErrAnswer},
		"null reason":         {json(`{"effect":"allow","reason":null}`), webhook.ErrAnswer},
		"unknown effect":      {json(`{"effect":"permit"}`), webhook.ErrAnswer},
		"case":                {json(`{"Effect":"allow"}`), webhook.ErrAnswer},
		"folding":             {json("{\"e\u017ffect\":\"allow\"}"), webhook.ErrAnswer},
		"twice":               {json(`{"effect":"deny","effect":"allow"}`), webhook.ErrAnswer},
		"unknown key":         {json(`{"effect":"allow","decision":"deny"}`), webhook.ErrAnswer},
		"trailing":            {json(`{"effect":"allow"} {}`), webhook.ErrAnswer},
		"array":               {json(`[{"effect":"allow"}]`), webhook.ErrAnswer},
		"null":                {json(`null`), webhook.ErrAnswer},
		"string":              {json(`"allow"`), webhook.ErrAnswer},
		"rewrite no object":   {json(`{"effect":"allow","rewrite":"x"}`), webhook.ErrAnswer},
		"rewrite unpermitted": {json(`{"effect":"allow","rewrite":{}}`), webhook.ErrAnswer},
		"bad UTF-8":           {json("{\"effect\":\"allow\",\"reason\":\"\xff\"}"), webhook.ErrAnswer},
		"deep":                {json(`{"effect":"allow","rewrite":` + strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 101)), webhook.ErrAnswer},
		"claude's own":        {json(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`), webhook.ErrAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := to(t, serve(t, c.handler), webhook.Hook{Tries: 1}).Decide(t.Context(), event())
			failed(t, err, c.is)
			assert.Equal(t, hook.Decision{}, d)
			assert.Contains(t, err.Error(), "webhook tested (http://127.0.0.1:")
		})
	}
}

func TestTLSAndHTTP2(t *testing.T) {
	t.Parallel()
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveTLS(t, http2, func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, name, r.Proto)
				answer(200, "application/json", `{"effect":"ask","reason":"who are you"}`)(w, r)
			})
			d, err := to(t, s, webhook.Hook{}).Decide(t.Context(), event())
			require.NoError(t, err)
			assert.Equal(t, hook.Decision{Effect: hook.Ask, Reason: "who are you"}, d)

			// Nobody vouches for the certificate.
			c, err := webhook.NewClient(&webhook.ClientOptions{AllowPrivate: []string{"127.0.0.0/8"}})
			require.NoError(t, err)
			t.Cleanup(c.Close)
			w := ready(t, webhook.Hook{URL: s.URL}, webhook.Options{Client: c})
			_, err = w.Decide(t.Context(), event())
			failed(t, err, webhook.ErrConnect)
			assert.Contains(t, err.Error(), "certificate")
			assert.NotContains(t, err.Error(), "tries", "another try would not help")
		})
	}
	t.Run("not TLS", func(t *testing.T) {
		t.Parallel()
		s := serve(t, answer(204, "", ""))
		w := to(t, s, webhook.Hook{URL: "https://" + hostPort(s)})
		_, err := w.Decide(t.Context(), event())
		failed(t, err, webhook.ErrConnect)
	})
}

func TestPostReturnsTheResponseAsItIs(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer x", r.Header.Get("Authorization"))
		assert.Equal(t, "$HOME", r.Header.Get("X-Literal"), "nothing is expanded in a message's headers")
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		w.Header().Set("X-Reply", "y")
		if r.URL.Path == "/hook" {
			answer(200, "text/plain", "plain")(w, r)
		} else {
			answer(422, "text/plain", "plain")(w, r)
		}
	})
	m := webhook.Message{Headers: map[string]string{"authorization": "Bearer x", "X-Literal": "$HOME"}, Body: []byte(`{}`)}
	r, err := to(t, s, webhook.Hook{}).Post(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, 200, r.Status)
	assert.Equal(t, "plain", string(r.Body))
	assert.Equal(t, "y", r.Header.Get("X-Reply"))
	assert.True(t, r.Ended)

	r, err = to(t, s, webhook.Hook{URL: s.URL + "/other"}).Post(t.Context(), m)
	failed(t, err, webhook.ErrStatus)
	assert.Equal(t, 422, r.Status)
	assert.Empty(t, r.Body)
}

func TestMessagesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	w := to(t, serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }), webhook.Hook{})
	for name, m := range map[string]webhook.Message{
		"id with a full stop": {ID: "a.1"},
		"id with a break":     {ID: "a\r\nx: y"},
		"reserved header":     {Headers: map[string]string{"webhook-signature": "v1,x"}},
		"header break":        {Headers: map[string]string{"X": "a\nb"}},
		"content type break":  {ContentType: "a\r\nb"},
		"too large":           {Body: make([]byte, 12<<20)},
	} {
		_, err := w.Post(t.Context(), m)
		failed(t, err, webhook.ErrMessage)
		failed(t, w.Deliver(t.Context(), m), webhook.ErrMessage)
		assert.NotContains(t, err.Error(), "\n", name)
	}
	bad := event()
	bad.ID = ""
	_, err := w.Decide(t.Context(), bad)
	failed(t, err, webhook.ErrMessage)
	native := to(t, serve(t, answer(204, "", "")), webhook.Hook{Body: webhook.Native})
	bad = event()
	bad.Data.Native.Payload = nil
	_, err = native.Decide(t.Context(), bad)
	failed(t, err, webhook.ErrMessage)
}

func TestPlaceInTheRoster(t *testing.T) {
	t.Parallel()
	w := ready(t, webhook.Hook{Name: "guard", On: []string{"pre_tool_use.Bash", "stop"}, URL: "https://h/", Priority: 3, OnFailure: hook.FailAsk, Rewrites: true}, webhook.Options{})
	assert.Equal(t, hook.Entry{
		Name: "guard", Filter: "pre_tool_use.Bash,stop", Priority: 3, OnFailure: hook.FailAsk, Rewrites: true, Timeout: duration(webhook.DefaultTimeout),
	}, w.Entry())
	pattern, err := w.Hook().Pattern()
	require.NoError(t, err)
	assert.True(t, pattern.Match(hook.PreToolUse, "Bash"))
	assert.False(t, pattern.Match(hook.PreToolUse, "Read"))
}
