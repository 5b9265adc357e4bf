package answer

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Bounds of the search for objects.
const (
	maxObjects = 64
	maxNesting = 16
)

// fragment finds, in what is left of an answer when all objects are taken out,
// a decision that was begun as JSON, in any quotes or none before a quoted word.
var fragment = regexp.MustCompile(`(?i)["'“”‘’` + "`" + `](decision|permission_?decision|behavior|ok)["'“”‘’` + "`" + `]\s*[:=]`)

// prose finds a no in words.
var prose = regexp.MustCompile(`(?i)\b(decision|verdict|behavior|ok)\b["'“”*_` + "`" + `\s]*[:=]["'“”*_` + "`" + `\s]*(deny|denied|block|blocked|ask|false|no|not|reject|rejected|refuse|refused|unsafe|halt|stop)\b`)

// reading is the search for the decision in one answer.
type reading struct {
	nonce string
	sent  echo

	found []Verdict
	// spoiled says why no allow can count, empty if it can.
	spoiled string
	// braces counts those that begin no JSON object.
	braces int
}

// Read finds the decision in a model's text. The nonce is what the model was asked
// to put into its answer, and sent what it was shown. The error says why there is
// none that counts, in words that hold nothing of the text.
func Read(text, nonce string, sent []string) (Verdict, error) {
	if len(text) > MaxText {
		return Verdict{}, fmt.Errorf("%d bytes, at most %d", len(text), MaxText)
	}
	r := &reading{nonce: nonce, sent: newEcho(sent)}
	if err := r.scan(text); err != nil {
		return Verdict{}, err
	}
	if len(r.found) == 0 {
		if r.spoiled != "" {
			return Verdict{}, errors.New(r.spoiled)
		}
		return Verdict{}, fmt.Errorf("there is no decision in %d bytes of text", len(text))
	}
	var best, allowed *Verdict
	for i := range r.found {
		v := &r.found[i]
		if best == nil || v.stricter(*best) {
			best = v
		}
		if v.Effect == hook.Allow && v.counts && allowed == nil {
			allowed = v
		}
	}
	switch {
	case best.Effect > hook.Allow:
		return *best, nil
	case r.spoiled != "":
		return Verdict{}, fmt.Errorf("it allows, and %s", r.spoiled)
	case allowed == nil:
		return Verdict{}, errors.New("it allows, and only in an object that may be quoted from the event")
	}
	return *allowed, nil
}

// spoil keeps the first reason why no allow can count.
func (r *reading) spoil(why string) {
	if r.spoiled == "" {
		r.spoiled = why
	}
}

// scan looks at every object of the text that stands in no other one.
func (r *reading) scan(text string) error {
	var rest strings.Builder
	var objects []string
	for text != "" {
		before, after, found := strings.Cut(text, "{")
		rest.WriteString(before)
		if !found {
			break
		}
		text = text[len(before):]
		if len(objects)+r.braces >= maxObjects {
			return errors.New("there are too many braces to look through")
		}
		value, err := object(text)
		if err != nil {
			r.braces++
			rest.WriteString("{")
			text = after
			continue
		}
		objects = append(objects, value)
		rest.WriteString(" ")
		text = text[len(value):]
	}
	left := rest.String()
	if fragment.MatchString(left) {
		r.spoil("there is a decision that cannot be read beside it")
	}
	if prose.MatchString(left) {
		r.spoil("the text around it says no")
	}
	for _, o := range objects {
		r.object(o, 0)
	}
	return nil
}

// object returns the well-formed JSON object at the start of text.
func object(text string) (string, error) {
	d := jsontext.NewDecoder(strings.NewReader(text))
	if err := d.SkipValue(); err != nil {
		return "", err
	}
	value := text[:d.InputOffset()]
	if strictjson.DeeperThan([]byte(value), maxNesting) {
		return "", strictjson.ErrTooDeep
	}
	return value, nil
}

// object adds the decisions of one object, and the strict ones of those in it.
func (r *reading) object(text string, depth int) {
	o, ok := openObject(text)
	if !ok {
		r.spoil("there is an object that cannot be read beside it")
		return
	}
	if o.problem != "" {
		r.spoil(o.problem)
	}
	counts := depth == 0 && r.mayCount(text, o)
	for _, v := range o.verdicts() {
		v.counts = counts
		if depth > 0 && v.Effect <= hook.Allow {
			continue // an allow inside something else is somebody else's
		}
		r.found = append(r.found, v)
	}
	for _, inner := range o.inner {
		r.object(inner, depth+1)
	}
}

// mayCount reports whether an allow of this object can be the model's own.
func (r *reading) mayCount(text string, o answerObject) bool {
	switch {
	case o.nonce == r.nonce && o.nonce != "":
		return true
	case o.hasNonce:
		return false // made up, or from elsewhere
	}
	return r.braces == 0 && !r.sent.holds(text)
}
