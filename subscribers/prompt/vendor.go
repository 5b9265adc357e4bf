package prompt

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
)

// ending is how a model's answer ended.
type ending int

const (
	complete ending = iota
	cutOff          // at the token limit
	refused         // by the model or a filter before it
)

// reply is what a model wrote.
type reply struct {
	text  string
	end   ending
	usage Usage
}

// vendor sends one request, once, and reads the reply. An error is a
// *callError or the context's.
type vendor interface {
	complete(ctx context.Context, d document) (reply, error)
}

// settings are what both vendors need.
type settings struct {
	model     string
	key       string
	base      *url.URL
	client    *http.Client
	maxTokens int64
	stream    bool
	habits    *habits
}

// habits are what a model turned out not to take. Models differ in this, and
// the only way to know is to be told so by a refusal.
type habits struct {
	noTemperature atomic.Bool
	otherLimit    atomic.Bool
	noUsage       atomic.Bool
}

// learn looks for the parameter that a bad request is about, and reports
// whether there is something new to do differently.
func (h *habits) learn(status int, body string) bool {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return false
	}
	body = strings.ToLower(body)
	switch {
	case strings.Contains(body, "temperature"):
		return h.noTemperature.CompareAndSwap(false, true)
	case strings.Contains(body, "max_tokens"), strings.Contains(body, "max_completion_tokens"):
		return h.otherLimit.CompareAndSwap(false, true)
	case strings.Contains(body, "stream_options"):
		return h.noUsage.CompareAndSwap(false, true)
	}
	return false
}
