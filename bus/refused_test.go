package bus_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/bustest"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// Whoever sends an event that is none hears what is wrong with it.
func TestRefusalsSayWhy(t *testing.T) {
	t.Parallel()
	agent := bustest.Start(t, nil, nil).Connect(natsd.Agent)
	e := bustest.Shell("1", "ls")
	e.Data.Tool.Kind = ""
	_, err := agent.Request(t.Context(), e)
	assert.ErrorIs(t, err, bus.ErrRefused)
	assert.ErrorContains(t, err, "tool.kind")
	e.Name = hook.PostToolUse
	_, err = agent.Publish(t.Context(), e)
	assert.ErrorIs(t, err, bus.ErrRefused)
	assert.ErrorContains(t, err, "tool.kind")
	e = bustest.Shell("2", "ls")
	e.Subject = "Read"
	_, err = agent.Request(t.Context(), e)
	assert.ErrorIs(t, err, bus.ErrRefused)
	assert.ErrorContains(t, err, "they must be the same")
}
