package gohook_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

// FuzzDecide gives events that anybody may have sent to hooks that block
// everything: none that can be blocked gets past them.
func FuzzDecide(f *testing.F) {
	for i, data := range []string{
		``, `{}`, `{"tool":{"name":"Bash","kind":"shell","input":{"command":"ls"}}}`, `{"tool":{"name":"","kind":"other"}}`,
		`{"prompt":"hello"}`, `{"subagent":{"id":"a1"}}`, `{"error":"lost","result":null,"tool":{"name":"Bash","kind":"shell","input":null}}`,
	} {
		f.Add(uint8(i), "Bash", []byte(data))
	}
	seen := false
	m := gohook.NewManager(nil)
	require.NoError(f, m.Register(gohook.NewFunc(gohook.Spec{Name: "no", Events: gohook.Events()},
		func(_ context.Context, in gohook.Input, _ *gohook.Context) (gohook.Output, error) {
			seen = true
			_, _ = in.ToolName()
			_, _ = in.SubagentID()
			return gohook.Block("no"), nil
		})))
	s, err := gohook.NewSubscriber("no", m, nil)
	require.NoError(f, err)
	names := hook.Names()
	f.Fuzz(func(t *testing.T, n uint8, subject string, data []byte) {
		e := hook.Event{ID: "e", Source: "/h/a", Name: names[int(n)%len(names)], Subject: subject}
		if cloudevent.DecodeData(&e, data) != nil {
			return
		}
		seen = false
		d, err := s.Decide(context.Background(), e)
		event, known := gohook.EventOf(e.Name)
		switch {
		case err != nil:
			assert.ErrorIs(t, err, gohook.ErrInput)
		case !known:
			assert.False(t, seen)
		default:
			assert.True(t, seen, "%s got past", e.Name)
			assert.Equal(t, event.CanBlock(), d.Effect == hook.Deny)
		}
	})
}
