package audit_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

func exportLines(t testing.TB, r *audit.Reader, f audit.Format, filter audit.Filter) []string {
	t.Helper()
	var b bytes.Buffer
	n, err := r.Export(context.Background(), &b, f, filter)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	require.EqualValues(t, n, len(lines))
	return lines
}

// checkOCSF checks what the class and the profile require, and the chain as a
// stranger would.
func checkOCSF(t testing.TB, lines []string) {
	t.Helper()
	require.Len(t, lines, 8)
	before := ""
	for i, line := range lines {
		var e map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		for _, required := range []string{"activity_id", "category_uid", "class_uid", "severity_id", "time", "type_uid", "metadata", "actor", "api", "src_endpoint"} {
			assert.Contains(t, e, required)
		}
		assert.EqualValues(t, 6003, e["class_uid"])
		assert.EqualValues(t, e["class_uid"].(float64)*100+e["activity_id"].(float64), e["type_uid"])
		assert.Equal(t, "1.9.0", e["metadata"].(map[string]any)["version"])
		assert.NotEmpty(t, e["api"].(map[string]any)["operation"])
		assert.NotEmpty(t, e["src_endpoint"].(map[string]any)["name"])
		a := e["attestation"].(map[string]any)
		claimed := a["fingerprint"].(map[string]any)["value"]
		delete(a, "fingerprint")
		b, err := json.Marshal(e)
		require.NoError(t, err)
		canonical := jsontext.Value(b)
		require.NoError(t, canonical.Canonicalize())
		sum := sha256.Sum256(canonical)
		assert.Equal(t, hex.EncodeToString(sum[:]), claimed, "record %d", i)
		if i > 0 {
			assert.Equal(t, before, a["prev_event"].(map[string]any)["fingerprint"].(map[string]any)["value"])
		}
		before = claimed.(string)
	}
}
