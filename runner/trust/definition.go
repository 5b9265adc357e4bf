package trust

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Limits of a definition, in bytes.
const (
	// MaxConfig is how large its Config may be.
	MaxConfig = 256 << 10
	// MaxShell is how large its Shell may be.
	MaxShell = 16 << 10
)

// maxWords bounds each list of a definition.
const maxWords = 4096

// Definition is a hook as it is configured: all that decides what would run.
// Every field counts in the digest but SearchPath, which counts through what is
// found with it.
type Definition struct {
	// Dialect, File and ID name the hook: an approval is for these three.
	// File is the absolute path of the configuration it stands in, ID what the
	// dialect tells its hooks apart by.
	Dialect, File, ID string
	// Name is for people.
	Name string
	// Source is where it came from.
	Source Source
	// Workspace is the absolute path of the directory the agent works on; empty
	// when there is none.
	Workspace string
	// Config is the hook's definition as configured, JSON. Order of keys and
	// white space do not count.
	Config json.RawMessage
	// Command is the argument vector. A word with "{{" in it is a value that
	// each run fills in: it cannot choose what runs.
	Command []string
	// Shell is text for /bin/sh -c in place of Command. Both are empty for a
	// hook that is no program.
	Shell string
	// Dir is the absolute path that relative words are read from, and the
	// directory the hook will run in.
	Dir string
	// SearchPath is the PATH value that bare names are looked up in; relative
	// entries are passed over.
	SearchPath string
	// Files are files that the hook reads by itself, absolute or relative to
	// Dir.
	Files []string
	// Env are names of environment variables that the hook is passed.
	Env []string
	// Vars are environment variables that are the same for each run and that
	// shell text may use in the names of commands, such as CLAUDE_PROJECT_DIR.
	Vars map[string]string
}

// check reports what makes the definition one that cannot be measured.
func (d *Definition) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s: %s", ErrDefinition, d.label(), fmt.Sprintf(format, args...))
	}
	switch {
	case d.Dialect == "" || d.File == "" || d.ID == "":
		return bad("a hook needs a dialect, a file and an id")
	case !d.Source.Known():
		return bad("unknown source %.40q; use one of %v", string(d.Source), Sources())
	case len(d.Command) > 0 && d.Shell != "":
		return bad("it has both a command and shell text")
	case !filepath.IsAbs(d.Dir) && (len(d.Command) > 0 || d.Shell != "" || len(d.Files) > 0):
		return bad("its directory %.200q is not an absolute path", d.Dir)
	case d.Workspace != "" && !filepath.IsAbs(d.Workspace):
		return bad("the workspace %.200q is not an absolute path", d.Workspace)
	case len(d.Config) > MaxConfig:
		return fmt.Errorf("%w: %s: more than %d bytes of configuration", ErrTooLarge, d.label(), MaxConfig)
	case len(d.Shell) > MaxShell:
		return fmt.Errorf("%w: %s: more than %d bytes of shell text", ErrTooLarge, d.label(), MaxShell)
	case len(d.Command) > maxWords || len(d.Env) > maxWords || len(d.Vars) > maxWords || len(d.Files) > MaxFiles:
		return fmt.Errorf("%w: %s: too many words or files", ErrTooLarge, d.label())
	}
	for _, s := range slices.Concat(d.Command, d.Files, []string{d.Shell, d.Dir}) {
		if strings.IndexByte(s, 0) >= 0 {
			return bad("there is a NUL byte in %.40q", s)
		}
	}
	return nil
}

func (d *Definition) label() string {
	return fmt.Sprintf("hook %.100q of %.200q", d.ID, d.File)
}

// encode adds the definition to a digest. config is its canonical form.
func (d *Definition) encode(e encoder, config []byte) {
	for _, s := range []string{d.Dialect, d.File, d.ID, d.Name, string(d.Source), d.Workspace, string(config), d.Shell, d.Dir} {
		e.text(s)
	}
	e.list(d.Command)
	e.list(d.Files)
	e.list(slices.Sorted(slices.Values(d.Env)))
	e.number(uint64(len(d.Vars)))
	for _, name := range slices.Sorted(maps.Keys(d.Vars)) {
		e.text(name)
		e.text(d.Vars[name])
	}
}

// canonical is the configuration with its keys sorted and its white space gone,
// as RFC 8785 has it, but for numbers: these keep their spelling, because that
// standard makes one number of two large ones.
func (d *Definition) canonical() ([]byte, error) {
	if len(d.Config) == 0 {
		return nil, nil
	}
	if err := strictjson.Check(d.Config, MaxConfig); err != nil {
		return nil, fmt.Errorf("%w: %s: its configuration: %w", ErrDefinition, d.label(), err)
	}
	v := jsontext.Value(slices.Clone(d.Config))
	if err := v.Format(jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		return nil, fmt.Errorf("%w: %s: its configuration: %w", ErrDefinition, d.label(), err)
	}
	return v, nil
}
