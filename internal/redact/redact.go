package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"
)

// Options tune a [Redactor]. The zero value is fine.
type Options struct {
	// Key makes the tags in markers. Two redactors with the same key give the
	// same secret the same tag. Empty means a random key: tags then compare
	// only within this Redactor.
	Key []byte
	// Rules come after the built-in ones. A rule with the id of a built-in
	// one takes its place.
	Rules []Rule
	// OnlyRules leaves the built-in rules out.
	OnlyRules bool
}

// Redactor takes secrets out of bytes.
type Redactor struct {
	key    []byte
	rules  []rule
	always []int // rules without keywords
	filter *prefilter
}

// New makes a redactor. Its errors wrap [ErrRule].
func New(o *Options) (*Redactor, error) {
	if o == nil {
		o = &Options{}
	}
	r := &Redactor{key: bytes.Clone(o.Key)}
	if len(r.key) == 0 {
		r.key = make([]byte, 32)
		rand.Read(r.key)
	}
	var list []Rule
	if !o.OnlyRules {
		list = defaults()
	}
	for _, own := range o.Rules {
		own.before, own.after, own.check, own.quick = 0, 0, nil, nil
		replaced := false
		for i := range list {
			if list[i].ID == own.ID {
				list[i], replaced = own, true
			}
		}
		if !replaced {
			list = append(list, own)
		}
	}
	words := map[string][]int{`\u00`: {ruleEscape}, `\/`: {ruleEscape}}
	for i, one := range list {
		c, err := compile(one)
		if err != nil {
			return nil, err
		}
		r.rules = append(r.rules, c)
		if len(one.Keywords) == 0 {
			r.always = append(r.always, i)
		}
		for _, k := range one.Keywords {
			k = string(foldASCII(k))
			words[k] = append(words[k], i)
		}
	}
	var err error
	r.filter, err = newPrefilter(words)
	return r, err
}

func foldASCII(s string) []byte {
	b := []byte(s)
	for i := range b {
		b[i] = lower(b[i])
	}
	return b
}

// Tag is the keyed tag that stands in markers for secret.
func (r *Redactor) Tag(secret []byte) string {
	m := hmac.New(sha256.New, r.key)
	m.Write(secret)
	return hex.EncodeToString(m.Sum(nil)[:tagLen/2])
}

// maxRounds bounds how often the output is looked at again. Each round takes
// away bytes that are no marker, so that it ends by itself.
const maxRounds = 16

// Bytes returns b without secrets and how many were taken out. It returns b
// itself when that is none, and never writes to it.
func (r *Redactor) Bytes(b []byte) ([]byte, int) {
	total := 0
	for range maxRounds {
		out, n := r.once(b)
		if n == 0 {
			break
		}
		b, total = out, total+n
	}
	return b, total
}

// finding is one secret's place in the input.
type finding struct {
	start, end int
	rule       int
	tag        string
}

func (r *Redactor) once(b []byte) ([]byte, int) {
	hit := len(r.always) > 0
	r.scan(b, func(keyword, int) { hit = true })
	if !hit {
		return b, 0
	}
	isJSON := json.Valid(b)
	v := newView(b, nil, isJSON)
	var found []finding
	for level := 0; ; level++ {
		found = r.search(v, found)
		if level == 3 || level > 0 && !v.escapes || bytes.IndexByte(v.b, '\\') < 0 {
			break
		}
		v = newView(v.b, v, true)
	}
	if len(found) == 0 {
		return b, 0
	}
	return r.replace(b, found, isJSON)
}

// scan passes on the keywords that can lead to a match.
func (r *Redactor) scan(b []byte, hit func(keyword, int)) {
	r.filter.scan(b, func(k keyword, end int) {
		if k.rule != ruleEscape {
			if q := r.rules[k.rule].quick; q != nil && !q(b, end-k.length, end) {
				return
			}
		}
		hit(k, end)
	})
}

// search adds what the rules find in v.
func (r *Redactor) search(v *view, found []finding) []finding {
	windows := make(map[int][][2]int)
	r.scan(v.b, func(k keyword, end int) {
		if k.rule == ruleEscape {
			return
		}
		from, to := 0, len(v.b)
		if one := &r.rules[k.rule]; one.after > 0 {
			from, to = max(0, end-one.before), min(len(v.b), end+one.after)
		}
		list := windows[k.rule]
		if n := len(list); n > 0 && list[n-1][1] >= from {
			list[n-1][1] = max(list[n-1][1], to)
			return
		}
		windows[k.rule] = append(list, [2]int{from, to})
	})
	for _, i := range r.always {
		windows[i] = [][2]int{{0, len(v.b)}}
	}
	for i := range r.rules {
		for _, w := range windows[i] {
			r.rules[i].find(v.b, w[0], w[1], func(start, end int) {
				found = append(found, finding{v.source(start), v.source(end), i, r.Tag(v.b[start:end])})
			})
		}
	}
	return found
}

// replace puts markers in the place of what was found.
func (r *Redactor) replace(b []byte, found []finding, isJSON bool) ([]byte, int) {
	var quotes []int
	if isJSON {
		quotes = realQuotes(b)
	}
	out := make([]byte, 0, len(b)+64)
	done, n := 0, 0
	sort.SliceStable(found, func(i, j int) bool {
		if found[i].start != found[j].start {
			return found[i].start < found[j].start
		}
		return found[i].end > found[j].end
	})
	// Overlapping findings become one, under the name of the first: a rest of
	// a secret must not stay because two rules saw different parts of it.
	merged := found[:1]
	for _, f := range found[1:] {
		if last := &merged[len(merged)-1]; f.start < last.end {
			last.end = max(last.end, f.end)
		} else {
			merged = append(merged, f)
		}
	}
	for _, f := range merged {
		bare := false
		if isJSON {
			if f, bare = fit(b, f, quotes); f.start >= f.end {
				continue
			}
		}
		if f.start < done {
			continue
		}
		out = append(out, b[done:f.start]...)
		marker := fmt.Sprintf("%s%s:%s]", markerOpen, r.rules[f.rule].ID, f.tag)
		if bare {
			marker = `"` + marker + `"`
		}
		out = append(out, marker...)
		done = f.end
		n++
	}
	if n == 0 {
		return b, 0
	}
	return append(out, b[done:]...), n
}

// realQuotes lists the offsets of the quotes that open and close the strings
// of a JSON document.
func realQuotes(b []byte) []int {
	var list []int
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '"':
			list = append(list, i)
		case b[i] == '\\':
			i++
		}
	}
	return list
}

// fit cuts f to the one JSON value that it starts in; bare says that this is
// no string.
func fit(b []byte, f finding, quotes []int) (_ finding, bare bool) {
	n := sort.SearchInts(quotes, f.start)
	if n%2 == 1 { // an odd number of quotes before: within a string
		f.end = min(f.end, quotes[n])
		return f, false
	}
	token := func(c byte) bool {
		return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '-' || c == '.'
	}
	for f.start < f.end && !token(b[f.start]) {
		if b[f.start] == '"' { // the secret starts in the string behind
			f.start++
			return fit(b, f, quotes)
		}
		f.start++
	}
	if f.start == f.end {
		return f, true
	}
	f.end = f.start
	for f.start > 0 && token(b[f.start-1]) {
		f.start--
	}
	for f.end < len(b) && token(b[f.end]) {
		f.end++
	}
	return f, true
}
