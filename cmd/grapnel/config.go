package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/command"
)

// config is the configuration file; its schema is schemas/configuration.json.
type config struct {
	Version  int             `yaml:"version"`
	Policy   policyConfig    `yaml:"policy"`
	Hooks    []command.Hook  `yaml:"hooks"`
	Roster   []hook.Entry    `yaml:"roster"`
	Defaults []defaultEffect `yaml:"defaults"`
	Audit    auditConfig     `yaml:"audit"`
	Start    *bool           `yaml:"start_daemon"`

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
	if err := c.validate(); err != nil {
		return nil, fail(exitUsage, "`grapnel schema configuration` shows what may stand there", fmt.Errorf("configuration %s: %w", p.config, err))
	}
	return c, nil
}

func (c *config) validate() error {
	if c.Version != 0 && c.Version != 1 {
		return fmt.Errorf("version %d is not known; this grapnel reads version 1", c.Version)
	}
	names := map[string]string{policyDecider: "the policy"}
	add := func(name, what string) error {
		if old, taken := names[name]; taken {
			return fmt.Errorf("the name %q is used twice: by %s and by %s", name, old, what)
		}
		names[name] = what
		return nil
	}
	for _, h := range c.Hooks {
		if err := h.Validate(); err != nil {
			return err
		}
		if err := add(h.Name, "a hook"); err != nil {
			return err
		}
	}
	for _, e := range c.Roster {
		if err := e.Validate(); err != nil {
			return err
		}
		if err := add(e.Name, "a roster entry"); err != nil {
			return err
		}
	}
	for _, d := range c.Defaults {
		if _, err := hook.ParsePattern(d.On); err != nil {
			return fmt.Errorf("defaults: %w", err)
		}
		if d.Effect != hook.Ask && d.Effect != hook.Deny {
			return fmt.Errorf("defaults: effect for %s is %s; it can be ask or deny", d.On, d.Effect)
		}
	}
	switch c.Audit.OnFailure {
	case "", bus.JournalDeny, bus.JournalWarn, bus.JournalIgnore:
	default:
		return fmt.Errorf("audit.on_failure %q is one of deny, warn, ignore", c.Audit.OnFailure)
	}
	return nil
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

// policyDecider is the name of the policy in the roster.
const policyDecider = "policy"
