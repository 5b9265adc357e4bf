package install_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// shell runs a command line as the agent does.
func shell(t *testing.T, line string) {
	t.Helper()
	out, err := exec.Command("/bin/sh", "-c", line).CombinedOutput()
	require.NoError(t, err, "%s: %s", line, out)
}
