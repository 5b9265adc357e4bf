package hookwire

import (
	"errors"
	"io"
	"strconv"
)

// Limits of one frame, in bytes.
const (
	MaxStdin    = 16 << 20 // what the agent may write to the hook
	MaxResponse = 4 << 20  // stdout and stderr of an answer together
	MaxName     = 64 << 10 // agent, event, directory or one variable's value
	MaxEnv      = 32       // number of variables
)

// Version is the version of the frames; both ends must have the same.
const Version = 1

const (
	headerSize   = 12
	kindRequest  = 1
	kindResponse = 2
	kindRefusal  = 3
	// maxRequest leaves room for everything beside stdin.
	maxRequest = MaxStdin + 4<<20
)

// Errors that tell why a frame was not taken.
var (
	ErrFrame    = errors.New("not a frame of the hook socket")
	ErrVersion  = errors.New("the other side speaks another version of the hook socket")
	ErrTooLarge = errors.New("the frame is too large")
)

// Var is one environment variable.
type Var struct{ Name, Value string }

// Request is what the shim sends: one hook of one agent.
type Request struct {
	// Agent and Event are the arguments the hook was registered with.
	Agent, Event string
	// CWD is the shim's working directory.
	CWD string
	// Env holds the variables of [Allowed] that are set, and no others.
	Env []Var
	// PID and PPID are the shim's own and its parent's.
	PID, PPID int
	// Deadline is when the answer must be there, in nanoseconds since 1970;
	// zero leaves it to the daemon.
	Deadline int64
	// Stdin is what the agent wrote, byte for byte.
	Stdin []byte
}

