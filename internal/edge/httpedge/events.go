package httpedge

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cloudevents/sdk-go/v2/binding"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/edge"
)

// events answers a CloudEvent.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	text, ok := body(w, r)
	if !ok {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	e, status, why := read(r, text)
	if why != "" {
		refuse(w, status, why)
		return
	}
	if !e.Name.Blocking() {
		ctx, cancel := context.WithTimeout(r.Context(), edge.DefaultPublishBudget)
		defer cancel()
		receipt, err := h.bus.Publish(ctx, e)
		if err != nil {
			refuse(w, http.StatusServiceUnavailable, "the event was not stored: "+err.Error())
			return
		}
		reply(w, http.StatusAccepted, receipt)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), edge.DefaultBudget)
	defer cancel()
	v, err := h.bus.Request(ctx, e)
	if err != nil {
		v = hook.Verdict{EventID: e.ID, Reason: "grapnel could not decide: " + err.Error(), Time: time.Now().UTC()}
		if e.Name.Class() == hook.Gate {
			v.Effect = hook.Deny
		}
		reply(w, http.StatusServiceUnavailable, v)
		return
	}
	reply(w, http.StatusOK, v)
}

// read makes an event of a request: the SDK says how it is encoded and whether
// it is a CloudEvent, and our codec says what is in it.
func read(r *http.Request, text []byte) (e hook.Event, status int, why string) {
	m := cehttp.NewMessageFromHttpRequest(r)
	encoding := m.ReadEncoding()
	switch encoding {
	case binding.EncodingBinary, binding.EncodingStructured:
	case binding.EncodingBatch:
		return e, http.StatusUnsupportedMediaType, "batches are not taken: each event has its own answer; send them one by one"
	default:
		return e, http.StatusUnsupportedMediaType, "this is no CloudEvent: send Content-Type application/cloudevents+json, or the attributes in ce- headers with Content-Type application/json"
	}
	checked, err := binding.ToEvent(r.Context(), m)
	if err == nil {
		err = checked.Validate()
	}
	if err == nil && encoding == binding.EncodingStructured {
		e, err = cloudevent.Unmarshal(text)
	} else if err == nil {
		e, err = cloudevent.Decode(attributes(r.Header), text)
	}
	if err != nil {
		return e, http.StatusBadRequest, err.Error()
	}
	return e, 0, ""
}

// attributes are the event's headers under the names of our codec, which takes
// the percent encoding off itself. The content type is an attribute by itself
// in HTTP.
func attributes(header http.Header) map[string][]string {
	list := make(map[string][]string)
	for name, values := range header {
		switch name = strings.ToLower(name); {
		case name == "content-type":
			list["ce-datacontenttype"] = append(list["ce-datacontenttype"], values...)
		case strings.HasPrefix(name, "ce-"):
			list[name] = append(list[name], values...)
		}
	}
	return list
}
