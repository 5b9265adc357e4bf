package prompt

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/redact"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/prompt/answer"
)

// Defaults of [Options].
const (
	DefaultMaxData = 32 << 10
	DefaultRetries = 2
)

// maxQuestion is how large the parts of a question may be, in bytes, before
// anything is left out of them.
const maxQuestion = 16 << 20

// Options tune a [Judge]. The zero value works.
type Options struct {
	// Budget caps what is spent; several judges may share one. Defaults to no
	// cap.
	Budget *Budget
	// Retries is how often a question is tried again on overload and
	// connection errors; defaults to [DefaultRetries], negative means never.
	Retries int
	// MaxData is how much of one value the model is shown, in bytes; defaults
	// to [DefaultMaxData].
	MaxData int
	// Redactor takes secrets out of events; defaults to one with the
	// built-in rules.
	Redactor *redact.Redactor
	// KeepSecrets sends events as they are.
	KeepSecrets bool
	// Transport carries the requests; defaults to one of the judge's own,
	// which takes a proxy from the environment for https alone.
	Transport http.RoundTripper
	// LookupEnv finds [Model.KeyEnv]; defaults to os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Log defaults to none.
	Log *slog.Logger
}

// Judge asks one model by one hook's rules. It is a [hook.Decider]; all methods
// may be called concurrently.
type Judge struct {
	hook     Hook
	model    Model
	template template
	vendor   vendor
	budget   *Budget
	retries  int
	maxData  int
	redactor *redact.Redactor
	client   *http.Client
	own      *http.Transport // nil where the transport is somebody else's
	log      *slog.Logger
}

var _ hook.Decider = (*Judge)(nil)

// New makes a judge: it validates the configuration and reads the key. The
// error wraps [ErrConfig]. Nothing is sent.
func New(h Hook, m Model, o *Options) (*Judge, error) {
	if o == nil {
		o = new(Options)
	}
	if err := h.Validate(); err != nil {
		return nil, err
	}
	bad := func(err error) (*Judge, error) {
		return nil, fmt.Errorf("%w: hook %.80q: %w", ErrConfig, h.Name, err)
	}
	p, err := m.protocol()
	if err != nil {
		return bad(err)
	}
	base, err := m.endpoint(p)
	if err != nil {
		return bad(err)
	}
	lookup := o.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	key, err := m.key(lookup)
	switch {
	case err != nil:
		return bad(err)
	case strings.TrimSpace(m.Name) == "":
		return bad(fmt.Errorf("model: name one"))
	case key.IsZero() && m.BaseURL == "":
		return bad(fmt.Errorf("provider %.40q needs a key: set key, key_env or key_file", m.Provider))
	case !m.Prices.valid():
		return bad(fmt.Errorf("prices: they cannot be negative or beyond all measure"))
	case o.Budget != nil && o.Budget.limits.Money > 0 && m.Prices == Prices{}:
		return bad(fmt.Errorf("prices: a budget of money needs them"))
	}
	j := &Judge{
		hook: h, model: m, template: parse(h.Prompt, h.Syntax),
		budget: o.Budget, retries: o.Retries, maxData: o.MaxData, redactor: o.Redactor, log: o.Log,
	}
	j.model.Key = Secret{}
	if j.retries == 0 {
		j.retries = DefaultRetries
	}
	if j.maxData <= 0 {
		j.maxData = DefaultMaxData
	}
	if j.log == nil {
		j.log = slog.New(slog.DiscardHandler)
	}
	switch {
	case o.KeepSecrets:
		j.redactor = nil
	case j.redactor == nil:
		if j.redactor, err = redact.New(nil); err != nil {
			return bad(err)
		}
	}
	transport := o.Transport
	if transport == nil {
		j.own = newTransport()
		transport = j.own
	}
	j.client = &http.Client{Transport: guard{base: base, next: transport}}
	s := settings{model: m.Name, key: key.value, base: base, client: j.client, maxTokens: h.maxTokens(), stream: m.Stream, habits: new(habits)}
	if p == anthropicMessages {
		j.vendor = newMessages(s)
	} else {
		j.vendor = newChat(s)
	}
	return j, nil
}

// Hook returns the configuration.
func (j *Judge) Hook() Hook { return j.hook }

// Entry is the hook's place in the roster, see [Hook.Entry].
func (j *Judge) Entry() hook.Entry { return j.hook.Entry() }

// Close gives idle connections back. Questions under way go on.
func (j *Judge) Close() {
	if j.own != nil {
		j.own.CloseIdleConnections()
	}
}

