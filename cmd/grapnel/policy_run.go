package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"path/filepath"
	"time"

	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

// maxBundleAge is how old the signed policy may be that decides while no
// daemon runs.
const maxBundleAge = 30 * 24 * time.Hour

func (c *config) policyFiles() []string {
	files := make([]string, len(c.Policy.Files))
	for i, name := range c.Policy.Files {
		files[i] = c.file(name)
	}
	return files
}

// policyOptions protect what is ours from agents.
func policyOptions(p paths) policy.Options {
	return policy.Options{Protected: []string{p.state, filepath.Dir(p.config), filepath.Dir(p.socket)}}
}

func newPolicy(c *config, p paths) (*policy.Decider, error) {
	o := &policy.DeciderOptions{Options: policyOptions(p), NoDefault: c.Policy.Default != nil && !*c.Policy.Default}
	d, err := policy.NewDecider(c.policyFiles(), o)
	if err != nil {
		return nil, fail(exitUsage, "mend it and try again; `grapnel policy check FILE` says more", fmt.Errorf("policy: %w", err))
	}
	return d, nil
}

func (d *daemon) openPolicy(context.Context) error {
	var err error
	d.policy, err = newPolicy(d.config, d.paths)
	return err
}

// saveBundleLater keeps the copy once the bus answers: it compiles the policy a
// second time, which no hook should wait for.
func (d *daemon) saveBundleLater() {
	saved := make(chan struct{})
	go func() {
		defer close(saved)
		d.saveBundle()
	}()
	d.onStop(func() { <-saved })
}

// saveBundle keeps a signed copy of the policy for when no daemon runs. When
// that fails, gates are denied then instead.
func (d *daemon) saveBundle() {
	key, err := bundleKey(d.paths)
	if err == nil {
		err = policy.WriteBundle(d.paths.policyBundle(), d.policy.Sources(), key)
	}
	if err != nil {
		d.log.Warn("daemon: no policy for when the daemon does not run", "error", err)
	}
}

// bundleKey signs this machine's policy bundle.
func bundleKey(p paths) (ed25519.PrivateKey, error) {
	seed, err := secretFile(filepath.Join(p.state, "policy.key"), ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// bundledPolicy is the policy of the last daemon.
func bundledPolicy(p paths) (*policy.Policy, error) {
	if err := makePrivate(p.state); err != nil {
		return nil, err
	}
	key, err := bundleKey(p)
	if err != nil {
		return nil, err
	}
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("the policy's key is of another kind")
	}
	sources, err := policy.OpenBundle(p.policyBundle(), public, maxBundleAge)
	if err != nil {
		return nil, err
	}
	o := policyOptions(p)
	return policy.Compile(sources, &o)
}
