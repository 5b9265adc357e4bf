package prompt_test

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/prompt"
)

func TestConfigurationThatIsRefused(t *testing.T) {
	t.Parallel()
	open := filepath.Join(t.TempDir(), "open")
	require.NoError(t, os.WriteFile(open, []byte("k"), 0o644))
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, []byte(" \n"), 0o600))
	money, err := prompt.NewBudget(prompt.Limits{Money: 1})
	require.NoError(t, err)
	good := prompt.Model{Provider: "openai", Name: "m", Key: prompt.NewSecret("hidden-key")}
	for name, c := range map[string]struct {
		hook   func(*prompt.Hook)
		model  func(*prompt.Model)
		budget *prompt.Budget
		says   string
	}{
		"no name":          {hook: func(h *prompt.Hook) { h.Name = "" }, says: "name"},
		"no prompt":        {hook: func(h *prompt.Hook) { h.Prompt = " \n" }, says: "decide by"},
		"huge prompt":      {hook: func(h *prompt.Hook) { h.Prompt = strings.Repeat("x", prompt.MaxPrompt+1) }, says: "at most"},
		"not UTF-8":        {hook: func(h *prompt.Hook) { h.Prompt = "\xff" }, says: "UTF-8"},
		"tokens":           {hook: func(h *prompt.Hook) { h.MaxTokens = -1 }, says: "max_tokens"},
		"syntax":           {hook: func(h *prompt.Hook) { h.Syntax = 9 }, says: "syntax"},
		"timeout":          {hook: func(h *prompt.Hook) { h.Timeout = -1 }, says: "timeout"},
		"failure policy":   {hook: func(h *prompt.Hook) { h.OnFailure = "allow" }, says: "policy"},
		"no provider":      {model: func(m *prompt.Model) { m.Provider = "" }, says: "provider"},
		"unknown provider": {model: func(m *prompt.Model) { m.Provider = "ollama" }, says: "base_url"},
		"bedrock":          {model: func(m *prompt.Model) { m.Provider, m.BaseURL = "aws-bedrock", "https://x" }, says: "signed"},
		"vertex":           {model: func(m *prompt.Model) { m.Provider, m.BaseURL = "vertex-ai", "https://x" }, says: "signed"},
		"sso":              {model: func(m *prompt.Model) { m.Provider, m.BaseURL = "ai-run-sso", "https://x" }, says: "browser"},
		"no model":         {model: func(m *prompt.Model) { m.Name = "" }, says: "model"},
		"no key":           {model: func(m *prompt.Model) { m.Key = prompt.Secret{} }, says: "needs a key"},
		"two keys":         {model: func(m *prompt.Model) { m.KeyEnv = "X" }, says: "one of"},
		"unset variable":   {model: func(m *prompt.Model) { m.Key, m.KeyEnv = prompt.Secret{}, "X" }, says: "not set"},
		"no file":          {model: func(m *prompt.Model) { m.Key, m.KeyFile = prompt.Secret{}, open+"x" }, says: "no such file"},
		"empty file":       {model: func(m *prompt.Model) { m.Key, m.KeyFile = prompt.Secret{}, empty }, says: "empty"},
		"bad key":          {model: func(m *prompt.Model) { m.Key = prompt.NewSecret("hidden-key\r\nX-Evil: 1") }, says: "header"},
		"bad URL":          {model: func(m *prompt.Model) { m.BaseURL = "https://user:hidden-key@%zz" }, says: "base_url"},
		"userinfo":         {model: func(m *prompt.Model) { m.BaseURL = "https://user:hidden-key@host" }, says: "leave out"},
		"query":            {model: func(m *prompt.Model) { m.BaseURL = "https://host/?api-key=hidden-key" }, says: "leave out"},
		"scheme":           {model: func(m *prompt.Model) { m.BaseURL = "file:///etc/passwd" }, says: "https"},
		"plain http":       {model: func(m *prompt.Model) { m.BaseURL = "http://10.1.2.3/v1" }, says: "unprotected"},
		"looks local":      {model: func(m *prompt.Model) { m.BaseURL = "http://localhost.example.com/v1" }, says: "unprotected"},
		"price":            {model: func(m *prompt.Model) { m.Prices.Input = math.NaN() }, says: "prices"},
		"no price":         {budget: money, says: "prices"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, m := safety(), good
			if c.hook != nil {
				c.hook(&h)
			}
			if c.model != nil {
				c.model(&m)
			}
			_, err := prompt.New(h, m, &prompt.Options{Budget: c.budget, LookupEnv: func(string) (string, bool) { return "", false }})
			require.ErrorIs(t, err, prompt.ErrConfig)
			assert.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), "hidden-key")
		})
	}
	if runtime.GOOS != "windows" {
		m := good
		m.Key, m.KeyFile = prompt.Secret{}, open
		_, err := prompt.New(safety(), m, nil)
		assert.ErrorContains(t, err, "chmod 600")
	}
}

func TestConfigurationThatIsTaken(t *testing.T) {
	t.Parallel()
	key := prompt.NewSecret("k")
	for name, m := range map[string]prompt.Model{
		"anthropic":     {Provider: "anthropic", Key: key},
		"openai":        {Provider: "OpenAI", Key: key},
		"azure":         {Provider: "azure", BaseURL: "https://x.openai.azure.com/openai/v1/", Key: key},
		"ollama":        {Provider: "ollama", BaseURL: "http://localhost:11434/v1"},
		"ipv6":          {Provider: "llama.cpp", BaseURL: "http://[::1]:8080/v1"},
		"plain, wanted": {Provider: "vllm", BaseURL: "http://10.1.2.3:8000/v1", Plaintext: true},
	} {
		m.Name = "m"
		j, err := prompt.New(safety(), m, nil)
		if assert.NoError(t, err, name) {
			assert.Equal(t, hook.Duration(safety().Timeout), j.Entry().Timeout)
			assert.Equal(t, "safety", j.Hook().Name)
			j.Close()
		}
	}
	_, err := prompt.NewBudget(prompt.Limits{Tokens: -1})
	assert.ErrorIs(t, err, prompt.ErrConfig)
	_, err = prompt.NewBudget(prompt.Limits{Money: math.Inf(1)})
	assert.ErrorIs(t, err, prompt.ErrConfig)
}
