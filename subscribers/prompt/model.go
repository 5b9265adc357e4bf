package prompt

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strings"
)

// ErrConfig is wrapped by every error about a hook's, a model's or a budget's
// configuration.
var ErrConfig = errors.New("bad prompt hook configuration")

// Where the vendors are.
const (
	anthropicURL = "https://api.anthropic.com"
	openAIURL    = "https://api.openai.com/v1"
)

// Model says which language model is asked, and where. It belongs to the
// person: a hook that comes from a workspace must not bring its own, since the
// events and the key go where BaseURL says.
type Model struct {
	// Provider is "anthropic" or "openai". Any other name (ollama, litellm,
	// vllm, azure, openrouter and so on) means a server that speaks OpenAI's
	// chat completions and needs a BaseURL. Refused are the names of services
	// that are reached by signed or other requests: bedrock, vertex,
	// sagemaker, and codemie's single sign-on.
	Provider string `json:"provider" yaml:"provider"`
	// BaseURL is where the model is; empty means the vendor's own. For
	// OpenAI's protocol it usually ends in /v1. Plain http is taken for this
	// machine only, unless Plaintext says otherwise.
	BaseURL string `json:"base_url,omitempty" yaml:"base_url,omitempty"`
	// Name is the model's name.
	Name string `json:"model" yaml:"model"`
	// Key is the key itself. Without Key, KeyEnv and KeyFile no key is sent,
	// which only a server of one's own takes.
	Key Secret `json:"key,omitzero" yaml:"key,omitempty"`
	// KeyEnv is the environment variable that holds the key. It is read by
	// [New], as KeyFile is.
	KeyEnv string `json:"key_env,omitempty" yaml:"key_env,omitempty"`
	// KeyFile is a file that holds the key and that only its owner may read.
	KeyFile string `json:"key_file,omitempty" yaml:"key_file,omitempty"`
	// Plaintext permits http to another machine: events travel unprotected.
	Plaintext bool `json:"plaintext,omitempty" yaml:"plaintext,omitempty"`
	// Stream asks for the answer in pieces; some local servers answer in no
	// other way. The decision is the same.
	Stream bool `json:"stream,omitempty" yaml:"stream,omitempty"`
	// Prices are what tokens cost; needed for a budget of money alone.
	Prices Prices `json:"prices,omitzero" yaml:"prices,omitempty"`
}

// Prices are what a million tokens cost, in any currency.
type Prices struct {
	Input  float64 `json:"input" yaml:"input"`
	Output float64 `json:"output" yaml:"output"`
}

func (p Prices) valid() bool {
	fine := func(v float64) bool { return v >= 0 && v <= 1e9 }
	return fine(p.Input) && fine(p.Output)
}

// cost is what u costs, in millionths of the currency, rounded up.
func (p Prices) cost(u Usage) int64 {
	return int64(math.Ceil(float64(u.Input)*p.Input + float64(u.Output)*p.Output))
}

// protocol is what is spoken with a model server.
type protocol int

const (
	anthropicMessages protocol = iota
	openAIChat
)

// protocol finds out what the provider speaks.
func (m Model) protocol() (protocol, error) {
	name := strings.ToLower(strings.TrimSpace(m.Provider))
	switch name {
	case "":
		return 0, errors.New("provider: name one: anthropic, openai, or any other with a base_url that speaks OpenAI's chat completions")
	case "anthropic":
		return anthropicMessages, nil
	case "openai":
		return openAIChat, nil
	case "ai-run-sso", "sso":
		return 0, fmt.Errorf("provider %q signs in through a browser, which a hook cannot; name the model's own provider, base_url and key", name)
	}
	for _, other := range []string{"bedrock", "vertex", "sagemaker"} {
		if strings.Contains(name, other) {
			return 0, fmt.Errorf("provider %q takes signed requests, which are not made here; put a gateway that speaks OpenAI's chat completions before it and give its base_url", name)
		}
	}
	if m.BaseURL == "" {
		return 0, fmt.Errorf("provider %.40q is none whose address is known; give a base_url that speaks OpenAI's chat completions", m.Provider)
	}
	return openAIChat, nil
}

// endpoint checks where the model is.
func (m Model) endpoint(p protocol) (*url.URL, error) {
	text := m.BaseURL
	switch {
	case text == "" && p == anthropicMessages:
		text = anthropicURL
	case text == "":
		text = openAIURL
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("base_url is not a URL") // the text may hold a password
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("base_url: leave out user, password, query and fragment; a key goes into key, key_env or key_file")
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return nil, fmt.Errorf("base_url %.200q must begin with https:// and a host", text)
	case u.Scheme == "http" && !local(u.Hostname()) && !m.Plaintext:
		return nil, fmt.Errorf("base_url %.200q would send events unprotected over the network; use https, or say plaintext: true", text)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if p == anthropicMessages {
		u.Path = strings.TrimSuffix(u.Path, "/v1") // the client adds it
	}
	u.RawPath = ""
	u.Path += "/"
	return u, nil
}

// local reports whether host is this machine by its very name.
func local(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
