package prompttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// Request is what one request to the server held.
type Request struct {
	Path   string
	Header http.Header
	// Raw is the body as it came.
	Raw []byte
	// System and User are the two messages.
	System, User string
	Model        string
	MaxTokens    int64
	// LimitName is the member that MaxTokens stood in.
	LimitName   string
	Temperature *float64
	Stream      bool
}

// nonce and boundary as the system message names them.
var (
	nonce    = regexp.MustCompile(`"nonce": "([0-9a-f]+)"`)
	boundary = regexp.MustCompile(`<<<RULES ([0-9a-f]+)>>>`)
)

// Nonce is what the model was asked to put into its answer.
func (r Request) Nonce() string { return last(nonce, r.System) }

// Boundary is what stands around the data.
func (r Request) Boundary() string {
	if m := boundary.FindStringSubmatch(r.System); m != nil {
		return m[1]
	}
	return ""
}

func last(re *regexp.Regexp, s string) string {
	m := re.FindAllStringSubmatch(s, -1)
	if len(m) == 0 {
		return ""
	}
	return m[len(m)-1][1]
}

// Server is a model server. All methods may be called concurrently.
type Server struct {
	http *httptest.Server
	key  string
	done chan struct{}

	mu       sync.Mutex
	answer   func(Request) Reply
	requests []Request
}

// New starts a server that answers with the replies in turn, and with the last
// one again when there are no more; without any it allows. It ends with the
// test.
func New(tb testing.TB, replies ...Reply) *Server {
	tb.Helper()
	s := Start(replies...)
	tb.Cleanup(s.Close)
	return s
}

// Start is New for programs and examples; Close ends it.
func Start(replies ...Reply) *Server {
	s := &Server{done: make(chan struct{})}
	if len(replies) == 0 {
		replies = []Reply{Allow()}
	}
	n := 0
	s.answer = func(Request) Reply { // called under mu
		r := replies[min(n, len(replies)-1)]
		n++
		return r
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Answer lets f answer from now on; f is called for one request after the
// other.
func (s *Server) Answer(f func(Request) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// RequireKey refuses, from now on, requests without the key in the vendor's
// header.
func (s *Server) RequireKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// AnthropicURL is the base URL for Anthropic's protocol.
func (s *Server) AnthropicURL() string { return s.http.URL }

// OpenAIURL is the base URL for OpenAI's protocol.
func (s *Server) OpenAIURL() string { return s.http.URL + "/v1" }

// Requests lists what came so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Close ends the server and all that hangs. It may be called again.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.done:
		s.mu.Unlock()
		return
	default:
		close(s.done)
	}
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		return
	}
	var v vendor
	switch {
	case r.URL.Path == "/v1/messages":
		v = anthropic{}
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		v = openAI{}
	default:
		http.NotFound(w, r)
		return
	}
	req := Request{Path: r.URL.Path, Header: r.Header.Clone(), Raw: body}
	problem := v.parse(&req)
	s.mu.Lock()
	s.requests = append(s.requests, req)
	var reply Reply
	switch {
	case r.Method != http.MethodPost:
		reply = Fail(http.StatusMethodNotAllowed, "invalid_request_error")
	case s.key != "" && v.key(r.Header) != s.key:
		reply = Fail(http.StatusUnauthorized, "authentication_error")
	case problem != "":
		reply = Reply{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: problem}
	default:
		reply = s.answer(req)
	}
	s.mu.Unlock()
	s.write(w, r, v, req, reply)
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, v vendor, req Request, reply Reply) {
	reply.Text = strings.NewReplacer("{{nonce}}", req.Nonce(), "{{boundary}}", req.Boundary()).Replace(reply.Text)
	for name, values := range reply.Header {
		w.Header()[name] = values
	}
	switch {
	case reply.Hang:
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
		return
	case reply.Reset:
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // close becomes a reset
			}
			_ = c.Close()
		}
		return
	case reply.Redirect != "":
		w.Header().Set("Location", reply.Redirect)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	case reply.Body != "":
		send(w, max(reply.Status, http.StatusOK), []byte(reply.Body))
		return
	case reply.Status > http.StatusOK:
		send(w, reply.Status, v.failure(reply))
		return
	case req.Stream:
		s.stream(w, v, reply)
		return
	}
	answer := append([]byte(strings.Repeat(" ", reply.Fill)), v.answer(reply)...)
	if !reply.Break {
		send(w, http.StatusOK, answer)
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
	send(w, http.StatusOK, answer[:len(answer)/2])
	panic(http.ErrAbortHandler)
}

func (s *Server) stream(w http.ResponseWriter, v vendor, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	write := func(p string) {
		_, _ = io.WriteString(w, p)
		_ = http.NewResponseController(w).Flush()
	}
	if reply.Fill > 0 {
		write(": " + strings.Repeat(".", reply.Fill) + "\n\n")
	}
	pieces := pieces(reply.Text)
	write(v.begin(reply))
	for i, p := range pieces {
		if i >= (len(pieces)+1)/2 {
			if reply.StreamError != "" {
				write(v.interrupt(reply))
				return
			}
			if reply.Break {
				panic(http.ErrAbortHandler)
			}
		}
		write(v.piece(p))
	}
	write(v.end(reply))
}

// pieces cuts text where a tokenizer would not.
func pieces(text string) []string {
	var list []string
	for len(text) > 7 {
		n := 7
		for n < len(text) && text[n]&0xc0 == 0x80 {
			n++
		}
		list, text = append(list, text[:n]), text[n:]
	}
	return append(list, text, "")
}

func send(w http.ResponseWriter, status int, body []byte) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// marshal is JSON of what always has some.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
