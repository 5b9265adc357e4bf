package prompt

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// messages speaks Anthropic's Messages API.
type messages struct {
	settings
	service anthropic.MessageService
}

// newMessages makes the service by itself and not through a client, which
// would take keys, addresses and headers from the environment. Retries are
// ours; traces could hold prompts.
func newMessages(s settings) *messages {
	options := []option.RequestOption{
		option.WithBaseURL(s.base.String()),
		option.WithHTTPClient(s.client),
		option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
		option.WithOpenTelemetryPropagation(false),
	}
	if s.key != "" {
		options = append(options, option.WithAPIKey(s.key))
	}
	return &messages{settings: s, service: anthropic.NewMessageService(options...)}
}

func (m *messages) complete(ctx context.Context, d document) (reply, error) {
	params := anthropic.MessageNewParams{
		Model:     anthropic.Model(m.model),
		MaxTokens: m.maxTokens,
		System:    []anthropic.TextBlockParam{{Text: d.system}},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(d.user))},
	}
	if !m.habits.noTemperature.Load() {
		params.Temperature = anthropic.Float(0)
	}
	var raw *http.Response
	if m.stream {
		r, err := m.read(ctx, params, &raw)
		return r, m.failure(ctx, raw, err)
	}
	res, err := m.service.New(ctx, params, option.WithResponseInto(&raw))
	if err != nil {
		return reply{}, m.failure(ctx, raw, err)
	}
	var text strings.Builder
	for _, block := range res.Content {
		if block.Type == "text" {
			text.WriteString(block.Text + "\n")
		}
	}
	return reply{text: text.String(), end: anthropicEnding(res.StopReason), usage: Usage{
		Input:  add3(res.Usage.InputTokens, res.Usage.CacheCreationInputTokens, res.Usage.CacheReadInputTokens),
		Output: res.Usage.OutputTokens,
	}}, nil
}

// read puts a streamed reply together. One that does not end as it should is no
// reply: its last words might have been the decision.
func (m *messages) read(ctx context.Context, params anthropic.MessageNewParams, raw **http.Response) (reply, error) {
	stream := m.service.NewStreaming(ctx, params, option.WithResponseInto(raw))
	defer stream.Close()
	var text strings.Builder
	var r reply
	ended := false
	for stream.Next() {
		switch e := stream.Current(); e.Type {
		case "message_start":
			u := e.Message.Usage
			r.usage.Input = add3(u.InputTokens, u.CacheCreationInputTokens, u.CacheReadInputTokens)
			r.usage.Output = u.OutputTokens
		case "content_block_start":
			if e.ContentBlock.Type == "text" {
				text.WriteString(e.ContentBlock.Text)
			}
		case "content_block_delta":
			if e.Delta.Type == "text_delta" {
				text.WriteString(e.Delta.Text)
			}
		case "content_block_stop":
			text.WriteString("\n")
		case "message_delta":
			r.end = anthropicEnding(anthropic.StopReason(e.Delta.StopReason))
			r.usage.Output = e.Usage.OutputTokens // a running total
		case "message_stop":
			ended = true
		}
	}
	if err := stream.Err(); err != nil {
		return reply{}, err
	}
	if !ended {
		return reply{}, errCutStream
	}
	r.text = text.String()
	return r, nil
}

func anthropicEnding(reason anthropic.StopReason) ending {
	switch reason {
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded, anthropic.StopReasonPauseTurn:
		return cutOff
	case anthropic.StopReasonRefusal:
		return refused
	}
	return complete
}

// failure makes the vendor's error one of ours. Its text stays behind: it may
// repeat the key or the prompt.
func (m *messages) failure(ctx context.Context, raw *http.Response, err error) error {
	if err == nil {
		return nil
	}
	c := newCallError(ctx, raw, err)
	if api, ok := errors.AsType[*anthropic.Error](err); ok {
		c.kind = token(string(api.Type()))
		c.adapted = m.habits.learn(c.status, api.RawJSON())
	}
	return c
}

// add3 adds counts that a server claims; a negative one makes the sum so.
func add3(a, b, c int64) int64 {
	if a < 0 || b < 0 || c < 0 {
		return -1
	}
	return add(add(a, b), c)
}
