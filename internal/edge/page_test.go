package edge_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge"
)

// TestThePageIsTheCodes holds the documentation to the tables; UPDATE_DOCS=1
// writes it.
func TestThePageIsTheCodes(t *testing.T) {
	t.Parallel()
	const page = "../docs/agents.md"
	if os.Getenv("UPDATE_DOCS") != "" {
		require.NoError(t, os.WriteFile(page, []byte(edge.Page()), 0o644))
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, edge.Page(), string(text), "run UPDATE_DOCS=1 go test ./internal/edge")
}
