package redact

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"github.com/goccy/go-yaml"
)

// ErrRule is wrapped by every error about a rule.
var ErrRule = errors.New("redact: bad rule")

// Limits on rules that come from a file.
const (
	MaxRules     = 1000    // rules in one file
	MaxRulesSize = 1 << 20 // bytes of one file
	maxID        = 64
)

// Rule finds one kind of secret. The fields are those of a gitleaks rule.
type Rule struct {
	// ID names the rule in markers: 1 to 64 of a-z, 0-9 and '-'.
	ID string `yaml:"id"`
	// Description is for people.
	Description string `yaml:"description"`
	// Regex is an RE2 expression.
	Regex string `yaml:"regex"`
	// SecretGroup is the group of Regex that is the secret; 0 means the first
	// group that took part, or the whole match when there is none.
	SecretGroup int `yaml:"secretGroup"`
	// Entropy is the least Shannon entropy of the secret, in bits per byte.
	Entropy float64 `yaml:"entropy"`
	// Keywords are texts of which at least one stands in or near each match,
	// in any case of letters. A rule without keywords runs on every input,
	// which is slow.
	Keywords []string `yaml:"keywords"`
	// Allowlist lists secrets that are none.
	Allowlist Allowlist `yaml:"allowlist"`

	// before and after bound the part of the input that a match can cover
	// around a keyword's end, in bytes; zero means the whole input.
	before, after int
	// check refuses matches that an RE2 expression cannot tell apart.
	check func(secret []byte) bool
	// quick looks at the keyword at b[start:end] and may rule out a match.
	quick func(b []byte, start, end int) bool
}

// Allowlist lists what a rule must leave alone.
type Allowlist struct {
	// Regexes are matched against the secret.
	Regexes []string `yaml:"regexes"`
	// StopWords are texts that a real secret does not hold, in any case.
	StopWords []string `yaml:"stopwords"`
}

// ParseRules reads rules from YAML:
//
//	rules:
//	  - id: acme-key
//	    regex: '\bacme_[a-z0-9]{32}\b'
//	    keywords: [acme_]
//
// Unknown keys are errors. The error wraps [ErrRule]. The expressions are
// compiled by [New].
func ParseRules(b []byte) ([]Rule, error) {
	if len(b) > MaxRulesSize {
		return nil, fmt.Errorf("%w: the file has %d bytes, at most %d", ErrRule, len(b), MaxRulesSize)
	}
	var file struct {
		Rules []Rule `yaml:"rules"`
	}
	if err := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict()).Decode(&file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRule, err)
	}
	if len(file.Rules) > MaxRules {
		return nil, fmt.Errorf("%w: %d rules, at most %d", ErrRule, len(file.Rules), MaxRules)
	}
	return file.Rules, nil
}

// rule is a Rule ready to run.
type rule struct {
	Rule
	re    *regexp.Regexp
	allow []*regexp.Regexp
	stop  [][]byte
}

func compile(r Rule) (rule, error) {
	c := rule{Rule: r}
	if !validID(r.ID) {
		return c, fmt.Errorf("%w: id %.80q must be 1 to %d of a-z, 0-9 and '-'", ErrRule, r.ID, maxID)
	}
	var err error
	if c.re, err = regexp.Compile(r.Regex); err != nil {
		return c, fmt.Errorf("%w %s: %w", ErrRule, r.ID, err)
	}
	if r.Regex == "" || c.re.MatchString("") {
		return c, fmt.Errorf("%w %s: the expression matches the empty text", ErrRule, r.ID)
	}
	if r.SecretGroup < 0 || r.SecretGroup > c.re.NumSubexp() {
		return c, fmt.Errorf("%w %s: secretGroup %d, and the expression has %d groups", ErrRule, r.ID, r.SecretGroup, c.re.NumSubexp())
	}
	if r.Entropy < 0 || r.Entropy > 8 {
		return c, fmt.Errorf("%w %s: entropy %g must be from 0 to 8 bits", ErrRule, r.ID, r.Entropy)
	}
	for _, k := range r.Keywords {
		if k == "" || len(k) > maxID {
			return c, fmt.Errorf("%w %s: a keyword must have 1 to %d bytes", ErrRule, r.ID, maxID)
		}
	}
	for _, a := range r.Allowlist.Regexes {
		re, err := regexp.Compile(a)
		if err != nil {
			return c, fmt.Errorf("%w %s: allowlist: %w", ErrRule, r.ID, err)
		}
		c.allow = append(c.allow, re)
	}
	for _, w := range r.Allowlist.StopWords {
		if w == "" {
			return c, fmt.Errorf("%w %s: an empty stop word would allow everything", ErrRule, r.ID)
		}
		c.stop = append(c.stop, bytes.ToLower([]byte(w)))
	}
	return c, nil
}

func validID(id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	for i := 0; i < len(id); i++ {
		if c := id[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// find calls found with the place of each secret in b[from:to].
func (r *rule) find(b []byte, from, to int, found func(start, end int)) {
	for _, m := range r.re.FindAllSubmatchIndex(b[from:to], -1) {
		start, end := m[0], m[1]
		if g := r.SecretGroup; g > 0 {
			start, end = m[2*g], m[2*g+1]
		} else {
			for g := 1; g < len(m)/2; g++ {
				if m[2*g] >= 0 {
					start, end = m[2*g], m[2*g+1]
					break
				}
			}
		}
		if start < 0 || start == end {
			continue
		}
		if secret := b[from+start : from+end]; r.isSecret(secret) {
			found(from+start, from+end)
		}
	}
}

func (r *rule) isSecret(secret []byte) bool {
	if onlyUnits(secret) || r.Entropy > 0 && entropy(secret) < r.Entropy || r.check != nil && !r.check(secret) {
		return false
	}
	for _, a := range r.allow {
		if a.Match(secret) {
			return false
		}
	}
	if len(r.stop) > 0 {
		low := bytes.ToLower(secret)
		for _, w := range r.stop {
			if bytes.Contains(low, w) {
				return false
			}
		}
	}
	return true
}
