//go:build unix

package policy_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/policy"
)

// A policy that everybody can change is nobody's policy.
func TestPolicyFilePermissions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(file, []byte("rules: []"), 0o600))
	_, err := policy.NewDecider([]string{file}, nil)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(file, 0o666))
	_, err = policy.NewDecider([]string{file}, nil)
	require.ErrorContains(t, err, "chmod o-w")
}
