package prompttest

import (
	"encoding/json"
	"net/http"
	"strings"
)

// object is a JSON object to be sent.
type object = map[string]any

// vendor is one wire format.
type vendor interface {
	// parse reads the body into r and says what the vendor would refuse.
	parse(r *Request) string
	// key is what stands where the vendor wants the key.
	key(h http.Header) string
	// answer and failure are bodies.
	answer(r Reply) []byte
	failure(r Reply) []byte
	// begin, piece, interrupt and end are the parts of a stream.
	begin(r Reply) string
	piece(text string) string
	interrupt(r Reply) string
	end(r Reply) string
}

// wire is what both vendors' requests have in common.
type wire struct {
	Model       string   `json:"model"`
	MaxTokens   int64    `json:"max_tokens"`
	MaxComplete int64    `json:"max_completion_tokens"`
	Temperature *float64 `json:"temperature"`
	Stream      bool     `json:"stream"`
	System      []struct {
		Text string `json:"text"`
	} `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// read fills in r, with messages of the given role as System.
func (w *wire) read(r *Request) string {
	if err := json.Unmarshal(r.Raw, w); err != nil {
		return "the body is not JSON of a request"
	}
	r.Model, r.Temperature, r.Stream = w.Model, w.Temperature, w.Stream
	for _, s := range w.System {
		r.System += s.Text
	}
	for _, m := range w.Messages {
		switch m.Role {
		case "system", "developer":
			r.System += text(m.Content)
		case "user":
			r.User += text(m.Content)
		default:
			return "messages: a role that nobody expects"
		}
	}
	if w.MaxTokens > 0 {
		r.MaxTokens, r.LimitName = w.MaxTokens, "max_tokens"
	}
	if w.MaxComplete > 0 {
		r.MaxTokens, r.LimitName = w.MaxComplete, "max_completion_tokens"
	}
	switch {
	case w.Model == "":
		return "model: field required"
	case r.User == "":
		return "messages: field required"
	case r.System == "":
		return "system: there is none"
	}
	return ""
}

// text is a message's content, a string or a list of blocks.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(raw, &blocks)
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}

// anthropic is the Messages API, version 2023-06-01.
type anthropic struct{}

func (anthropic) parse(r *Request) string {
	var w wire
	problem := w.read(r)
	switch {
	case problem != "":
		return problem
	case r.Header.Get("Anthropic-Version") != "2023-06-01":
		return "anthropic-version: header is required"
	case w.MaxTokens <= 0:
		return "max_tokens: field required"
	}
	return ""
}

func (anthropic) key(h http.Header) string { return h.Get("X-Api-Key") }

func (anthropic) stop(r Reply) string {
	if r.Stop == "" {
		return "end_turn"
	}
	return r.Stop
}

func (a anthropic) answer(r Reply) []byte {
	input, output := r.usage()
	content := []object{}
	if r.Text != "" {
		content = append(content, object{"type": "text", "text": r.Text})
	}
	return marshal(object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "model",
		"content": content, "stop_reason": a.stop(r), "stop_sequence": nil,
		"usage": object{"input_tokens": input, "output_tokens": output},
	})
}

func (anthropic) failure(r Reply) []byte {
	return marshal(object{"type": "error", "error": object{"type": r.Type, "message": r.Message}})
}

func event(name string, data object) string {
	data["type"] = name
	return "event: " + name + "\ndata: " + string(marshal(data)) + "\n\n"
}

func (anthropic) begin(r Reply) string {
	input, _ := r.usage()
	return event("message_start", object{"message": object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "model", "content": []object{},
		"stop_reason": nil, "usage": object{"input_tokens": input, "output_tokens": 1},
	}}) + event("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}}) +
		event("ping", object{})
}

func (anthropic) piece(text string) string {
	return event("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": text}})
}

func (anthropic) interrupt(r Reply) string {
	return event("error", object{"error": object{"type": r.StreamError, "message": r.Message}})
}

func (a anthropic) end(r Reply) string {
	_, output := r.usage()
	return event("content_block_stop", object{"index": 0}) +
		event("message_delta", object{"delta": object{"stop_reason": a.stop(r), "stop_sequence": nil}, "usage": object{"output_tokens": output}}) +
		event("message_stop", object{})
}

// openAI is chat completions.
type openAI struct{}

func (openAI) parse(r *Request) string {
	var w wire
	if problem := w.read(r); problem != "" {
		return problem
	}
	if w.MaxTokens > 0 && w.MaxComplete > 0 {
		return "max_tokens and max_completion_tokens together"
	}
	return ""
}

func (openAI) key(h http.Header) string {
	k, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return k
}

func (openAI) stop(r Reply) string {
	if r.Stop == "" {
		return "stop"
	}
	return r.Stop
}

func (openAI) use(r Reply) object {
	input, output := r.usage()
	return object{"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output}
}

func (o openAI) answer(r Reply) []byte {
	message := object{"role": "assistant", "content": r.Text}
	if r.Refusal != "" {
		message["content"], message["refusal"] = nil, r.Refusal
	}
	return marshal(object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "model",
		"choices": []object{{"index": 0, "message": message, "finish_reason": o.stop(r), "logprobs": nil}},
		"usage":   o.use(r),
	})
}

func (openAI) failure(r Reply) []byte {
	return marshal(object{"error": object{"message": r.Message, "type": r.Type, "param": nil, "code": nil}})
}

func chunk(choices []object, usage any) string {
	return "data: " + string(marshal(object{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "model",
		"choices": choices, "usage": usage,
	})) + "\n\n"
}

func (openAI) begin(r Reply) string {
	delta := object{"role": "assistant", "content": ""}
	if r.Refusal != "" {
		delta["refusal"] = r.Refusal
	}
	return chunk([]object{{"index": 0, "delta": delta, "finish_reason": nil}}, nil)
}

func (openAI) piece(text string) string {
	return chunk([]object{{"index": 0, "delta": object{"content": text}, "finish_reason": nil}}, nil)
}

func (openAI) interrupt(r Reply) string {
	return "data: " + string(marshal(object{"error": object{"type": r.StreamError, "message": r.Message}})) + "\n\n"
}

func (o openAI) end(r Reply) string {
	return chunk([]object{{"index": 0, "delta": object{}, "finish_reason": o.stop(r)}}, nil) +
		chunk([]object{}, o.use(r)) + "data: [DONE]\n\n"
}
