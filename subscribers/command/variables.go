package command

import (
	"regexp"
	"slices"
	"strings"
)

// MaxVariable is how much of an event one environment variable may carry, in
// bytes. Linux takes 128 KiB for one variable with its name.
const MaxVariable = 100_000

// FitVariables keeps those of the variables, NAME=value, that a process can be
// given, and names the others: too large, or with a NUL byte in them.
func FitVariables(set []string) (kept, omitted []string) {
	kept = make([]string, 0, len(set)+2)
	for _, entry := range set {
		name, value, _ := strings.Cut(entry, "=")
		if len(value) > MaxVariable || strings.IndexByte(value, 0) >= 0 {
			omitted = append(omitted, name)
			continue
		}
		kept = append(kept, entry)
	}
	return kept, omitted
}

// BlindTo returns a variable that shell text uses and that is among those that
// had to be left out, or "". Such a hook would check nothing and let everything
// pass, unless it looks at $GRAPNEL_OMITTED.
func BlindTo(text string, omitted []string) string {
	if len(omitted) == 0 {
		return ""
	}
	used := variableName.FindAllString(text, -1)
	if slices.Contains(used, "GRAPNEL_OMITTED") {
		return ""
	}
	for _, name := range omitted {
		if slices.Contains(used, name) {
			return name
		}
	}
	return ""
}

var variableName = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
