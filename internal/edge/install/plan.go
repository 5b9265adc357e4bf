package install

import (
	"fmt"
	"strings"
)

// Plan is what an installation or its undoing would change, and has not yet.
type Plan struct {
	// Changes are those of each file, in the order in which they are made.
	// Files that stay as they are are among them.
	Changes []*Change
	// Left are commands that mention our hook program and were not touched,
	// because they are not of our making.
	Left []string
	// Notes say what a change brings with it.
	Notes []string
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool {
	for _, c := range p.Changes {
		if !c.Empty() {
			return false
		}
	}
	return true
}

// Diff is the change as unified text; empty when there is nothing to do.
func (p *Plan) Diff() string {
	var b strings.Builder
	for _, c := range p.Changes {
		b.WriteString(c.Diff())
	}
	return b.String()
}

// Applied is a change that has been made.
type Applied struct {
	Path string
	// Backup holds the bytes from before; empty when there were none, or none
	// but ours.
	Backup string
	// Removed: the file was ours alone and is gone.
	Removed bool
}

// Apply makes the changes one after the other, each at once or not at all, and
// returns those that it made. An error wraps [ErrChanged] when somebody else
// wrote a file after it was read; the files after it are then as they were.
func (p *Plan) Apply() ([]Applied, error) {
	var done []Applied
	for _, c := range p.Changes {
		if c.Empty() {
			continue
		}
		backup, err := c.Apply()
		if err != nil {
			if len(done) > 0 {
				err = fmt.Errorf("%w; %d other files have been changed, and doing it again goes on from there", err, len(done))
			}
			return done, err
		}
		done = append(done, Applied{Path: c.Path, Backup: backup, Removed: c.New == nil})
	}
	return done, nil
}
