package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
	"github.com/grapnel-dev/grapnel/subscribers/prompt"
)

// config is the configuration file; its schema is schemas/configuration.json.
type config struct {
	Version  int             `yaml:"version"`
	Policy   policyConfig    `yaml:"policy"`
	Hooks    []command.Hook  `yaml:"hooks"`
	Dialects []dialectConfig `yaml:"dialects"`
	Trust    trustConfig     `yaml:"trust"`
	Prompts  []promptConfig  `yaml:"prompts"`
	Webhooks webhooksConfig  `yaml:"webhooks"`
	// Models are the language models that prompt hooks may ask, by name.
	Models   map[string]prompt.Model `yaml:"models"`
	Budget   budgetConfig            `yaml:"budget"`
	Roster   []hook.Entry            `yaml:"roster"`
	Defaults []defaultEffect         `yaml:"defaults"`
	Audit    auditConfig             `yaml:"audit"`
	HTTP     httpConfig              `yaml:"http"`
	Start    *bool                   `yaml:"start_daemon"`

	dir string // relative names are relative to this
}

type policyConfig struct {
	// Default switches the policy that ships; nil means on.
	Default *bool `yaml:"default"`
	// Files are further policies.
	Files []string `yaml:"files"`
}

// defaultEffect is what counts when nobody had an opinion.
type defaultEffect struct {
	On     string      `yaml:"on"`
	Effect hook.Effect `yaml:"effect"`
}

// httpConfig is the endpoint for agents that post their hooks.
type httpConfig struct {
	Listen string `yaml:"listen"`
}

type auditConfig struct {
	OnFailure bus.JournalFailure `yaml:"on_failure"`
}

// maxConfig bounds the configuration file, in bytes.
const maxConfig = 4 << 20

// loadConfig reads the file; without one, everything has its default.
func loadConfig(p paths) (*config, error) {
	c := &config{dir: filepath.Dir(p.config)}
	text, err := os.ReadFile(p.config)
	if errors.Is(err, fs.ErrNotExist) && !p.configGiven {
		return c, nil
	}
	if err != nil {
		return nil, fail(exitUsage, "name a file that can be read with --config", fmt.Errorf("configuration: %w", err))
	}
	if len(text) > maxConfig {
		return nil, fail(exitUsage, "", fmt.Errorf("configuration %s has %d bytes, at most %d", p.config, len(text), maxConfig))
	}
	if len(bytes.TrimSpace(text)) > 0 {
		if err := yaml.UnmarshalWithOptions(text, c, yaml.Strict()); err != nil {
			return nil, fail(exitUsage, "`grapnel schema configuration` shows what may stand there", fmt.Errorf("configuration %s: %s", p.config, yaml.FormatError(err, false, true)))
		}
	}
	if where, err := c.validate(); err != nil {
		return nil, fail(exitUsage, "`grapnel schema configuration` shows what may stand there", fmt.Errorf("configuration %s: %w", p.config+lineOf(text, where), err))
	}
	return c, nil
}

// validate reports the first thing that is wrong, and the YAML path of where it
// stands.
func (c *config) validate() (where string, err error) {
	if c.Version != 0 && c.Version != 1 {
		return "$.version", fmt.Errorf("version %d is not known; this grapnel reads version 1", c.Version)
	}
	names := map[string]string{policyDecider: "the policy", policyRewriter: "the policy"}
	add := func(name, what string) error {
		if old, taken := names[name]; taken {
			return fmt.Errorf("the name %q is used twice: by %s and by %s", name, old, what)
		}
		names[name] = what
		return nil
	}
	for i, h := range c.Hooks {
		err := cmp.Or(h.Validate(), checkWhen(h.When), add(h.Name, "a hook"))
		if err != nil {
			return fmt.Sprintf("$.hooks[%d]", i), err
		}
	}
	if where, err := c.validateHooks(add); err != nil {
		return where, err
	}
	for i, e := range c.Roster {
		err := cmp.Or(e.Validate(), checkWhen(e.When), add(e.Name, "a roster entry"))
		if err != nil {
			return fmt.Sprintf("$.roster[%d]", i), err
		}
	}
	for i, d := range c.Defaults {
		_, err := hook.ParsePattern(d.On)
		if err == nil && d.Effect != hook.Ask && d.Effect != hook.Deny {
			err = fmt.Errorf("effect for %s is %s; it can be ask or deny", d.On, d.Effect)
		}
		if err != nil {
			return fmt.Sprintf("$.defaults[%d]", i), fmt.Errorf("defaults: %w", err)
		}
	}
	switch c.Audit.OnFailure {
	case "", bus.JournalDeny, bus.JournalWarn, bus.JournalIgnore:
	default:
		return "$.audit.on_failure", fmt.Errorf("audit.on_failure %q is one of deny, warn, ignore", c.Audit.OnFailure)
	}
	return "", nil
}

func checkWhen(expression string) error {
	if expression == "" {
		return nil
	}
	_, err := policy.CompileWhen(expression)
	return err
}

// lineOf is ":7" for what stands in line 7 under a YAML path, or nothing.
func lineOf(text []byte, where string) string {
	path, err := yaml.PathString(where)
	if err != nil {
		return ""
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return ""
	}
	node, err := path.FilterFile(file)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(":%d", node.GetToken().Position.Line)
}

// defaultFor is the effect for e when nobody had an opinion; the strictest of
// all that match.
func (c *config) defaultFor() (func(hook.Event) hook.Effect, error) {
	type rule struct {
		pattern hook.Pattern
		effect  hook.Effect
	}
	var rules []rule
	for _, d := range c.Defaults {
		p, err := hook.ParsePattern(d.On)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule{p, d.Effect})
	}
	return func(e hook.Event) hook.Effect {
		effect := hook.Abstain
		for _, r := range rules {
			if r.pattern.Match(e.Name, e.Subject) {
				effect = max(effect, r.effect)
			}
		}
		return effect
	}, nil
}

// file resolves a name that stands in the configuration.
func (c *config) file(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.dir, name)
}

// The names of the policy in the roster: as it judges, and as it rewrites.
const (
	policyDecider  = "policy"
	policyRewriter = "policy-rewrite"
)
