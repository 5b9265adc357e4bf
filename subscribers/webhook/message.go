package webhook

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/textproto"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// maxBody leaves room for an event's data and attributes.
const maxBody = cloudevent.MaxData*4/3 + 1<<20

// Message is what one POST sends. Its memory is only read, and only until the
// call returns.
type Message struct {
	// ID is the webhook-id: 1 to 128 letters, digits, '-' and '_', the same
	// whenever the same message is sent. Empty means a new one.
	ID string
	// ContentType is that of Body; empty means application/json.
	ContentType string
	// Headers come after the hook's own, and in the place of those with the
	// same name. They are sent as they are: nothing is expanded. The names
	// that a [Hook] may not set are refused here too.
	Headers map[string]string
	// Body is sent byte for byte.
	Body []byte

	// attributes are the ce- headers of binary mode.
	attributes http.Header
}

// message is the event as the hook wants it. The error wraps [ErrMessage].
func (w *Webhook) message(e hook.Event) (Message, error) {
	var m Message
	var err error
	switch w.hook.Body {
	case Native:
		m.Body = e.Data.Native.Payload
		if len(m.Body) == 0 {
			err = fmt.Errorf("it has no native payload; use the body %s", Structured)
		}
	case Binary:
		var attributes map[string][]string
		attributes, m.Body, err = cloudevent.Encode(e)
		m.attributes = make(http.Header, len(attributes))
		for name, values := range attributes {
			if name == "ce-datacontenttype" { // is the Content-Type here (HTTP binding 3.1.1)
				m.ContentType = values[0]
				continue
			}
			m.attributes[textproto.CanonicalMIMEHeaderKey(name)] = values
		}
	default:
		m.ContentType = cloudevent.StructuredType
		m.Body, err = cloudevent.Marshal(e)
	}
	if err != nil {
		return m, w.wrap(fmt.Errorf("%w: %w", ErrMessage, err))
	}
	m.ID = idOf(w.hook.Name, e, m.Body)
	return m, nil
}

// idOf is the webhook-id of an event: the same in every try, and another one
// for another hook at the same endpoint, and where a decider before this one
// has rewritten the input.
func idOf(name string, e hook.Event, body []byte) string {
	h := sha256.New()
	digest := sha256.Sum256(body)
	for _, part := range []string{name, e.Source, e.ID, string(digest[:])} {
		fmt.Fprintf(h, "%d:%s", len(part), part) // the length keeps parts apart
	}
	return "msg_" + hex.EncodeToString(h.Sum(nil)[:16])
}

// prepare checks a message and makes the headers that every try has.
func (w *Webhook) prepare(m *Message) (http.Header, error) {
	if m.ID == "" {
		m.ID = "msg_" + rand.Text()
	}
	if !messageID.MatchString(m.ID) {
		return nil, fmt.Errorf("%w: the id %.40q is not 1 to 128 letters, digits, - or _", ErrMessage, m.ID)
	}
	if len(m.Body) > maxBody {
		return nil, fmt.Errorf("%w: the body has %d bytes, at most %d", ErrMessage, len(m.Body), maxBody)
	}
	own, err := literalHeaders(m.Headers)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	header := w.headers.Clone()
	for _, more := range []http.Header{own, m.attributes} {
		for name, values := range more {
			header[name] = values
		}
	}
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", "grapnel-webhook/1")
	}
	contentType := either(m.ContentType, cloudevent.ContentType)
	if err := checkValue(contentType); err != nil {
		return nil, fmt.Errorf("%w: content type: %w", ErrMessage, err)
	}
	header.Set("Content-Type", contentType)
	header.Set(HeaderID, m.ID)
	// The transport takes this for "may be sent again on a new connection when
	// the idle one turns out to be closed"; a nil value is not sent. The
	// webhook-id makes it true.
	if header["Idempotency-Key"] == nil {
		header["Idempotency-Key"] = nil
	}
	return header, nil
}
