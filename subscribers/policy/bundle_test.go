package policy_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

func keys(t *testing.T) (ed25519.PublicKey, ed25519.PrivateKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return public, private
}

func TestBundle(t *testing.T) {
	t.Parallel()
	public, private := keys(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.bundle")
	sources := []policy.Source{policy.DefaultSource(), {Name: "mine.yaml", Content: []byte("rules: [{name: mine, effect: ask, reason: x, when: 'shell.named(\"ls\").size() > 0'}]")}}
	require.NoError(t, policy.WriteBundle(file, sources, private))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	got, err := policy.OpenBundle(file, public, time.Hour)
	require.NoError(t, err)
	assert.Equal(t, sources, got)
	p, err := policy.Compile(got, &policy.Options{Home: "/home/dev", TimeLimit: slow})
	require.NoError(t, err)
	assert.Equal(t, hook.Deny, decide(t, p, bash("rm -rf /")).Effect)
	assert.Equal(t, hook.Ask, decide(t, p, bash("ls")).Effect)

	other, _ := keys(t)
	_, err = policy.OpenBundle(file, other, time.Hour)
	require.ErrorIs(t, err, policy.ErrBundleSignature)
	require.ErrorIs(t, err, policy.ErrBundle)
	for _, age := range []time.Duration{0, -1} {
		_, err = policy.OpenBundle(file, public, age)
		require.ErrorIs(t, err, policy.ErrBundle)
	}
	_, err = policy.OpenBundle(file, nil, time.Hour)
	require.ErrorIs(t, err, policy.ErrBundle)
	_, err = policy.OpenBundle(dir, public, time.Hour)
	require.ErrorIs(t, err, policy.ErrBundle)
	_, err = policy.OpenBundle(filepath.Join(dir, "none"), public, time.Hour)
	require.ErrorIs(t, err, os.ErrNotExist)

	require.ErrorIs(t, policy.WriteBundle(file, []policy.Source{{Name: "x", Content: []byte("rules: 1")}}, private), policy.ErrPolicy, "a bad policy is not signed")
	require.ErrorIs(t, policy.WriteBundle(file, sources, nil), policy.ErrBundle)
	require.Error(t, policy.WriteBundle(filepath.Join(dir, "none", "x"), sources, private))
	_, err = policy.OpenBundle(file, public, time.Hour)
	require.NoError(t, err, "the old bundle is still there")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing is left beside it")
}

// No byte of a bundle can be changed, and none left out.
func TestBundleTampering(t *testing.T) {
	t.Parallel()
	public, private := keys(t)
	file := filepath.Join(t.TempDir(), "b")
	require.NoError(t, policy.WriteBundle(file, []policy.Source{{Name: "a", Content: []byte("rules: [{name: a, effect: deny, reason: x}]")}}, private))
	good, err := os.ReadFile(file)
	require.NoError(t, err)
	check := func(b []byte, what string) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, b, 0o600))
		_, err := policy.OpenBundle(file, public, time.Hour)
		require.ErrorIs(t, err, policy.ErrBundle, what)
	}
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 1
		check(b, "a flipped bit")
		check(good[:i], "cut off")
	}
	check(append(bytes.Clone(good), '{'), "something after it")
	check(bytes.Repeat([]byte(" "), policy.MaxBundle+1), "too large")

	var parts map[string]string
	require.NoError(t, json.Unmarshal(good, &parts))
	for _, drop := range []string{"payload", "signature"} {
		without := map[string]string{}
		for k, v := range parts {
			if k != drop {
				without[k] = v
			}
		}
		b, err := json.Marshal(without)
		require.NoError(t, err)
		check(b, "without "+drop)
	}
	body, err := base64.StdEncoding.DecodeString(parts["payload"])
	require.NoError(t, err)
	bare, err := json.Marshal(map[string][]byte{"payload": body, "signature": ed25519.Sign(private, body)})
	require.NoError(t, err)
	check(bare, "signed for another purpose")
}

func TestBundleAge(t *testing.T) {
	t.Parallel()
	public, private := keys(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(dir, "b")
		require.NoError(t, policy.WriteBundle(file, []policy.Source{{Name: "a", Content: []byte("rules: []")}}, private))
		_, err := policy.OpenBundle(file, public, time.Hour)
		require.NoError(t, err)
		<-time.After(time.Hour + time.Second)
		_, err = policy.OpenBundle(file, public, time.Hour)
		require.ErrorIs(t, err, policy.ErrBundleExpired)
		_, err = policy.OpenBundle(file, public, 2*time.Hour)
		require.NoError(t, err)
	})
	// Made by a clock of the virtual past above; now it is far too old.
	_, err := policy.OpenBundle(filepath.Join(dir, "b"), public, time.Hour)
	require.ErrorIs(t, err, policy.ErrBundleExpired)
}
