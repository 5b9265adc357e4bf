package prompt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/prompt"
	"github.com/grapnel-dev/grapnel/subscribers/prompt/answer"
	"github.com/grapnel-dev/grapnel/subscribers/prompt/prompttest"
)

const testKey = "test-key-3c9f1d77"

// way is one way to speak with a model server.
type way struct {
	name   string
	openAI bool
	stream bool
}

func ways() []way {
	return []way{
		{"anthropic", false, false}, {"anthropic-stream", false, true},
		{"openai", true, false}, {"openai-stream", true, true},
	}
}

func (w way) model(s *prompttest.Server) prompt.Model {
	m := prompt.Model{Provider: "anthropic", BaseURL: s.AnthropicURL(), Name: "small", Key: prompt.NewSecret(testKey), Stream: w.stream}
	if w.openAI {
		m.Provider, m.BaseURL = "openai", s.OpenAIURL()
	}
	return m
}

func everyWay(t *testing.T, f func(t *testing.T, w way)) {
	t.Helper()
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			f(t, w)
		})
	}
}

func safety() prompt.Hook {
	return prompt.Hook{Name: "safety", On: []string{"pre_tool_use.>"}, Prompt: "Is this safe?\nTool: $TOOL_NAME\nInput: $TOOL_INPUT", Timeout: hook.Duration(20 * time.Second)}
}

func judge(t *testing.T, h prompt.Hook, m prompt.Model, o *prompt.Options) *prompt.Judge {
	t.Helper()
	j, err := prompt.New(h, m, o)
	require.NoError(t, err)
	t.Cleanup(j.Close)
	return j
}

