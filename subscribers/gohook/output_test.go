package gohook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

func TestB4Output(t *testing.T) {
	t.Parallel()
	assert.Equal(t, gohook.Output{ContinueExecution: true}, gohook.Allow())
	assert.Equal(t, gohook.Output{StopReason: "no"}, gohook.Block("no"))
	assert.False(t, gohook.Output{}.ContinueExecution, "an output that nobody filled in blocks")
	plain := gohook.Allow()
	full := plain.WithSystemMessage("careful").WithContext("it is Friday").WithUpdatedInput(json.RawMessage(`{"a":1}`)).WithSuppressedLogging()
	assert.Equal(t, gohook.Output{
		ContinueExecution: true, SystemMessage: "careful", AdditionalContext: "it is Friday",
		UpdatedInput: json.RawMessage(`{"a":1}`), SuppressLogging: true,
	}, full)
	assert.Equal(t, gohook.Allow(), plain, "building changes a copy")
	assert.Equal(t, "no", gohook.Block("no").WithContext("why").StopReason)
}

func anyOutput() *rapid.Generator[gohook.Output] {
	text := rapid.SampledFrom([]string{"", "", "a", "b", "two\nlines"})
	return rapid.Custom(func(t *rapid.T) gohook.Output {
		o := gohook.Output{
			ContinueExecution: rapid.IntRange(0, 3).Draw(t, "continue") > 0,
			StopReason:        text.Draw(t, "reason"), SuppressLogging: rapid.Bool().Draw(t, "suppress"),
			SystemMessage: text.Draw(t, "message"), AdditionalContext: text.Draw(t, "context"),
		}
		if input := rapid.SampledFrom([]string{"", "", `{}`, `{"a":1}`, `{"a":2}`}).Draw(t, "input"); input != "" {
			o.UpdatedInput = json.RawMessage(input)
		}
		return o
	})
}

// model is the document's table of merge rules, each rule by itself.
func model(outputs []gohook.Output) gohook.Output {
	m := gohook.Allow()
	var contexts []string
	for _, o := range outputs {
		if !o.ContinueExecution {
			m.ContinueExecution = false // AND
		}
		if o.SuppressLogging {
			m.SuppressLogging = true // OR
		}
		if o.AdditionalContext != "" {
			contexts = append(contexts, o.AdditionalContext) // joined by newline
		}
	}
	for i := len(outputs) - 1; i >= 0 && m.StopReason == ""; i-- { // latest
		m.StopReason = outputs[i].StopReason
	}
	for i := len(outputs) - 1; i >= 0 && m.SystemMessage == ""; i-- {
		m.SystemMessage = outputs[i].SystemMessage
	}
	for i := len(outputs) - 1; i >= 0 && m.UpdatedInput == nil; i-- {
		m.UpdatedInput = outputs[i].UpdatedInput
	}
	m.AdditionalContext = strings.Join(contexts, "\n")
	return m
}

func TestB6MergeRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		outputs := rapid.SliceOfN(anyOutput(), 0, 6).Draw(t, "outputs")
		merged := gohook.Allow()
		for _, o := range outputs {
			merged = merged.Merge(o)
		}
		assert.Equal(t, model(outputs), merged)
	})
}

func TestB6MergeIsAssociative(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyOutput().Draw(t, "a"), anyOutput().Draw(t, "b"), anyOutput().Draw(t, "c")
		assert.Equal(t, a.Merge(b).Merge(c), a.Merge(b.Merge(c)))
		assert.Equal(t, a, gohook.Allow().Merge(a))
		assert.Equal(t, a, a.Merge(gohook.Allow()))
		if !a.ContinueExecution || !b.ContinueExecution {
			assert.False(t, a.Merge(b).ContinueExecution, "nothing undoes a block")
		}
	})
}
