package gohook

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// MaxUpdatedInput is how large an updated input may be, in bytes.
const MaxUpdatedInput = 1 << 20

// Output is what a hook wants to happen. The zero value blocks: begin with
// [Allow] or [Block]. An empty text and an empty UpdatedInput mean that there is
// none. It is a plain value, and the With methods return changed copies.
type Output struct {
	// ContinueExecution false blocks.
	ContinueExecution bool
	// StopReason is for the person and the model.
	StopReason string
	// SuppressLogging keeps this call out of the Manager's log; the audit log
	// has it all the same.
	SuppressLogging bool
	// SystemMessage is injected into the model's context.
	SystemMessage string
	// UpdatedInput is the tool's whole new input, one JSON object.
	UpdatedInput json.RawMessage
	// AdditionalContext is added to the model's context.
	AdditionalContext string
}

// Allow continues. It grants nothing: the agent's own rules and everybody else's
// still apply.
func Allow() Output { return Output{ContinueExecution: true} }

// Block stops what is about to happen.
func Block(reason string) Output { return Output{StopReason: reason} }

// WithSystemMessage injects a message into the model's context.
func (o Output) WithSystemMessage(text string) Output {
	o.SystemMessage = text
	return o
}

// WithContext adds to the model's context.
func (o Output) WithContext(text string) Output {
	o.AdditionalContext = text
	return o
}

// WithUpdatedInput replaces the tool's input, as a whole, by a JSON object.
func (o Output) WithUpdatedInput(input json.RawMessage) Output {
	o.UpdatedInput = input
	return o
}

// WithSuppressedLogging keeps the call out of the Manager's log.
func (o Output) WithSuppressedLogging() Output {
	o.SuppressLogging = true
	return o
}

// Merge is o with the output of a hook that came after it:
//
//	ContinueExecution   both must continue
//	StopReason, SystemMessage, UpdatedInput   the later one that is not empty
//	SuppressLogging     either
//	AdditionalContext   both, with a newline between
//
// Allow() changes nothing on either side.
func (o Output) Merge(later Output) Output {
	o.ContinueExecution = o.ContinueExecution && later.ContinueExecution
	o.SuppressLogging = o.SuppressLogging || later.SuppressLogging
	if later.StopReason != "" {
		o.StopReason = later.StopReason
	}
	if later.SystemMessage != "" {
		o.SystemMessage = later.SystemMessage
	}
	if len(later.UpdatedInput) > 0 {
		o.UpdatedInput = later.UpdatedInput
	}
	o.AdditionalContext = join(o.AdditionalContext, later.AdditionalContext)
	return o
}

// check refuses what no tool can be given. Only one of two ways to read a
// duplicate key would have been looked at by whoever decides after this hook.
func (o Output) check() error {
	if len(o.UpdatedInput) == 0 {
		return nil
	}
	if err := strictjson.Check(o.UpdatedInput, MaxUpdatedInput); err != nil {
		return fmt.Errorf("its updated input: %w", err)
	}
	if bytes.TrimLeft(o.UpdatedInput, " \t\r\n")[0] != '{' {
		return fmt.Errorf("its updated input is not a JSON object; it is the tool's whole new input")
	}
	return nil
}

// join puts a newline between two texts that are not empty.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
