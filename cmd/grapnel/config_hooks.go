package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialects"
	"github.com/grapnel-dev/grapnel/subscribers/prompt"
	"github.com/grapnel-dev/grapnel/subscribers/webhook"
)

// dialectConfig switches a hook dialect on: a name alone, or a mapping.
type dialectConfig struct {
	Name string `yaml:"name"`
	// Files are configuration files read as the person's own, before those at
	// the dialect's own places.
	Files []string `yaml:"files"`
	// OnFailure is what the failure of a hook counts as; empty means the
	// dialect's own rule, which goes on.
	OnFailure hook.FailurePolicy `yaml:"on_failure"`
	Grants    *bool              `yaml:"grants"`
	Rewrites  *bool              `yaml:"rewrites"`
	// Env names variables of the daemon that hooks get besides the usual ones.
	Env     []string        `yaml:"env"`
	Sandbox process.Sandbox `yaml:"sandbox"`
	// Subagents lets the events of sub-agents run hooks where the dialect
	// leaves them out.
	Subagents bool `yaml:"subagents"`
	// Budget is how often one hook may run for a session within a minute.
	Budget int `yaml:"budget"`
	// Timeout is for hooks that say nothing else.
	Timeout hook.Duration `yaml:"timeout"`
}

// UnmarshalYAML reads the mapping, or the name alone as a string.
func (d *dialectConfig) UnmarshalYAML(unmarshal func(any) error) error {
	var name string
	if unmarshal(&name) == nil {
		*d = dialectConfig{Name: name}
		return nil
	}
	type plain dialectConfig // without this method
	return unmarshal((*plain)(d))
}

func (d dialectConfig) validate() error {
	if _, ok := dialects.Find(d.Name); !ok {
		return fmt.Errorf("there is no hook dialect %.40q; there are %v", d.Name, dialects.Names())
	}
	if d.Budget < 0 || d.Timeout < 0 {
		return errors.New("budget and timeout cannot be negative")
	}
	for _, name := range d.Env {
		if err := process.CheckName(name); err != nil {
			return err
		}
	}
	return cmp.Or(new(hook.FailurePolicy).UnmarshalText([]byte(d.OnFailure)), d.Sandbox.Check())
}

// trustConfig says what needs no approval.
type trustConfig struct {
	// Workspaces are directories whose hooks, and those of everything below
	// them, run unapproved.
	Workspaces []string `yaml:"workspaces"`
}

func (t trustConfig) validate() error {
	for _, dir := range t.Workspaces {
		if !filepath.IsAbs(dir) || dir == string(filepath.Separator) {
			return fmt.Errorf("trust.workspaces: %.100q is not the absolute path of a directory", dir)
		}
	}
	return nil
}

// promptConfig is a prompt hook and the name of the model that it asks.
type promptConfig struct {
	prompt.Hook `yaml:",inline"`
	Model       string `yaml:"model"`
}

// budgetConfig caps what all prompt hooks together spend in an hour.
type budgetConfig struct {
	Requests int     `yaml:"requests"`
	Tokens   int64   `yaml:"tokens"`
	Money    float64 `yaml:"money"`
}

// webhooksConfig is the HTTP endpoints, and what they may reach.
type webhooksConfig struct {
	Hooks []webhook.Hook `yaml:"hooks"`
	// Private are addresses of this machine and network that hooks of the
	// person's own may reach.
	Private []string `yaml:"private"`
}

// defaultModel is the model that is asked when a hook names none.
const defaultModel = "default"

// model finds the model that a prompt hook means by a name; "" is the default.
func (c *config) model(name string) (prompt.Model, error) {
	if name == "" {
		name = defaultModel
	}
	m, ok := c.Models[name]
	if !ok {
		return m, fmt.Errorf("no model under models: is called %.60q", name)
	}
	return m, nil
}

// validateHooks checks what is not a hook command; add notes a roster name.
func (c *config) validateHooks(add func(name, what string) error) (where string, err error) {
	for i, d := range c.Dialects {
		if err := cmp.Or(d.validate(), add(d.Name, "a dialect")); err != nil {
			return fmt.Sprintf("$.dialects[%d]", i), err
		}
	}
	if err := c.Trust.validate(); err != nil {
		return "$.trust", err
	}
	for i, p := range c.Prompts {
		err := cmp.Or(p.Validate(), checkWhen(p.When), add(p.Name, "a prompt hook"))
		if err == nil {
			_, err = c.model(p.Model)
		}
		if err != nil {
			return fmt.Sprintf("$.prompts[%d]", i), err
		}
	}
	for i, h := range c.Webhooks.Hooks {
		if err := cmp.Or(h.Validate(), checkWhen(h.When), add(h.Name, "a webhook")); err != nil {
			return fmt.Sprintf("$.webhooks.hooks[%d]", i), err
		}
	}
	return "", nil
}

// trusts reports whether a workspace needs no approval: one that is listed, or
// lies below one that is.
func (t trustConfig) trusts(workspace string) bool {
	real, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(t.Workspaces, func(dir string) bool {
		listed, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return false
		}
		rel, err := filepath.Rel(listed, real)
		return err == nil && filepath.IsLocal(rel)
	})
}
