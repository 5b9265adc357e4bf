package dialect

import (
	"fmt"
	"regexp"
	"strings"
)

// maxMatcher bounds a matcher, in bytes.
const maxMatcher = 4 << 10

// WholeName compiles a regular expression that must match a tool's whole name.
// RE2: it takes linear time, whatever the pattern.
func WholeName(pattern string) (*regexp.Regexp, error) {
	return compile("^(?:" + pattern + ")$")
}

// Somewhere compiles a regular expression that may match anywhere.
func Somewhere(pattern string) (*regexp.Regexp, error) { return compile(pattern) }

func compile(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxMatcher {
		return nil, fmt.Errorf("the matcher has %d bytes, at most %d", len(pattern), maxMatcher)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("the matcher is no regular expression (RE2: without look-around and back-references): %w", err)
	}
	return re, nil
}

// MatchNames returns a matcher for any of the call's tool names, see
// [Call.Names]; a call without a tool never matches.
func MatchNames(match func(string) bool) func(*Call) bool {
	return func(c *Call) bool {
		for _, name := range c.Names() {
			if match(name) {
				return true
			}
		}
		return false
	}
}

// Alternatives splits "a|b" into its trimmed parts; ok is false when a part is
// no plain name.
func Alternatives(matcher, separators string) (names []string, ok bool) {
	for part := range strings.FieldsFuncSeq(matcher, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		part = strings.TrimSpace(part)
		if !PlainName(part) {
			return nil, false
		}
		names = append(names, part)
	}
	return names, len(names) > 0
}

// PlainName reports whether s is a tool name without any pattern in it.
func PlainName(s string) bool {
	if s == "" {
		return false
	}
	for _, r := range s {
		plain := r == '_' || r == '-' || r == ':' || r == '/' || r == '@' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !plain {
			return false
		}
	}
	return true
}
