package trust

import (
	"fmt"
	"strings"
	"time"
)

// State is what approvals say about a measured hook.
type State string

// The states.
const (
	// Trusted: hooks of its source need no approval.
	Trusted State = "trusted"
	// Approved: somebody approved exactly this.
	Approved State = "approved"
	// New: nobody has been asked about this hook.
	New State = "new"
	// Changed: an answer exists for this hook as it was before.
	Changed State = "changed"
	// Refused: somebody refused exactly this.
	Refused State = "refused"
)

// Runs says whether a hook in this state may run.
func (s State) Runs() bool { return s == Trusted || s == Approved }

// Approval is somebody's answer about one hook.
type Approval struct {
	// Dialect, File and ID name the hook; see [Definition].
	Dialect string `json:"dialect"`
	File    string `json:"file"`
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Source  Source `json:"source"`
	// Digest is what the answer is about.
	Digest Digest `json:"digest"`
	// Refused is set when the answer was no.
	Refused bool `json:"refused,omitempty"`
	// By is who answered, and At when.
	By string    `json:"by"`
	At time.Time `json:"at"`
	// Parts and Unpinned are what was measured then.
	Parts    []Part   `json:"parts"`
	Unpinned []string `json:"unpinned,omitempty"`
}

// hookKey names a hook.
type hookKey struct{ dialect, file, id string }

func (a *Approval) key() hookKey { return hookKey{a.Dialect, a.File, a.ID} }

func (d *Definition) key() hookKey { return hookKey{d.Dialect, d.File, d.ID} }

// check reports why nobody could have stored the approval.
func (a *Approval) check() error {
	switch {
	case a.Dialect == "" || a.File == "" || a.ID == "":
		return fmt.Errorf("an approval without dialect, file or id")
	case !a.Source.Known():
		return fmt.Errorf("the approval of %.100q has the unknown source %.40q", a.ID, string(a.Source))
	case a.Digest == Digest{}:
		return fmt.Errorf("the approval of %.100q has no digest", a.ID)
	case a.At.IsZero():
		return fmt.Errorf("the approval of %.100q has no time", a.ID)
	}
	return nil
}

// ChangeKind says in which way a part differs.
type ChangeKind string

// The kinds.
const (
	Added    ChangeKind = "added"
	Removed  ChangeKind = "removed"
	Modified ChangeKind = "modified"
)

// Change is one difference between what was approved and what is there now.
type Change struct {
	Kind ChangeKind
	// Was is the part as approved; zero when it was added.
	Was Part
	// Is is the part now; zero when it was removed.
	Is Part
}

// String says the change in a line.
func (c Change) String() string {
	p := c.Is
	if c.Kind == Removed {
		p = c.Was
	}
	s := fmt.Sprintf("%s %s %s", c.Kind, p.Role, p.Name)
	if p.Path != "" && p.Path != p.Name {
		s += " (" + p.Path + ")"
	}
	if c.Kind == Modified && c.Was.Path != c.Is.Path {
		s += ", was " + c.Was.Path
	}
	return s
}

// Diff says what differs between what was answered about and m: modified parts
// and new ones in m's order, then those that are gone.
func (a Approval) Diff(m *Measurement) []Change {
	was := map[string][]Part{}
	name := func(p Part) string { return string(p.Role) + "\x00" + p.Name }
	for _, p := range a.Parts {
		was[name(p)] = append(was[name(p)], p)
	}
	var changes []Change
	for _, p := range m.parts {
		old := was[name(p)]
		if len(old) == 0 {
			changes = append(changes, Change{Kind: Added, Is: p})
			continue
		}
		was[name(p)] = old[1:]
		if old[0] != p {
			changes = append(changes, Change{Modified, old[0], p})
		}
	}
	for _, p := range a.Parts {
		if left := was[name(p)]; len(left) > 0 && left[0] == p {
			was[name(p)] = left[1:]
			changes = append(changes, Change{Kind: Removed, Was: p})
		}
	}
	return changes
}

// MinDigest is how many hexadecimal digits of a digest name it at least.
const MinDigest = 8

// Selector chooses approvals; empty fields match all. One with nothing set
// chooses none.
type Selector struct {
	Dialect, File, ID string
	// Digest is the beginning of a digest in hexadecimal, at least [MinDigest] digits.
	Digest string
}

func (s Selector) check() error {
	switch {
	case s == Selector{}:
		return fmt.Errorf("%w: name a digest, file, dialect or id", ErrSelector)
	case s.Digest == "":
	case strings.Trim(s.Digest, "0123456789abcdef") != "" || len(s.Digest) > 2*len(Digest{}):
		return fmt.Errorf("%w: %.80q is not the beginning of a digest, which has hexadecimal digits", ErrSelector, s.Digest)
	case len(s.Digest) < MinDigest:
		return fmt.Errorf("%w: %q is too short for the beginning of a digest; give %d digits at least", ErrSelector, s.Digest, MinDigest)
	}
	return nil
}

func (s Selector) matches(a *Approval) bool {
	return (s.Dialect == "" || s.Dialect == a.Dialect) && (s.File == "" || s.File == a.File) &&
		(s.ID == "" || s.ID == a.ID) && strings.HasPrefix(a.Digest.String(), s.Digest)
}
