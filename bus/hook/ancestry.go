package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// AncestryExtension is the CloudEvents extension that names the hooks that led
// to an event, by their [Mark] with commas between. Hook processes have the
// value for what they cause in GRAPNEL_ANCESTRY.
const AncestryExtension = "ancestry"

// MaxHops is how many hooks may stand between a person and an event that still
// runs hook commands.
const MaxHops = 4

// Mark is the name in an ancestry of the hook with this id.
func Mark(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:6])
}

// Descended reports whether the hook with this id is one of those that led to
// e.
func (e Event) Descended(id string) bool {
	return slices.Contains(strings.Split(e.Extensions[AncestryExtension], ","), Mark(id))
}

// Ancestry is the ancestry of what the hook with this id causes when it runs
// for e.
func (e Event) Ancestry(id string) string {
	if before := e.Extensions[AncestryExtension]; before != "" {
		return before + "," + Mark(id)
	}
	return Mark(id)
}

// ValidAncestry reports whether s is an ancestry: marks with commas between,
// not more than can come about.
func ValidAncestry(s string) bool {
	marks := strings.Split(s, ",")
	for _, m := range marks {
		if b, err := hex.DecodeString(m); err != nil || len(b) != 6 || strings.ToLower(m) != m {
			return false
		}
	}
	return len(marks) <= 64
}
