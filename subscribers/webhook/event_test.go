package webhook_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"testing"

	"github.com/cloudevents/sdk-go/v2/binding"
	"github.com/cloudevents/sdk-go/v2/binding/format"
	"github.com/cloudevents/sdk-go/v2/binding/spec"
	sdk "github.com/cloudevents/sdk-go/v2/event"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

// received is one request as an endpoint saw it.
type received struct {
	method string
	header http.Header
	body   []byte
}

func record(into chan<- received) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		into <- received{r.Method, r.Header.Clone(), body}
		w.WriteHeader(http.StatusNoContent)
	}
}

// sdkMessage lets the CloudEvents SDK read an HTTP request: its own tables of
// attributes, its own reading of both modes.
type sdkMessage struct{ received }

// versions is how the SDK maps attributes to headers of HTTP.
func versions() *spec.Versions {
	return spec.WithPrefixMatchExact(func(s string) string {
		if s == "datacontenttype" {
			return "Content-Type"
		}
		return textproto.CanonicalMIMEHeaderKey("Ce-" + s)
	}, "Ce-")
}

func (m sdkMessage) ReadEncoding() binding.Encoding {
	if format.Lookup(m.header.Get("Content-Type")) != nil {
		return binding.EncodingStructured
	}
	return binding.EncodingBinary
}

func (m sdkMessage) ReadStructured(ctx context.Context, w binding.StructuredWriter) error {
	f := format.Lookup(m.header.Get("Content-Type"))
	if f == nil {
		return binding.ErrNotStructured
	}
	return w.SetStructuredEvent(ctx, f, bytes.NewReader(m.body))
}

func (m sdkMessage) ReadBinary(_ context.Context, w binding.BinaryWriter) error {
	version := versions().Version(m.header.Get("Ce-Specversion"))
	for name, values := range m.header {
		// The SDK leaves percent-encoding (HTTP binding 3.1.3.2) to its user.
		value, err := url.PathUnescape(values[0])
		if err != nil {
			return err
		}
		if a := version.Attribute(name); a != nil {
			err = w.SetAttribute(a, value)
		} else if strings.HasPrefix(name, "Ce-") {
			err = w.SetExtension(strings.ToLower(name[3:]), value)
		}
		if err != nil {
			return err
		}
	}
	return w.SetData(bytes.NewReader(m.body))
}

func (m sdkMessage) GetAttribute(k spec.Kind) (spec.Attribute, any) {
	a := versions().Version("1.0").AttributeFromKind(k)
	return a, m.header.Get(a.PrefixedName())
}

func (m sdkMessage) GetExtension(name string) any { return m.header.Get("Ce-" + name) }

func (m sdkMessage) Finish(error) error { return nil }

func same(t require.TestingT, e hook.Event, got *sdk.Event) {
	require.NoError(t, got.Validate())
	assert.Equal(t, "1.0", got.SpecVersion())
	assert.Equal(t, e.ID, got.ID())
	assert.Equal(t, e.Source, got.Source())
	assert.Equal(t, e.Name.Type(), got.Type())
	assert.Equal(t, e.Subject, got.Subject())
	assert.Equal(t, "application/json", got.DataContentType())
	assert.True(t, e.Time.Equal(got.Time()), got.Time())
	assert.Equal(t, e.SessionID, got.Extensions()["sessionid"])
	assert.EqualValues(t, e.Extensions["tenant"], got.Extensions()["tenant"])
	assert.Contains(t, string(got.Data()), string(e.Data.Tool.Input), "the tool's input stands there byte for byte")
}

func TestCloudEventsSDKReadsBothModes(t *testing.T) {
	t.Parallel()
	for _, mode := range []webhook.Body{webhook.Binary, webhook.Structured, ""} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			requests := make(chan received, 1)
			w := to(t, serve(t, record(requests)), webhook.Hook{Body: mode})
			check := func(t require.TestingT, e hook.Event) {
				_, err := w.Decide(context.Background(), e)
				require.NoError(t, err)
				r := <-requests
				assert.Equal(t, http.MethodPost, r.method)
				assert.NotContains(t, r.header, "Ce-Datacontenttype")
				got, err := binding.ToEvent(context.Background(), sdkMessage{r})
				require.NoError(t, err)
				same(t, e, got)
			}
			check(t, event())
			// The SDK trims spaces at the ends.
			text := rapid.StringMatching(`[!-~ö][ -~äöü→😀]{0,38}[!-~😀]`)
			rapid.Check(t, func(t *rapid.T) {
				e := event()
				e.ID = text.Draw(t, "id")
				e.Subject = text.Draw(t, "subject")
				e.SessionID = text.Draw(t, "session")
				e.Extensions["tenant"] = text.Draw(t, "tenant")
				check(t, e)
			})
		})
	}
}

func TestNativeBodyIsTheAgentsOwnBytes(t *testing.T) {
	t.Parallel()
	requests := make(chan received, 1)
	w := to(t, serve(t, record(requests)), webhook.Hook{Body: webhook.Native})
	_, err := w.Decide(t.Context(), event())
	require.NoError(t, err)
	r := wait(t, requests)
	assert.Equal(t, string(event().Data.Native.Payload), string(r.body))
	assert.Equal(t, "application/json", r.header.Get("Content-Type"))
	for name := range r.header {
		assert.False(t, strings.HasPrefix(name, "Ce-"), name)
	}
}

func TestIDsTellMessagesApart(t *testing.T) {
	t.Parallel()
	requests := make(chan received, 1)
	s := serve(t, record(requests))
	a, b := to(t, s, webhook.Hook{Name: "a"}), to(t, s, webhook.Hook{Name: "b"})
	id := func(w *webhook.Webhook, change func(*hook.Event)) string {
		e := event()
		change(&e)
		_, err := w.Decide(t.Context(), e)
		require.NoError(t, err)
		return wait(t, requests).header.Get("Webhook-Id")
	}
	none := func(*hook.Event) {}
	first := id(a, none)
	assert.Regexp(t, `^msg_[0-9a-f]{32}$`, first)
	assert.Equal(t, first, id(a, none), "the same event is the same message")
	seen := map[string]bool{first: true}
	for name, other := range map[string]string{
		"other hook":    id(b, none),
		"other id":      id(a, func(e *hook.Event) { e.ID = "event-2" }),
		"other source":  id(a, func(e *hook.Event) { e.Source, e.ID = "/host/claude-codee", "vent-1" }),
		"rewritten":     id(a, func(e *hook.Event) { e.Data.Tool = &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: []byte(`{}`)} }),
		"posted":        post(t, a, requests),
		"posted  again": post(t, a, requests),
	} {
		assert.False(t, seen[other], name)
		seen[other] = true
	}
}

func post(t *testing.T, w *webhook.Webhook, requests <-chan received) string {
	_, err := w.Post(t.Context(), webhook.Message{})
	require.NoError(t, err)
	return wait(t, requests).header.Get("Webhook-Id")
}
