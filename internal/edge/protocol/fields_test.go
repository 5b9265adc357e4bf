package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge/protocol"
)

func TestWhatIsWrongInsideCounts(t *testing.T) {
	t.Parallel()
	f, _, err := protocol.Parse([]byte(`{"a":{"b":{"text":7}},"c":null}`), 100)
	require.NoError(t, err)
	assert.Empty(t, f.Object("c").Object("d").Text("e"))
	require.NoError(t, f.Err(), "what is not there is not wrong")
	assert.Empty(t, f.Object("a").Object("b").Text("text"))
	require.ErrorIs(t, f.Err(), protocol.ErrPayload)
	assert.ErrorContains(t, f.Err(), "text is not a string")
}
