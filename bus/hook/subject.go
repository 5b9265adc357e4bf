package hook

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
)

// NoTool is the tool token of an event that has no tool or matcher value.
const NoTool = "_"

const maxToken = 64

// Token returns the NATS subject token for a name. Lower-case ASCII names of
// [a-z0-9_-]{1,64} are used as they are; names that are so but for upper-case
// ASCII letters are folded, so that Claude Code's Bash is found under
// hooks.pre_tool_use.bash; anything else, including names that look like the
// result of this rule, becomes "x_" and 16 characters of base32(sha256(name)).
// The empty name is [NoTool]. The name itself always stays in the event.
func Token(name string) string {
	if name == "" {
		return NoTool
	}
	folded := asciiLower(name)
	if plainToken(folded) && !hashedToken(folded) && folded != NoTool {
		return folded
	}
	sum := sha256.Sum256([]byte(name))
	return "x_" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10]))
}

// asciiLower folds A-Z and nothing else: Unicode folding would map letters
// from outside ASCII (the Kelvin sign) into it.
func asciiLower(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				if b[j] >= 'A' && b[j] <= 'Z' {
					b[j] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

func plainToken(s string) bool {
	if s == "" || len(s) > maxToken {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func hashedToken(s string) bool {
	if len(s) != 18 || s[:2] != "x_" {
		return false
	}
	for i := 2; i < len(s); i++ {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// ErrPattern is wrapped by every error of [ParsePattern].
var ErrPattern = errors.New("hook: bad event pattern")

// Pattern selects event keys with NATS wildcards: "pre_tool_use.bash",
// "pre_tool_use.*", "*.bash", "stop", ">", or several of them with commas
// between, any of which may match. A pattern of one token matches the event
// with any tool. The zero value matches everything.
type Pattern struct{ any []keyPattern }

// keyPattern is one alternative; an empty part matches everything.
type keyPattern struct{ event, tool string }

// maxAlternatives bounds what one pattern costs to match.
const maxAlternatives = 64

// ParsePattern reads a pattern; the error wraps [ErrPattern] and says what to
// write instead. Tool names are turned into tokens, so "pre_tool_use.Bash" and
// "pre_tool_use.bash" are the same pattern. What is a hashed token already is
// taken as one: that is how a tool is written whose name has dots or spaces,
// and why [Pattern.String] reads back as the same pattern.
func ParsePattern(s string) (Pattern, error) {
	var p Pattern
	if s == "" {
		return p, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		k, err := parseKeyPattern(strings.TrimSpace(part))
		if err != nil {
			return Pattern{}, err
		}
		if p.any = append(p.any, k); len(p.any) > maxAlternatives {
			return Pattern{}, fmt.Errorf("%w %q: more than %d alternatives", ErrPattern, clip(s, 80), maxAlternatives)
		}
	}
	return p, nil
}

func parseKeyPattern(s string) (keyPattern, error) {
	if s == ">" || s == "*" {
		return keyPattern{}, nil
	}
	event, tool, two := strings.Cut(s, ".")
	k := keyPattern{event: event}
	if event == "*" {
		k.event = ""
	} else if !plainToken(event) {
		return k, fmt.Errorf("%w %q: the event is lower-case letters, digits, '_' and '-', or '*'", ErrPattern, clip(s, 80))
	} else if !Name(event).Known() {
		return k, fmt.Errorf("%w %q: there is no event %q", ErrPattern, clip(s, 80), clip(event, 40))
	}
	if !two || tool == "*" || tool == ">" {
		return k, nil
	}
	if tool == "" || strings.ContainsAny(tool, ".*> \t\r\n\x00") {
		return k, fmt.Errorf("%w %q: write <event>.<tool>, either of them '*', or '>' for everything", ErrPattern, clip(s, 80))
	}
	if k.tool = Token(tool); tool == NoTool || hashedToken(tool) {
		k.tool = tool
	}
	return k, nil
}

// Match reports whether an event with this name and tool is selected.
func (p Pattern) Match(n Name, tool string) bool {
	if len(p.any) == 0 {
		return true
	}
	for _, k := range p.any {
		if (k.event == "" || k.event == string(n)) && (k.tool == "" || k.tool == Token(tool)) {
			return true
		}
	}
	return false
}

// String returns the pattern in its shortest NATS form.
func (p Pattern) String() string {
	if len(p.any) == 0 {
		return ">"
	}
	parts := make([]string, len(p.any))
	for i, k := range p.any {
		parts[i] = k.String()
	}
	return strings.Join(parts, ",")
}

func (k keyPattern) String() string {
	switch {
	case k.event == "" && k.tool == "":
		return ">"
	case k.event == "":
		return "*." + k.tool
	case k.tool == "":
		return k.event + ".*"
	}
	return k.event + "." + k.tool
}
