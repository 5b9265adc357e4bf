package httpedge

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/internal/edge"
	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// Handler answers hooks and events over HTTP.
type Handler struct {
	edge  *edge.Edge
	bus   edge.Bus
	token string
	log   *slog.Logger
	mux   *http.ServeMux
}

// MinToken is how long a token must be, in bytes.
const MinToken = 26

// NewHandler returns a handler for an edge and its bus. token is what callers
// have to show, at least [MinToken] bytes of it; log may be nil.
func NewHandler(e *edge.Edge, bus edge.Bus, token string, log *slog.Logger) (*Handler, error) {
	if len(token) < MinToken {
		return nil, fmt.Errorf("the token for HTTP has %d bytes, at least %d", len(token), MinToken)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &Handler{edge: e, bus: bus, token: token, log: log, mux: http.NewServeMux()}
	h.mux.HandleFunc("POST /hook/{agent}/{event}", h.hook)
	h.mux.HandleFunc("POST /events", h.events)
	return h, nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if status, why := h.refused(r); why != "" {
		h.log.Warn("http: request refused", "from", r.RemoteAddr, "status", status, "reason", why)
		refuse(w, status, why)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// refused says why a request is none of ours.
func (h *Handler) refused(r *http.Request) (status int, why string) {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	switch {
	case local == nil || !ownHost(r.Host, local.String()):
		return http.StatusMisdirectedRequest, "this is not the host that the request names"
	case len(r.Header.Values("Origin")) > 0 || len(r.Header.Values("Sec-Fetch-Site")) > 0:
		return http.StatusForbidden, "browsers have no business here"
	}
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || len(r.Header.Values("Authorization")) != 1 || subtle.ConstantTimeCompare([]byte(given), []byte(h.token)) != 1 {
		return http.StatusUnauthorized, "show the token: Authorization: Bearer, with the text in http.token of the state directory"
	}
	return 0, ""
}

// ownHost reports whether a Host header names the address that the request
// came in on, or localhost at its port.
func ownHost(host, local string) bool {
	_, port, err := net.SplitHostPort(local)
	return err == nil && (host == local || host == net.JoinHostPort("localhost", port))
}

// body reads a request's body whole.
func body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, hookwire.MaxStdin))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", large.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		refuse(w, http.StatusRequestTimeout, "the body did not come in time")
	case err != nil:
		refuse(w, http.StatusBadRequest, "the body could not be read: "+err.Error())
	}
	return b, err == nil
}

// hook answers an agent's own hook.
func (h *Handler) hook(w http.ResponseWriter, r *http.Request) {
	agent, event := r.PathValue("agent"), r.PathValue("event")
	stdin, ok := body(w, r)
	if !ok {
		return
	}
	budget := time.Duration(hookwire.Budget(agent, event)) * time.Millisecond
	answer := h.edge.Decide(r.Context(), hookwire.Request{
		Agent: agent, Event: event, Stdin: stdin, Deadline: time.Now().Add(budget).UnixNano(),
	})
	w.Header().Set("Grapnel-Exit-Code", strconv.Itoa(answer.Exit))
	if len(answer.Stdout) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer.Stdout) // whoever went away does not read it
}

func refuse(w http.ResponseWriter, status int, why string) {
	reply(w, status, map[string]string{"error": why})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // whoever went away does not read it
}