// Lookup returns the value of a variable in r, or "".
func (r Request) Lookup(name string) string {
	for _, v := range r.Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// Response is what the shim prints and exits with.
type Response struct {
	Exit           int
	Stdout, Stderr []byte
}

// Refused is the error of [ReadResponse] when the daemon would not take the
// request; Reason is for people.
type Refused struct{ Reason string }

// Error returns the reason.
func (r *Refused) Error() string { return "the daemon refused the hook: " + r.Reason }

// AppendRequest appends r's frame to b. The error wraps [ErrTooLarge].
func AppendRequest(b []byte, r Request) ([]byte, error) {
	if len(r.Stdin) > MaxStdin {
		return b, tooLarge("stdin", len(r.Stdin), MaxStdin)
	}
	for _, s := range []string{r.Agent, r.Event, r.CWD} {
		if len(s) > MaxName {
			return b, tooLarge("a name", len(s), MaxName)
		}
	}
	if len(r.Env) > MaxEnv {
		return b, tooLarge("the number of variables", len(r.Env), MaxEnv)
	}
	start := len(b)
	b = appendHeader(b, kindRequest)
	b = appendText(b, r.Agent)
	b = appendText(b, r.Event)
	b = appendText(b, r.CWD)
	b = appendU32(b, uint32(r.PID))
	b = appendU32(b, uint32(r.PPID))
	b = appendU32(appendU32(b, uint32(uint64(r.Deadline)>>32)), uint32(r.Deadline))
	b = appendU32(b, uint32(len(r.Env)))
	for _, v := range r.Env {
		if len(v.Name)+len(v.Value) > MaxName {
			return b[:start], tooLarge("variable "+v.Name, len(v.Value), MaxName)
		}
		b = appendText(b, v.Name)
		b = appendText(b, v.Value)
	}
	b = appendU32(b, uint32(len(r.Stdin)))
	b = append(b, r.Stdin...)
	return finish(b, start), nil
}

// AppendResponse appends r's frame to b. The error wraps [ErrTooLarge].
func AppendResponse(b []byte, r Response) ([]byte, error) {
	if n := len(r.Stdout) + len(r.Stderr); n > MaxResponse {
		return b, tooLarge("the answer", n, MaxResponse)
	}
	start := len(b)
	b = appendHeader(b, kindResponse)
	b = appendU32(b, uint32(r.Exit))
	b = appendU32(b, uint32(len(r.Stdout)))
	b = append(b, r.Stdout...)
	b = appendU32(b, uint32(len(r.Stderr)))
	b = append(b, r.Stderr...)
	return finish(b, start), nil
}

// AppendRefusal appends a refusal's frame to b; reason is clipped to 4 KiB.
func AppendRefusal(b []byte, reason string) []byte {
	if len(reason) > 4<<10 {
		reason = reason[:4<<10]
	}
	start := len(b)
	b = appendHeader(b, kindRefusal)
	b = appendText(b, reason)
	return finish(b, start)
}

// ReadRequest reads one request. Errors wrap [ErrFrame], [ErrVersion] or
// [ErrTooLarge], or are the reader's own.
func ReadRequest(r io.Reader) (Request, error) {
	kind, body, err := readFrame(r, maxRequest)
	if err != nil {
		return Request{}, err
	}
	if kind != kindRequest {
		return Request{}, ErrFrame
	}
	c := cursor{b: body}
	q := Request{Agent: c.text(), Event: c.text(), CWD: c.text()}
	q.PID, q.PPID = int(int32(c.u32())), int(int32(c.u32()))
	q.Deadline = int64(c.u64())
	n := c.u32()
	if n > MaxEnv {
		return Request{}, tooLarge("the number of variables", int(n), MaxEnv)
	}
	for range n {
		q.Env = append(q.Env, Var{Name: c.text(), Value: c.text()})
	}
	q.Stdin = c.bytes(MaxStdin)
	if !c.done() {
		return Request{}, ErrFrame
	}
	return q, nil
}

// ReadResponse reads one response. Errors are as in [ReadRequest], or a
// [*Refused].
func ReadResponse(r io.Reader) (Response, error) {
	kind, body, err := readFrame(r, MaxResponse+1024)
	if err != nil {
		return Response{}, err
	}
	c := cursor{b: body}
	switch kind {
	case kindRefusal:
		reason := c.text()
		if !c.done() {
			return Response{}, ErrFrame
		}
		return Response{}, &Refused{Reason: reason}
	case kindResponse:
		p := Response{Exit: int(int32(c.u32()))}
		p.Stdout, p.Stderr = c.bytes(MaxResponse), c.bytes(MaxResponse)
		if !c.done() || p.Exit < 0 || p.Exit > 255 {
			return Response{}, ErrFrame
		}
		return p, nil
	}
	return Response{}, ErrFrame
}

func appendHeader(b []byte, kind byte) []byte {
	return append(b, 'g', 'r', 'p', 'n', Version, kind, 0, 0, 0, 0, 0, 0)
}

func finish(b []byte, start int) []byte {
	n := uint32(len(b) - start - headerSize)
	b[start+8], b[start+9], b[start+10], b[start+11] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return b
}

// The numbers are written by hand: encoding/binary brings reflection along.
func appendU32(b []byte, n uint32) []byte {
	return append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func u32(b []byte) uint32 {
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

func appendText(b []byte, s string) []byte {
	return append(appendU32(b, uint32(len(s))), s...)
}

// readFrame grows the body as it arrives: a length field costs nothing.
func readFrame(r io.Reader, limit int) (kind byte, body []byte, err error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	if string(head[:4]) != "grpn" {
		return 0, nil, ErrFrame
	}
	if head[4] != Version {
		return 0, nil, ErrVersion
	}
	size := u32(head[8:])
	if head[6] != 0 || head[7] != 0 {
		return 0, nil, ErrFrame
	}
	if uint64(size) > uint64(limit) {
		return 0, nil, tooLarge("the body", int(size), limit)
	}
	n := int(size)
	body = make([]byte, 0, min(n, 64<<10))
	for len(body) < n {
		if len(body) == cap(body) {
			grown := make([]byte, len(body), min(n, 4*cap(body)))
			copy(grown, body)
			body = grown
		}
		m, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+m]
		if err != nil && len(body) < n {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, nil, err
		}
	}
	return head[5], body, nil
}

// cursor takes a body apart; after the first thing that is not there it is bad.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if c.bad || n < 0 || n > len(c.b) {
		c.bad = true
		return nil
	}
	p := c.b[:n:n]
	c.b = c.b[n:]
	return p
}

func (c *cursor) u32() uint32 {
	if p := c.take(4); p != nil {
		return u32(p)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	high := c.u32()
	return uint64(high)<<32 | uint64(c.u32())
}

func (c *cursor) bytes(limit int) []byte {
	n := c.u32()
	if uint64(n) > uint64(limit) {
		c.bad = true
		return nil
	}
	return c.take(int(n))
}

func (c *cursor) text() string { return string(c.bytes(MaxName)) }

func (c *cursor) done() bool { return !c.bad && len(c.b) == 0 }

type sizeError struct{ text string }

func (e *sizeError) Error() string { return e.text }
func (e *sizeError) Unwrap() error { return ErrTooLarge }

func tooLarge(what string, n, limit int) error {
	return &sizeError{what + " is too large: " + strconv.Itoa(n) + ", at most " + strconv.Itoa(limit)}
}