// Ask puts a question to the model. It returns when ctx or the hook's time-out
// ends. The error wraps [ErrModel], [ErrBudget], [ErrAnswer], [ErrTruncated] or
// [ErrQuestion]; the answer beside it then holds what it cost and nothing else.
func (j *Judge) Ask(ctx context.Context, q Question) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, j.hook.timeout())
	defer cancel()
	started := time.Now()
	a, err := j.ask(ctx, q)
	attributes := []slog.Attr{
		slog.String("hook", j.hook.Name), slog.String("model", j.model.Name), slog.Int("attempts", a.Attempts),
		slog.Int64("input_tokens", a.Usage.Input), slog.Int64("output_tokens", a.Usage.Output),
		slog.Duration("duration", time.Since(started)),
	}
	if err != nil {
		err = fmt.Errorf("prompt hook %s: %w", j.hook.Name, err)
		j.log.LogAttrs(ctx, slog.LevelWarn, "prompt: no decision", append(attributes, slog.Any("error", err))...)
		return a, err
	}
	j.log.LogAttrs(ctx, slog.LevelDebug, "prompt: decided", append(attributes, slog.String("effect", a.Effect.String()))...)
	return a, nil
}

func (j *Judge) ask(ctx context.Context, q Question) (Answer, error) {
	if n := len(q.Input) + len(q.ToolInput) + len(q.Prompt) + len(q.ToolName) + len(q.SessionID) + len(q.CWD); n > maxQuestion {
		return Answer{}, fmt.Errorf("%w: %d bytes, at most %d", ErrQuestion, n, maxQuestion)
	}
	d, err := j.compose(q)
	if err != nil {
		return Answer{}, err
	}
	r, b, err := j.call(ctx, d)
	spent := Answer{
		Usage: b.usage, Cost: float64(b.cost) / 1e6, Attempts: b.attempts, Truncated: d.cut, Redacted: d.redacted,
	}
	if err != nil {
		return spent, err
	}
	v, err := j.decide(r, d, q)
	if err != nil {
		return spent, err
	}
	spent.Effect, spent.Word, spent.Rewrite = v.Effect, v.Word, v.Rewrite
	spent.Reason = process.Text([]byte(v.Reason), MaxReason)
	spent.Context = process.Text([]byte(v.Context), MaxContext)
	return spent, nil
}

// decide reads the reply and drops what it may not say.
func (j *Judge) decide(r reply, d document, q Question) (answer.Verdict, error) {
	v, err := answer.Read(r.text, d.nonce, d.sent)
	switch {
	case r.end == refused && (err != nil || v.Effect <= hook.Allow):
		return answer.Verdict{}, fmt.Errorf("%w: the model or its filter refused to answer", ErrAnswer)
	case err != nil:
		return answer.Verdict{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	case v.Effect == hook.Allow && r.end == cutOff:
		return answer.Verdict{}, fmt.Errorf("%w: it allows, and the answer was cut off at max_tokens (%d)", ErrAnswer, j.hook.maxTokens())
	case v.Effect == hook.Allow && d.cut:
		return answer.Verdict{}, fmt.Errorf("%w: more than %d bytes of one value", ErrTruncated, j.maxData)
	case v.Rewrite == nil || sameJSON(v.Rewrite, q.ToolInput):
		v.Rewrite = nil
		return v, nil
	}
	// It allows or denies something else than what it was asked about.
	permitted := j.hook.Rewrites && d.redacted == 0 && v.Effect < hook.Deny
	switch {
	case permitted && strictjson.Check(v.Rewrite, answer.MaxText) == nil && v.Rewrite[0] == '{':
	case v.Effect == hook.Allow && j.hook.Rewrites && d.redacted > 0:
		return answer.Verdict{}, fmt.Errorf("%w: it changes the tool's input, of which it did not see the secrets", ErrAnswer)
	case v.Effect == hook.Allow:
		return answer.Verdict{}, fmt.Errorf("%w: it allows a changed input only, which the hook's configuration does not permit (rewrites: true)", ErrAnswer)
	default:
		v.Rewrite = nil
	}
	return v, nil
}

// sameJSON reports whether two documents say the same.
func sameJSON(a, b []byte) bool {
	x, y := jsontext.Value(bytes.Clone(a)), jsontext.Value(bytes.Clone(b))
	return x.Canonicalize() == nil && y.Canonicalize() == nil && bytes.Equal(x, y)
}

// Decide implements [hook.Decider]: it asks about an event. The context says
// whose words it holds.
func (j *Judge) Decide(ctx context.Context, e hook.Event) (hook.Decision, error) {
	q, err := ofEvent(e)
	if err != nil {
		return hook.Decision{}, fmt.Errorf("prompt hook %s: %w", j.hook.Name, err)
	}
	a, err := j.Ask(ctx, q)
	if err != nil {
		return hook.Decision{}, err
	}
	d := hook.Decision{Effect: a.Effect, Reason: a.Reason, Context: a.Context, Rewrite: a.Rewrite}
	if d.Reason == "" {
		d.Reason = fmt.Sprintf("the model of hook %s says %s and gave no reason", j.hook.Name, a.Word)
	}
	if d.Context != "" {
		d.Context = fmt.Sprintf("A language model, asked by hook %s, says: %s", j.hook.Name, d.Context)
	}
	return d, nil
}
