package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Scope says whose settings are meant.
type Scope string

// The scopes that an installation can have.
const (
	User    Scope = "user"    // the person's own, somewhere below the home directory
	Project Scope = "project" // a project's, below its directory; they are usually committed
)

// Options are what [New] and [Inspect] may be told.
type Options struct {
	// Getenv reads the environment; os.Getenv when nil.
	Getenv func(string) string
	// Project is the project's directory; the working directory when empty.
	Project string
	// Managed is the directory of Claude Code's managed settings; the system's
	// when empty. Only Inspect looks there.
	Managed string
	// Flags stand before the agent's name on the command line: where the bus is,
	// so that no variable of the agent's environment says so.
	Flags []string
	// MessageDisplay registers the pieces of a streamed message too, where the
	// agent has an event for them; see the package's documentation for what it
	// costs.
	MessageDisplay bool
	// HTTP has the hooks posted that the agent posts and for which the answer's
	// JSON is enough; the others stay commands. It is for the user's settings
	// alone. Nil: all are commands. See [CheckHTTP].
	HTTP *HTTP
}

// place is where settings are looked for.
type place struct {
	getenv  func(string) string
	project string
	managed string
}

func (o *Options) place() place {
	p := place{getenv: os.Getenv}
	if o != nil {
		p.project, p.managed = o.Project, o.Managed
		if o.Getenv != nil {
			p.getenv = o.Getenv
		}
	}
	return p
}

// home is a path below the home directory.
func (p place) home(parts ...string) (string, error) {
	home := p.getenv("HOME")
	if home == "" {
		home = p.getenv("USERPROFILE")
	}
	if home == "" {
		return "", errors.New("the home directory is not known; set HOME")
	}
	return filepath.Join(append([]string{home}, parts...)...), nil
}

// homeOr is a path below the directory that the variable names, or else below
// the one of that name in the home directory.
func (p place) homeOr(variable, name string, parts ...string) (string, error) {
	if dir := p.getenv(variable); dir != "" {
		return filepath.Join(append([]string{dir}, parts...)...), nil
	}
	path, err := p.home(append([]string{filepath.FromSlash(name)}, parts...)...)
	if err != nil {
		return "", fmt.Errorf("%w or %s", err, variable)
	}
	return path, nil
}

// within is a path in the project's directory.
func (p place) within(path string) (string, error) {
	dir := p.project
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, filepath.FromSlash(path)), nil
}
