package webhook_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	oracle "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

const (
	secretA = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	secretB = "whsec_QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY="
)

func parsed(t require.TestingT, s string) webhook.Secret {
	secret, err := webhook.ParseSecret(s)
	require.NoError(t, err)
	return secret
}

func TestStandardWebhooksAgrees(t *testing.T) {
	t.Parallel()
	for _, secrets := range [][]string{{secretA}, {secretB, secretA}, {"$WEBHOOK_SECRET"}} {
		requests := make(chan received, 1)
		s := serve(t, record(requests))
		w := ready(t, webhook.Hook{URL: s.URL, Secrets: secrets, AllowedEnv: []string{"WEBHOOK_SECRET"}},
			webhook.Options{Client: client(t, s), Environ: []string{"WEBHOOK_SECRET=" + secretA}})
		_, err := w.Decide(t.Context(), event())
		require.NoError(t, err)
		r := wait(t, requests)
		assert.Len(t, strings.Split(r.header.Get("Webhook-Signature"), " "), len(secrets))
		theirs, err := oracle.NewWebhook(secretA)
		require.NoError(t, err)
		require.NoError(t, theirs.Verify(r.body, r.header))
		require.NoError(t, webhook.Verify(r.header, r.body, parsed(t, secretA)))
		require.Error(t, theirs.Verify(append(r.body, ' '), r.header))
		assert.ErrorIs(t, webhook.Verify(r.header, append(r.body, ' '), parsed(t, secretA)), webhook.ErrSignature)
	}
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 24, 64).Draw(t, "key")
		text := "whsec_" + base64.StdEncoding.EncodeToString(key)
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		id := rapid.StringMatching(`[A-Za-z0-9_-]{1,40}`).Draw(t, "id")
		now := time.Now()
		theirs, err := oracle.NewWebhook(text)
		require.NoError(t, err)
		signed, err := theirs.Sign(id, now, body)
		require.NoError(t, err)
		assert.Equal(t, signed, webhook.Sign(id, now, body, parsed(t, text)))
		h := http.Header{}
		h.Set("webhook-id", id)
		h.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
		h.Set("webhook-signature", "v1a,x "+signed)
		require.NoError(t, webhook.Verify(h, body, parsed(t, secretA), parsed(t, text)))
		require.NoError(t, theirs.Verify(body, h))
	})
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		secret, body, now := parsed(t, secretA), []byte(`{}`), time.Now()
		good := func() http.Header {
			h := http.Header{}
			h.Set("Webhook-Id", "msg_1")
			h.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
			h.Set("Webhook-Signature", webhook.Sign("msg_1", now, body, secret))
			return h
		}
		require.NoError(t, webhook.Verify(good(), body, secret))
		for name, change := range map[string]func(http.Header){
			"no id":         func(h http.Header) { h.Del("Webhook-Id") },
			"two ids":       func(h http.Header) { h.Add("Webhook-Id", "msg_1") },
			"other id":      func(h http.Header) { h.Set("Webhook-Id", "msg_2") },
			"id with stop":  func(h http.Header) { h.Set("Webhook-Id", "msg.1") },
			"no time":       func(h http.Header) { h.Del("Webhook-Timestamp") },
			"time 0":        func(h http.Header) { h.Set("Webhook-Timestamp", "0") },
			"time hex":      func(h http.Header) { h.Set("Webhook-Timestamp", "0x10") },
			"time negative": func(h http.Header) { h.Set("Webhook-Timestamp", "-1") },
			"time huge":     func(h http.Header) { h.Set("Webhook-Timestamp", "99999999999999999999") },
			"next second":   func(h http.Header) { h.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix()+1, 10)) },
			"no signature":  func(h http.Header) { h.Del("Webhook-Signature") },
			"empty":         func(h http.Header) { h.Set("Webhook-Signature", "v1,") },
			"other version": func(h http.Header) { h.Set("Webhook-Signature", "v2"+h.Get("Webhook-Signature")[2:]) },
			"no version":    func(h http.Header) { h.Set("Webhook-Signature", h.Get("Webhook-Signature")[3:]) },
			"too many": func(h http.Header) {
				h.Set("Webhook-Signature", strings.Repeat("v1,x ", 100)+h.Get("Webhook-Signature"))
			},
			"other key": func(h http.Header) { h.Set("Webhook-Signature", webhook.Sign("msg_1", now, body, parsed(t, secretB))) },
		} {
			h := good()
			change(h)
			assert.ErrorIs(t, webhook.Verify(h, body, secret), webhook.ErrSignature, name)
		}
		assert.ErrorIs(t, webhook.Verify(good(), body), webhook.ErrSignature, "no secret vouches for nothing")
		empty := good()
		empty.Set("Webhook-Signature", webhook.Sign("msg_1", now, body, webhook.Secret{}))
		assert.ErrorIs(t, webhook.Verify(empty, body, webhook.Secret{}), webhook.ErrSignature)

		// The bubble's clock stands still but for this.
		early := good()
		early.Set("Webhook-Timestamp", strconv.FormatInt(now.Add(webhook.Tolerance).Unix()+1, 10))
		early.Set("Webhook-Signature", webhook.Sign("msg_1", now.Add(webhook.Tolerance+time.Second), body, secret))
		assert.ErrorIs(t, webhook.Verify(early, body, secret), webhook.ErrSignature)
		<-time.After(webhook.Tolerance)
		require.NoError(t, webhook.Verify(good(), body, secret))
		<-time.After(time.Second)
		assert.ErrorIs(t, webhook.Verify(good(), body, secret), webhook.ErrSignature)
		require.NoError(t, webhook.Verify(early, body, secret))
	})
}

func TestSecretsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "whsec_correct horse battery staple!!!!",
		"whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 23)), "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 65)),
		"whsec_MfKQ9r8GKYqrTwjU\nPD8ILPZIo2LaLaSw",
	} {
		_, err := webhook.ParseSecret(s)
		failed(t, err, webhook.ErrConfig)
		if len(s) > 8 {
			assert.NotContains(t, err.Error(), s[6:])
		}
		_, err = webhook.New(webhook.Hook{Name: "x", On: []string{">"}, URL: "https://h/", Secrets: []string{secretA, s}}, nil)
		failed(t, err, webhook.ErrConfig)
		assert.Contains(t, err.Error(), "secrets: number 2")
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	secret := parsed(t, secretA)
	h := webhook.Hook{
		Name: "x", On: []string{">"}, URL: "https://hooks.example.com/services/T0KEN?key=T0KEN",
		Headers: map[string]string{"Authorization": "T0KEN"}, Secrets: []string{secretA},
	}
	w, err := webhook.New(h, nil)
	require.NoError(t, err)
	w.Close()
	text, err := json.Marshal(map[string]any{"secret": secret, "webhook": w})
	require.NoError(t, err)
	all := string(text) + h.LogValue().String()
	for _, v := range []any{secret, &secret, []webhook.Secret{secret}, h, &h, []webhook.Hook{h}, w, *w, struct{ W *webhook.Webhook }{w}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
			all += fmt.Sprintf(verb, v)
		}
	}
	for _, s := range []string{"T0KEN", secretA[6:], fmt.Sprint([]byte("\x31\xf2\x90"))[1:9], "31f290"} {
		assert.False(t, strings.Contains(all, s), s)
	}
}