func list() prompt.Question {
	return prompt.Question{
		Input:    json.RawMessage(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`),
		ToolName: "Bash", ToolInput: json.RawMessage(`{"command":"ls"}`), SessionID: "s-1", CWD: "/project",
	}
}

func TestDecides(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		s := prompttest.New(t, prompttest.Allow(), prompttest.Deny("it deletes files"))
		s.RequireKey(testKey)
		j := judge(t, safety(), w.model(s), nil)

		a, err := j.Ask(t.Context(), list())
		require.NoError(t, err)
		assert.Equal(t, hook.Allow, a.Effect)
		assert.True(t, a.OK())
		assert.Equal(t, "harmless", a.Reason)
		assert.Equal(t, prompt.Usage{Input: 100, Output: 20}, a.Usage)
		assert.Equal(t, 1, a.Attempts)

		a, err = j.Ask(t.Context(), list())
		require.NoError(t, err)
		assert.Equal(t, hook.Deny, a.Effect)
		assert.Equal(t, answer.Deny, a.Word)
		assert.Equal(t, "it deletes files", a.Reason)

		for _, r := range s.Requests() {
			assert.Equal(t, "small", r.Model)
			assert.EqualValues(t, prompt.DefaultMaxTokens, r.MaxTokens)
			assert.Equal(t, w.stream, r.Stream)
			if assert.NotNil(t, r.Temperature) {
				assert.Zero(t, *r.Temperature)
			}
			assert.Contains(t, r.System, "Tool: [data TOOL_NAME]\nInput: [data TOOL_INPUT]", "the hook's text stays readable")
			assert.Contains(t, r.User, "\n\"Bash\"\n")
			assert.Contains(t, r.User, "\n{\"command\":\"ls\"}\n")
			assert.NotContains(t, r.User, "ARGUMENTS", "what the hook does not refer to is not sent")
		}
	})
}

func TestDecideAnswersAnEvent(t *testing.T) {
	t.Parallel()
	s := prompttest.New(t, prompttest.Reply{Text: `{"decision":"allow","additionalContext":"mind the tests","nonce":"{{nonce}}"}`})
	h := safety()
	h.Prompt = "Look at $ARGUMENTS"
	j := judge(t, h, ways()[0].model(s), nil)
	e := hook.Event{ID: "1", Name: hook.PreToolUse, Subject: "Bash", SessionID: "s-1", Data: hook.Data{
		CWD:    "/project",
		Tool:   &hook.Tool{Name: "Bash", Kind: hook.KindShell, Input: json.RawMessage(`{"command":"as rewritten"}`)},
		Native: hook.Native{Agent: "claude-code", Event: "PreToolUse", Payload: json.RawMessage(`{"tool_input":{"command":"as first sent"}}`)},
	}}
	d, err := j.Decide(t.Context(), e)
	require.NoError(t, err)
	assert.Equal(t, hook.Allow, d.Effect)
	assert.Contains(t, d.Reason, "safety")
	assert.Equal(t, "A language model, asked by hook safety, says: mind the tests", d.Context)
	user := s.Requests()[0].User
	assert.Contains(t, user, "as rewritten")
	assert.NotContains(t, user, "as first sent", "only what will run is judged")
	assert.Contains(t, user, `"event":"pre_tool_use"`)
}

func TestEntryNeverGrants(t *testing.T) {
	t.Parallel()
	h := safety()
	h.Rewrites, h.Priority, h.OnFailure = true, 7, hook.FailAsk
	e := h.Entry()
	require.NoError(t, e.Validate())
	assert.False(t, e.Grants)
	assert.True(t, e.Rewrites)
	assert.Equal(t, "pre_tool_use.>", e.Filter)

	answered := hook.Decision{Effect: hook.Allow, Reason: "fine"}
	v := hook.Merge(hook.PreToolUse.Class(), []hook.Answer{{Entry: e, Outcome: hook.Answered, Decision: answered}}, hook.Abstain)
	assert.Equal(t, hook.Abstain, v.Effect, "a model's allow does not skip the agent's own prompt")
}

func TestKeyIsInItsHeaderAndNowhereElse(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		s := prompttest.New(t)
		j := judge(t, safety(), w.model(s), nil)
		_, err := j.Ask(t.Context(), list())
		require.NoError(t, err)
		r := s.Requests()[0]
		where := "X-Api-Key"
		want := testKey
		if w.openAI {
			where, want = "Authorization", "Bearer "+testKey
		}
		assert.Equal(t, want, r.Header.Get(where))
		r.Header.Del(where)
		assert.NotContains(t, fmt.Sprint(r.Header, r.Path, string(r.Raw)), testKey)
	})
}

func TestKeySources(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte(testKey+"\n"), 0o600))
	lookup := func(name string) (string, bool) { return testKey, name == "MODEL_KEY" }
	for name, change := range map[string]func(*prompt.Model){
		"inline": func(m *prompt.Model) { m.Key = prompt.NewSecret(testKey) },
		"env":    func(m *prompt.Model) { m.KeyEnv = "MODEL_KEY" },
		"file":   func(m *prompt.Model) { m.KeyFile = file },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prompttest.New(t)
			s.RequireKey(testKey)
			m := prompt.Model{Provider: "litellm", BaseURL: s.OpenAIURL(), Name: "small"}
			change(&m)
			_, err := judge(t, safety(), m, &prompt.Options{LookupEnv: lookup}).Ask(t.Context(), list())
			require.NoError(t, err)
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		s := prompttest.New(t)
		m := prompt.Model{Provider: "ollama", BaseURL: s.OpenAIURL(), Name: "small"}
		_, err := judge(t, safety(), m, nil).Ask(t.Context(), list())
		require.NoError(t, err)
		assert.Empty(t, s.Requests()[0].Header.Values("Authorization"))
	})
}

// Nothing of the environment may lead elsewhere: a workspace can put variables
// into its agent's environment.
func TestEnvironmentIsNotRead(t *testing.T) {
	var strays atomic.Int64
	stray := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strays.Add(1) }))
	t.Cleanup(stray.Close)
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": stray.URL, "ANTHROPIC_API_KEY": "from-the-environment", "ANTHROPIC_AUTH_TOKEN": "from-the-environment",
		"ANTHROPIC_CUSTOM_HEADERS": "X-Evil: from-the-environment", "OPENAI_BASE_URL": stray.URL, "OPENAI_API_KEY": "from-the-environment",
		"OPENAI_ORG_ID": "from-the-environment", "OPENAI_CUSTOM_HEADERS": "X-Evil: from-the-environment", "HTTP_PROXY": stray.URL,
	} {
		t.Setenv(name, value)
	}
	for _, w := range ways() {
		s := prompttest.New(t)
		m := w.model(s)
		m.Key = prompt.Secret{}
		_, err := judge(t, safety(), m, nil).Ask(t.Context(), list())
		require.NoError(t, err)
		assert.NotContains(t, fmt.Sprint(s.Requests()[0].Header), "from-the-environment")
	}
	assert.Zero(t, strays.Load())
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		var strays atomic.Int64
		stray := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strays.Add(1) }))
		t.Cleanup(stray.Close)
		s := prompttest.New(t, prompttest.Reply{Redirect: stray.URL + "/v1/messages"})
		_, err := judge(t, safety(), w.model(s), nil).Ask(t.Context(), list())
		require.ErrorIs(t, err, prompt.ErrModel)
		assert.ErrorContains(t, err, "redirect")
		assert.Zero(t, strays.Load(), "nothing went to the other host")
		assert.Equal(t, 1, len(s.Requests()), "and it was not tried again")
	})
}

func TestErrorsAreTriedAgainWhereThatHelps(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]prompttest.Reply{
		"429": prompttest.Fail(429, "rate_limit_error"), "500": prompttest.Fail(500, "api_error"), "502": prompttest.Fail(502, "x"),
		"503": prompttest.Fail(503, "x"), "529": prompttest.Fail(529, "overloaded_error"),
		"html":         {Status: 502, Body: "<html>bad gateway</html>", Header: http.Header{"Content-Type": {"text/html"}}},
		"reset":        {Reset: true},
		"broken off":   {Text: strings.Repeat("x", 100), Break: true},
		"stream error": {Text: strings.Repeat("x", 100), StreamError: "overloaded_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyWay(t, func(t *testing.T, w way) {
				if first.StreamError != "" && !w.stream {
					return
				}
				s := prompttest.New(t, first, prompttest.Allow())
				a, err := judge(t, safety(), w.model(s), nil).Ask(t.Context(), list())
				require.NoError(t, err)
				assert.Equal(t, hook.Allow, a.Effect)
				assert.Equal(t, 2, a.Attempts)
			})
		})
	}
}

func TestErrorsThatStay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply    prompttest.Reply
		requests int
		says     string
		is       error
	}{
		"401":            {prompttest.Fail(401, "authentication_error"), 1, "key was not accepted", prompt.ErrModel},
		"400":            {prompttest.Fail(400, "invalid_request_error"), 1, "status 400 invalid_request_error", prompt.ErrModel},
		"404":            {prompttest.Fail(404, "not_found_error"), 1, "base_url", prompt.ErrModel},
		"429 for good":   {prompttest.Fail(429, "insufficient_quota"), 1, "insufficient_quota", prompt.ErrModel},
		"429 retries":    {prompttest.Fail(429, "rate_limit_error"), 2, "status 429", prompt.ErrModel},
		"never retry":    {prompttest.Reply{Status: 500, Type: "api_error", Header: http.Header{"X-Should-Retry": {"false"}}}, 1, "500", prompt.ErrModel},
		"later than due": {prompttest.Reply{Status: 429, Type: "rate_limit_error", Header: http.Header{"Retry-After": {"3600"}}}, 1, "too late", context.DeadlineExceeded},
		"garbage":        {prompttest.Reply{Body: "]]]}{ secret-of-the-server"}, 1, "", nil},
		"huge":           {prompttest.Reply{Text: "x", Fill: 6 << 20}, 1, "too large", prompt.ErrModel},
		"empty":          {prompttest.Reply{}, 1, "no decision", prompt.ErrAnswer},
		"prose":          {prompttest.Reply{Text: "I would say that this is allowed."}, 1, "no decision", prompt.ErrAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyWay(t, func(t *testing.T, w way) {
				reply := c.reply
				reply.Message = "you sent " + testKey + " and something about ls"
				s := prompttest.New(t, reply)
				a, err := judge(t, safety(), w.model(s), &prompt.Options{Retries: 1}).Ask(t.Context(), list())
				require.Error(t, err)
				if c.is != nil {
					assert.ErrorIs(t, err, c.is)
				}
				assert.ErrorContains(t, err, c.says)
				assert.Equal(t, hook.Abstain, a.Effect, "nothing that could be taken for a decision")
				assert.Equal(t, c.requests, len(s.Requests()))
				for e := err; e != nil; e = errors.Unwrap(e) {
					assert.NotContains(t, fmt.Sprintf("%+v", e), testKey)
					assert.NotContains(t, fmt.Sprintf("%+v", e), "something about", "the server's words stay out of errors")
					assert.NotContains(t, fmt.Sprintf("%+v", e), "secret-of-the-server")
				}
			})
		})
	}
}

func TestStreamThatEndsEarly(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"openai": "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"{\\\"decision\\\":\\\"allow\\\"}\"},\"finish_reason\":null}]}\n\n",
		"anthropic": "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"{\\\"ok\\\":true}\"}}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prompttest.New(t, prompttest.Reply{Body: body, Header: http.Header{"Content-Type": {"text/event-stream"}}})
			w := way{openAI: name == "openai", stream: true}
			_, err := judge(t, safety(), w.model(s), &prompt.Options{Retries: -1}).Ask(t.Context(), list())
			require.ErrorIs(t, err, prompt.ErrModel)
			assert.ErrorContains(t, err, "broke off")
		})
	}
}

func TestSlowServer(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		s := prompttest.New(t, prompttest.Reply{Hang: true})
		h := safety()
		h.Timeout = hook.Duration(200 * time.Millisecond)
		began := time.Now()
		_, err := judge(t, h, w.model(s), nil).Ask(t.Context(), list())
		require.ErrorIs(t, err, prompt.ErrModel)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Less(t, time.Since(began), 15*time.Second)
	})
}

func TestRefusalsAndCutAnswers(t *testing.T) {
	t.Parallel()
	allow := prompttest.Allow().Text
	for name, c := range map[string]struct {
		openAI bool
		reply  prompttest.Reply
		says   string
		effect hook.Effect
	}{
		"anthropic refusal":       {false, prompttest.Reply{Text: allow, Stop: "refusal"}, "refused", 0},
		"openai refusal":          {true, prompttest.Reply{Refusal: "I cannot help with that"}, "refused", 0},
		"openai filter":           {true, prompttest.Reply{Text: allow, Stop: "content_filter"}, "refused", 0},
		"anthropic cut":           {false, prompttest.Reply{Text: allow + " but", Stop: "max_tokens"}, "cut off", 0},
		"openai cut":              {true, prompttest.Reply{Text: allow + " but", Stop: "length"}, "cut off", 0},
		"a cut no is a no":        {true, prompttest.Reply{Text: `{"decision":"deny"} because`, Stop: "length"}, "", hook.Deny},
		"a no in a refusal is no": {false, prompttest.Reply{Text: `{"decision":"deny"}`, Stop: "refusal"}, "", hook.Deny},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " stream ", stream), func(t *testing.T) {
				t.Parallel()
				s := prompttest.New(t, c.reply)
				a, err := judge(t, safety(), way{openAI: c.openAI, stream: stream}.model(s), nil).Ask(t.Context(), list())
				if c.effect != 0 {
					require.NoError(t, err)
					assert.Equal(t, c.effect, a.Effect)
					return
				}
				require.ErrorIs(t, err, prompt.ErrAnswer)
				assert.ErrorContains(t, err, c.says)
			})
		}
	}
}

func TestParametersThatAModelDoesNotTake(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		s := prompttest.New(t)
		s.Answer(func(r prompttest.Request) prompttest.Reply {
			switch {
			case r.Temperature != nil:
				return prompttest.Reply{Status: 400, Type: "invalid_request_error", Message: "`temperature` is not supported by this model"}
			case w.openAI && r.LimitName == "max_tokens":
				return prompttest.Reply{Status: 400, Type: "invalid_request_error", Message: "use 'max_completion_tokens' instead of 'max_tokens'"}
			}
			return prompttest.Allow()
		})
		j := judge(t, safety(), w.model(s), &prompt.Options{Retries: -1})
		a, err := j.Ask(t.Context(), list())
		require.NoError(t, err)
		want := 2
		if w.openAI {
			want = 3
		}
		assert.Equal(t, want, a.Attempts)
		a, err = j.Ask(t.Context(), list())
		require.NoError(t, err)
		assert.Equal(t, 1, a.Attempts, "it remembers")
	})
}

func TestTruncatedEventIsNeverAllowed(t *testing.T) {
	t.Parallel()
	s := prompttest.New(t, prompttest.Allow(), prompttest.Deny("too odd"))
	j := judge(t, safety(), ways()[0].model(s), &prompt.Options{MaxData: 1000})
	q := list()
	q.ToolInput = json.RawMessage(`{"command":"echo ` + strings.Repeat("a", 3000) + `; rm -rf /; echo ` + strings.Repeat("é", 3000) + ` tail-end"}`)
	a, err := j.Ask(t.Context(), q)
	require.ErrorIs(t, err, prompt.ErrTruncated)
	assert.True(t, a.Truncated)
	a, err = j.Ask(t.Context(), q)
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, a.Effect)
	r := s.Requests()[0]
	assert.Contains(t, r.User, `{"command":"echo aaa`)
	assert.Contains(t, r.User, `tail-end"}`)
	assert.Contains(t, r.User, "<<<CUT "+r.Boundary()+" ")
	assert.NotContains(t, r.User, "rm -rf")
	assert.Less(t, len(r.User), 3000)
}

func TestSecretsStayHere(t *testing.T) {
	t.Parallel()
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	q := list()
	q.ToolInput = json.RawMessage(`{"command":"curl -H 'Authorization: token ` + secret + `' x"}`)
	q.Input = q.ToolInput
	for _, keep := range []bool{false, true} {
		s := prompttest.New(t)
		a, err := judge(t, safety(), ways()[0].model(s), &prompt.Options{KeepSecrets: keep}).Ask(t.Context(), q)
		require.NoError(t, err)
		assert.Equal(t, keep, strings.Contains(string(s.Requests()[0].Raw), secret))
		assert.Equal(t, !keep, a.Redacted > 0)
	}
}

func TestRewrites(t *testing.T) {
	t.Parallel()
	answer := func(input, decision string) prompttest.Reply {
		return prompttest.Reply{Text: `{"decision":"` + decision + `","updatedInput":` + input + `,"nonce":"{{nonce}}"}`}
	}
	for name, c := range map[string]struct {
		reply    prompttest.Reply
		rewrites bool
		secret   bool
		rewrite  string
		err      bool
	}{
		"permitted":                     {reply: answer(`{"command":"ls -l"}`, "allow"), rewrites: true, rewrite: `{"command":"ls -l"}`},
		"not permitted":                 {reply: answer(`{"command":"ls -l"}`, "allow"), err: true},
		"the same":                      {reply: answer(`{ "command" : "ls" }`, "allow")},
		"null":                          {reply: answer(`null`, "allow")},
		"empty":                         {reply: answer(`{}`, "allow")},
		"no object":                     {reply: answer(`"rm"`, "allow"), rewrites: true, err: true},
		"with a no":                     {reply: answer(`{"command":"ls -l"}`, "deny"), rewrites: true},
		"of what it could not see well": {reply: answer(`{"command":"ls -l"}`, "allow"), rewrites: true, secret: true, err: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prompttest.New(t, c.reply)
			h := safety()
			h.Rewrites = c.rewrites
			q := list()
			if c.secret {
				q.ToolInput = json.RawMessage(`{"command":"ls ghp_16C7e42F292c6912E7710c838347Ae178B4a"}`)
			}
			a, err := judge(t, h, ways()[2].model(s), nil).Ask(t.Context(), q)
			if c.err {
				require.ErrorIs(t, err, prompt.ErrAnswer)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.rewrite, string(a.Rewrite))
		})
	}
}

func TestLogHoldsNoContent(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, w way) {
		var log strings.Builder
		logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		s := prompttest.New(t, prompttest.Deny("reason-of-the-model"), prompttest.Reply{Text: "prose-of-the-model"},
			prompttest.Reply{Status: 400, Type: "invalid_request_error", Message: "message-of-the-server"})
		h := safety()
		h.Prompt = "rule-of-the-hook $TOOL_INPUT"
		m := w.model(s)
		j := judge(t, h, m, &prompt.Options{Log: logger})
		q := list()
		q.ToolInput = json.RawMessage(`{"command":"value-of-the-event"}`)
		for range 3 {
			_, _ = j.Ask(t.Context(), q)
		}
		require.Len(t, s.Requests(), 3)
		require.Contains(t, log.String(), "safety")
		for _, never := range []string{testKey, "-of-the-"} {
			assert.NotContains(t, log.String(), never)
		}
		assert.NotContains(t, fmt.Sprintf("%v %+v %#v %s", m, m, m, m.Key), testKey)
		text, err := json.Marshal(m)
		require.NoError(t, err)
		assert.NotContains(t, string(text), testKey)
	})
}
