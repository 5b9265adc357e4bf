package webhook

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Defaults of [Hook].
const (
	DefaultTimeout     = 10 * time.Second
	DefaultRetryFor    = time.Minute
	DefaultMaxResponse = 1 << 20 // bytes
	DefaultConcurrency = 16
)

// Limits on a hook's configuration.
const (
	maxHeaders     = 64
	maxSecrets     = 8
	maxTries       = 20
	maxConcurrency = 1024
	maxRetryFor    = 15 * time.Minute
	maxMaxResponse = 16 << 20
)

// Body says what a request's body is; see the package comment.
type Body string

// The bodies. The zero value means [Structured].
const (
	Binary     Body = "cloudevents-binary"
	Structured Body = "cloudevents-structured"
	Native     Body = "native"
)

// Hook is one endpoint as configured.
type Hook struct {
	// Name is the hook's name in the roster, one subject token.
	Name string `json:"name" yaml:"name"`
	// On lists the events it wants, see [hook.Pattern]; any may match.
	On []string `json:"on" yaml:"on"`
	// When is a CEL expression over the event; empty means always. Whoever
	// hosts the hook evaluates it.
	When string `json:"when,omitempty" yaml:"when,omitempty"`
	// URL is the endpoint, absolute, https, or http for allowed loopback
	// addresses. Nothing is expanded in it.
	URL string `json:"url" yaml:"url"`
	// Body defaults to [Structured].
	Body Body `json:"body,omitempty" yaml:"body,omitempty"`
	// Headers are sent with each request. In their values $NAME and ${NAME}
	// stand for environment variables that AllowedEnv names; any other name,
	// and one that is not set, is a configuration error.
	Headers map[string]string `json:"headers,omitempty" yaml:"headers,omitempty"`
	// AllowedEnv names the environment variables that Headers and Secrets
	// may hold.
	AllowedEnv []string `json:"allowed_env,omitempty" yaml:"allowed_env,omitempty,flow"`
	// Secrets sign each request, see [ParseSecret]; several while one takes
	// the place of another. Variables as in Headers. None means unsigned.
	Secrets []string `json:"secrets,omitempty" yaml:"secrets,omitempty"`
	// Timeout is for a decider's whole answer and for each try of a handler;
	// defaults to [DefaultTimeout].
	Timeout hook.Duration `json:"timeout,omitzero" yaml:"timeout,omitempty"`
	// Tries is how often one event is sent at most; defaults to 2 for
	// deciders and 5 for handlers. 1 means no second try.
	Tries int `json:"tries,omitempty" yaml:"tries,omitempty"`
	// RetryFor limits the time of all tries of a handler; defaults to
	// [DefaultRetryFor].
	RetryFor hook.Duration `json:"retry_for,omitzero" yaml:"retry_for,omitempty"`
	// MaxResponse is in bytes; defaults to [DefaultMaxResponse].
	MaxResponse int `json:"max_response,omitempty" yaml:"max_response,omitempty"`
	// Concurrency limits the requests under way; defaults to
	// [DefaultConcurrency].
	Concurrency int `json:"concurrency,omitempty" yaml:"concurrency,omitempty"`
	// Priority, OnFailure, Rewrites and Grants are as in [hook.Entry].
	Priority  int                `json:"priority,omitempty" yaml:"priority,omitempty"`
	OnFailure hook.FailurePolicy `json:"on_failure,omitempty" yaml:"on_failure,omitempty"`
	Rewrites  bool               `json:"rewrites,omitempty" yaml:"rewrites,omitempty"`
	Grants    bool               `json:"grants,omitempty" yaml:"grants,omitempty"`
}

// Entry is the hook's place in the roster.
func (h Hook) Entry() hook.Entry {
	return hook.Entry{
		Name:      h.Name,
		Filter:    strings.Join(h.On, ","),
		When:      h.When,
		Priority:  h.Priority,
		Timeout:   hook.Duration(h.timeout()),
		OnFailure: h.OnFailure,
		Rewrites:  h.Rewrites,
		Grants:    h.Grants,
	}
}

// Pattern selects the hook's events.
func (h Hook) Pattern() (hook.Pattern, error) { return hook.ParsePattern(h.Entry().Filter) }

// Format writes the hook's name and host, whatever the verb: its other fields
// may hold secrets.
func (h Hook) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "webhook %s (%s)", h.Name, place(h.URL)) }

// LogValue is as Format.
func (h Hook) LogValue() slog.Value {
	return slog.GroupValue(slog.String("name", h.Name), slog.String("host", place(h.URL)))
}

func (h Hook) timeout() time.Duration  { return either(time.Duration(h.Timeout), DefaultTimeout) }
func (h Hook) retryFor() time.Duration { return either(time.Duration(h.RetryFor), DefaultRetryFor) }

func either[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// Validate reports everything that is wrong with the hook, without looking at
// the environment or the network; each error wraps [ErrConfig]. It does not
// compile When.
func (h Hook) Validate() error {
	var list []error
	bad := func(format string, args ...any) {
		list = append(list, fmt.Errorf("%w: hook %.80q: "+format, append([]any{ErrConfig, h.Name}, args...)...))
	}
	if err := h.Entry().Validate(); err != nil {
		bad("%w", err)
	}
	if len(h.On) == 0 {
		bad("on: name the events it wants, such as pre_tool_use.bash")
	}
	for _, pattern := range h.On {
		if strings.TrimSpace(pattern) == "" {
			bad("on: there is an empty pattern; write > for every event")
		}
	}
	if _, err := parseTarget(h.URL); err != nil {
		bad("url: %w", err)
	}
	switch h.Body {
	case "", Binary, Structured, Native:
	default:
		bad("body: %.40q is none of %s, %s, %s", string(h.Body), Binary, Structured, Native)
	}
	h.validateHeaders(bad)
	for _, limit := range []struct {
		name         string
		value, limit int64
	}{
		{"timeout", int64(h.Timeout), int64(hook.MaxTimeout)},
		{"tries", int64(h.Tries), maxTries},
		{"retry_for", int64(h.RetryFor), int64(maxRetryFor)},
		{"max_response", int64(h.MaxResponse), maxMaxResponse},
		{"concurrency", int64(h.Concurrency), maxConcurrency},
	} {
		if limit.value < 0 || limit.value > limit.limit {
			most := fmt.Sprint(limit.limit)
			if limit.name == "timeout" || limit.name == "retry_for" {
				most = time.Duration(limit.limit).String()
			}
			bad("%s: it must be from 0 (the default) to %s", limit.name, most)
		}
	}
	return errors.Join(list...)
}

func (h Hook) validateHeaders(bad func(string, ...any)) {
	if len(h.Headers) > maxHeaders {
		bad("headers: there are %d, at most %d", len(h.Headers), maxHeaders)
	}
	if _, err := headerNames(h.Headers); err != nil {
		bad("headers: %w", err)
	}
	for _, name := range h.AllowedEnv {
		if !envName.MatchString(name) {
			bad("allowed_env: %.80q is no name of an environment variable", name)
		}
	}
	if len(h.Secrets) > maxSecrets {
		bad("secrets: there are %d, at most %d", len(h.Secrets), maxSecrets)
	}
}
