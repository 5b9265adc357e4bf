package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

// An endpoint in Go that checks the signature and decides.
func ExampleWebhook_Decide() {
	const text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	secret, err := webhook.ParseSecret(text)
	if err != nil {
		panic(err)
	}
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 8<<20))
		if err != nil || webhook.Verify(r.Header, body, secret) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		e, err := cloudevent.Unmarshal(body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if e.Data.Tool == nil || !strings.Contains(string(e.Data.Tool.Input), "rm -rf") {
			w.WriteHeader(http.StatusNoContent) // abstain
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(hook.Decision{Effect: hook.Deny, Reason: "not on my watch"})
	}))
	defer endpoint.Close()

	// The user's own configuration allows this place on the loopback.
	client, err := webhook.NewClient(&webhook.ClientOptions{AllowPrivate: []string{endpoint.Listener.Addr().String()}})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	w, err := webhook.New(webhook.Hook{
		Name: "guard", On: []string{"pre_tool_use.bash"}, URL: endpoint.URL + "/decide",
		Secrets: []string{"$GUARD_SECRET"}, AllowedEnv: []string{"GUARD_SECRET"},
	}, &webhook.Options{Client: client, Environ: []string{"GUARD_SECRET=" + text}})
	if err != nil {
		panic(err)
	}
	for _, command := range []string{"rm -rf /", "ls"} {
		d, err := w.Decide(context.Background(), hook.Event{
			ID: "1", Source: "/laptop/claude-code", Name: hook.PreToolUse, Subject: "Bash",
			Data: hook.Data{Tool: &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: json.RawMessage(`{"command":"` + command + `"}`)}},
		})
		fmt.Println(d.Effect, d.Reason, err)
	}
	// Output:
	// deny not on my watch <nil>
	// abstain  <nil>
}

// An endpoint that is told about events, in binary mode.
func ExampleWebhook_Handle() {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Header.Get("Ce-Type"), r.Header.Get("Ce-Subject"), r.Header.Get("Content-Type"))
		w.WriteHeader(http.StatusAccepted)
	}))
	defer endpoint.Close()
	client, err := webhook.NewClient(&webhook.ClientOptions{AllowPrivate: []string{endpoint.Listener.Addr().String()}})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	w, err := webhook.New(webhook.Hook{
		Name: "tell", On: []string{"post_tool_use"}, URL: endpoint.URL, Body: webhook.Binary,
	}, &webhook.Options{Client: client})
	if err != nil {
		panic(err)
	}
	err = w.Handle(context.Background(), hook.Event{ID: "2", Source: "/laptop/codex", Name: hook.PostToolUse, Subject: "apply patch"})
	fmt.Println(err)
	// Output:
	// dev.grapnel.hook.post_tool_use.v1 apply%20patch application/json
	// <nil>
}

func ExampleMatchURL() {
	for _, u := range []string{"https://hooks.example.com/claude", "https://hooks.example.com@evil.test/", "https://hooks.example.com.evil.test/"} {
		fits, _ := webhook.MatchURL("https://hooks.example.com/*", u)
		fmt.Println(fits)
	}
	// Output:
	// true
	// false
	// false
}
