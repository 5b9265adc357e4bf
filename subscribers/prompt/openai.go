package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// chat speaks OpenAI's chat completions, as most model servers do.
type chat struct {
	settings
	service openai.ChatCompletionService
}

// newChat makes the service by itself and not through a client, which would
// take keys, addresses and headers from the environment. Retries are ours.
func newChat(s settings) *chat {
	options := []option.RequestOption{
		option.WithBaseURL(s.base.String()),
		option.WithHTTPClient(s.client),
		option.WithMaxRetries(0),
	}
	if s.key != "" {
		options = append(options, option.WithAPIKey(s.key))
	}
	return &chat{settings: s, service: openai.NewChatCompletionService(options...)}
}

func (c *chat) complete(ctx context.Context, d document) (reply, error) {
	params := openai.ChatCompletionNewParams{
		Model:    c.model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(d.system), openai.UserMessage(d.user)},
	}
	if !c.habits.noTemperature.Load() {
		params.Temperature = openai.Float(0)
	}
	// The vendor's newer models take the one name alone, older servers the other.
	if vendors := strings.HasSuffix(c.base.Hostname(), ".openai.com"); vendors != c.habits.otherLimit.Load() {
		params.MaxCompletionTokens = openai.Int(c.maxTokens)
	} else {
		params.MaxTokens = openai.Int(c.maxTokens)
	}
	var raw *http.Response
	if c.stream {
		if !c.habits.noUsage.Load() {
			params.StreamOptions.IncludeUsage = openai.Bool(true)
		}
		r, err := c.read(ctx, params, &raw)
		return r, c.failure(ctx, raw, err)
	}
	res, err := c.service.New(ctx, params, option.WithResponseInto(&raw))
	if err != nil {
		return reply{}, c.failure(ctx, raw, err)
	}
	r := reply{usage: Usage{Input: res.Usage.PromptTokens, Output: res.Usage.CompletionTokens}}
	for _, choice := range res.Choices {
		r.text += choice.Message.Content + "\n"
		r.finish(choice.FinishReason, choice.Message.Refusal)
	}
	return r, nil
}

// read puts a streamed reply together. One that does not end as it should is no
// reply: its last words might have been the decision.
func (c *chat) read(ctx context.Context, params openai.ChatCompletionNewParams, raw **http.Response) (reply, error) {
	stream := c.service.NewStreaming(ctx, params, option.WithResponseInto(raw))
	defer stream.Close()
	var text strings.Builder
	var r reply
	ended := false
	for stream.Next() {
		chunk := stream.Current()
		if chunk.Usage.TotalTokens > 0 || chunk.Usage.PromptTokens > 0 {
			r.usage = Usage{Input: chunk.Usage.PromptTokens, Output: chunk.Usage.CompletionTokens}
		}
		for _, choice := range chunk.Choices {
			text.WriteString(choice.Delta.Content)
			r.finish(choice.FinishReason, choice.Delta.Refusal)
			ended = ended || choice.FinishReason != ""
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

// finish notes how one choice ended; the worst stays.
func (r *reply) finish(reason, refusal string) {
	switch {
	case refusal != "" || reason == "content_filter":
		r.end = refused
	case reason == "length":
		r.end = max(r.end, cutOff)
	}
}

// failure makes the vendor's error one of ours. Its text stays behind: it may
// repeat the key or the prompt.
func (c *chat) failure(ctx context.Context, raw *http.Response, err error) error {
	if err == nil {
		return nil
	}
	f := newCallError(ctx, raw, err)
	if api, ok := errors.AsType[*openai.Error](err); ok {
		if f.kind = token(api.Type); api.Code != "" {
			f.kind = token(api.Code)
		}
		f.adapted = c.habits.learn(f.status, api.RawJSON())
	}
	if s, ok := errors.AsType[*ssestream.StreamError](err); ok {
		var event struct {
			Error struct {
				Type string `json:"type"`
			} `json:"error"`
		}
		_ = json.Unmarshal(s.Event.Data, &event) // without a type it is just an error
		f.kind, f.inStream = token(event.Error.Type), true
	}
	return f
}
