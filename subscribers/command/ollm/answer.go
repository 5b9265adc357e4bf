package ollm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// maxObjects is how many lines of standard output may begin like an object:
// each is read to its end.
const maxObjects = 16

// errOutput is wrapped by what is wrong with a hook's standard output.
var errOutput = errors.New("stdout is no answer")

// output is what standard output holds.
type output struct {
	Continue *bool           `json:"continue"`
	Message  string          `json:"systemMessage"`
	Data     json.RawMessage `json:"data"`
	Error    string          `json:"error"`
}

// answer reads what a hook did. That it must not continue counts whatever else
// went wrong; everything else needs exit code 0 and one answer.
func answer(h dialect.Hook, c *dialect.Call, o dialect.Output) (dialect.Answer, error) {
	out, err := find(o.Stdout)
	if err == nil && !*out.Continue {
		return stopped(h, out), nil
	}
	switch {
	case o.Truncated:
		err = fmt.Errorf("%w: it is longer than %d bytes", errOutput, maxOutput)
	case o.ExitCode != 0:
		err = fmt.Errorf("exit code %d", o.ExitCode)
		if text := process.Text(bytes.TrimSpace(o.Stderr), 500); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
	}
	if err != nil {
		return dialect.Answer{}, fmt.Errorf("%w: %w", dialect.ErrFailed, err)
	}
	a := dialect.Answer{Message: process.Text([]byte(out.Message), command.MaxContext), Data: out.Data}
	if text := process.Text([]byte(out.Error), command.MaxReason); text != "" {
		a.Warning = "hook " + h.Label() + ": " + text
	}
	return a, nil
}

// stopped is the answer of a hook that says continue: false.
func stopped(h dialect.Hook, out output) dialect.Answer {
	a := dialect.Answer{Effect: hook.Deny, End: true, Reason: process.Text([]byte(out.Message), command.MaxReason)}
	if a.Reason == "" {
		a.Reason = process.Text([]byte(out.Error), command.MaxReason)
	}
	if a.Reason == "" {
		a.Reason = "hook " + h.Label() + " says not to continue and gave no reason"
	}
	return a
}

// find finds the answer in standard output: the object that says whether to
// continue, at the beginning of a line. Several are no answer, but for one that
// says false among them.
func find(stdout []byte) (output, error) {
	var found []output
	var bad error
	objects := 0
	for rest := stdout; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		if trimmed := bytes.TrimLeft(line, " \t\r"); len(trimmed) == 0 || trimmed[0] != '{' {
			rest = after
			continue
		}
		if objects++; objects > maxObjects {
			bad = fmt.Errorf("more than %d lines begin like an object", maxObjects)
			break
		}
		d := jsontext.NewDecoder(bytes.NewReader(rest), jsontext.AllowDuplicateNames(true))
		object, err := d.ReadValue()
		if err != nil {
			bad = err
			rest = after
			continue
		}
		out, err := decode(object)
		switch {
		case err != nil:
			bad = err
		case out.Continue == nil:
			bad = errors.New("the object does not say continue")
		case !*out.Continue:
			return out, nil
		default:
			found = append(found, out)
		}
		rest = rest[d.InputOffset():]
	}
	switch {
	case len(found) > 1:
		return output{}, fmt.Errorf("%w: %d objects say continue", errOutput, len(found))
	case bad != nil:
		return output{}, fmt.Errorf("%w: %w", errOutput, bad)
	case len(found) == 1:
		return found[0], nil
	case len(bytes.TrimSpace(stdout)) == 0:
		return output{}, fmt.Errorf(`%w: there is nothing; print {"continue": true}`, errOutput)
	}
	return output{}, fmt.Errorf(`%w: %.60q holds no object with "continue"`, errOutput, process.Text(bytes.TrimSpace(stdout), 60))
}

func decode(object []byte) (output, error) {
	var out output
	if err := strictjson.UnmarshalOpen(object, &out, maxOutput); err != nil {
		return output{}, err
	}
	switch data := bytes.TrimSpace(out.Data); {
	case len(data) == 0 || string(data) == "null":
		out.Data = nil
	case data[0] != '{':
		return output{}, errors.New("data is not a JSON object")
	}
	return out, nil
}
