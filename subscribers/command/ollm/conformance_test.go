package ollm_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
	"github.com/grapnel-dev/grapnel/subscribers/command/ollm"
)

func TestD2NothingIsExecuted(t *testing.T) {
	t.Parallel()
	dialecttest.Run(t, dialecttest.Harness{
		New:           ollm.New,
		File:          ".ollm/hooks/hooks.json",
		WorkspaceFile: ".ollm/hooks/hooks.json",
		Config: func(c dialecttest.Case) string {
			h := map[string]any{"id": "tested", "name": "Tested", "command": c.Script}
			if c.Timeout > 0 {
				h["timeout"] = float64(c.Timeout) / float64(time.Millisecond)
			}
			if c.Tool != "" {
				h["matcher"] = c.Tool
			}
			text, _ := json.Marshal(map[string]any{"hooks": map[string]any{c.Event: []any{h}}})
			return string(text)
		},
		Pass: `echo '{"continue":true}'`,
		Deny: `echo '{"continue":false,"systemMessage":"not this one"}'`,
	})
}
