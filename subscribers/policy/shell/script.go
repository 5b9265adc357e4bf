package shell

import (
	"fmt"
	"slices"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// Limits of one analysis. A script over a limit is opaque.
const (
	MaxText     = 64 << 10 // bytes of script text, nested texts included
	MaxDepth    = 32       // nesting of substitutions, subshells and scripts in scripts
	MaxCommands = 1000     // simple commands
	MaxWords    = 20000    // words after expansion
	maxFields   = 512      // words that one word may expand to
	maxValues   = 16       // values that one variable may have
	maxValue    = 4096     // bytes of one of them
)

// Script is what one shell command string would do, as far as it can be known.
type Script struct {
	// Text is the analyzed text.
	Text string
	// Commands are all simple commands anywhere in it, in the order in which
	// they were found. A wrapper (sudo, env, xargs, sh -c) comes before what
	// it runs.
	Commands []*Command
	// Redirects are all redirections of the script.
	Redirects []*Redirect
	// Paths are the paths of all commands and redirections.
	Paths []*place.Path
	// Opaque says that the script may do something that is not in Commands,
	// Redirects and Paths. Reasons says why, see [Reason].
	Opaque  bool
	Reasons []Reason

	named map[string][]*Command
}

// Named returns the commands with one of these names.
func (s *Script) Named(names ...string) []*Command {
	if len(names) == 1 {
		return s.named[names[0]]
	}
	var out []*Command
	for _, c := range s.Commands {
		if slices.Contains(names, c.Name) {
			out = append(out, c)
		}
	}
	return out
}

// Because reports whether the script is opaque for the reason with this code.
func (s *Script) Because(code string) bool {
	return slices.ContainsFunc(s.Reasons, func(r Reason) bool { return r.Code == code })
}

// Reason says why a script, or a command in it, is opaque.
type Reason struct {
	// Code is one of the constants.
	Code string
	// Detail is for people.
	Detail string
}

// String is the code and the detail.
func (r Reason) String() string {
	if r.Detail == "" {
		return r.Code
	}
	return r.Code + ": " + r.Detail
}

// The codes of reasons.
const (
	ReasonSyntax   = "syntax"       // the text does not parse
	ReasonTooLong  = "too-long"     // more than MaxText bytes
	ReasonTooDeep  = "too-deep"     // more than MaxDepth levels
	ReasonTooMany  = "too-many"     // more than MaxCommands commands or MaxWords words
	ReasonControl  = "control"      // NUL and other characters that shells disagree about
	ReasonName     = "dynamic-name" // a command's name is computed
	ReasonCode     = "dynamic-code" // text is computed and then run as a script
	ReasonPipe     = "piped-code"   // a shell or interpreter reads its script from a pipe or a download
	ReasonInline   = "inline-code"  // an interpreter that is no shell is given code
	ReasonWrapper  = "wrapper"      // a program that seems to run the command in its arguments, in a way not known
	ReasonArgs     = "dynamic-args" // the arguments of a dangerous command are computed
	ReasonLanguage = "language"     // not a POSIX shell's language
	ReasonNoText   = "no-text"      // the tool's input holds no command text
)

// Command is one simple command.
type Command struct {
	// Name is the last component of the command's name, unquoted. Empty when
	// it is not known.
	Name string
	// Argv are the words, unquoted and expanded, the name as it was written
	// first. What is not known stands there as it was written ("$x").
	Argv []string
	// Dynamic says that some word of Argv is not known.
	Dynamic bool
	// Sub is the subcommand of tools that have such (git push: "push").
	Sub string
	// Args are the words that are no flags, without the name and Sub.
	Args []string
	// Wrappers are the names of the commands that run this one, outermost
	// first: sudo, env, xargs, find, sh.
	Wrappers []string
	// Paths are the paths that the command uses, its redirections included.
	Paths []*place.Path
	// FedBy names the commands whose output this one reads: through a pipe,
	// a substitution among its words, or a file that they wrote before.
	FedBy []string
	// Feeds names the commands that read this one's output through a pipe.
	Feeds []string
	// Code is the inline code that an interpreter is given; empty for shells,
	// whose text is analyzed.
	Code string
	// Shell says that it is a shell or something that runs text as one.
	Shell bool
	// Vars are the variables that stand in its words; Sent those that stand
	// in data or an address that a network tool sends.
	Vars, Sent []string
	// Remote says that it runs on another machine or in a container.
	Remote bool
	// Recurses says that it calls the function that it is written in.
	Recurses bool
	// Directory is the working directory, empty when not known.
	Directory string
	// Depth counts the scripts and substitutions around it.
	Depth int
	// Reasons says what about this command is not known.
	Reasons []Reason

	flags []flag
}

// Opaque reports whether something about the command is not known.
func (c *Command) Opaque() bool { return len(c.Reasons) > 0 }

// Redirect is one redirection to or from a file.
type Redirect struct {
	// Op is read or write.
	Op place.Op
	// Append says that a file is written to at its end.
	Append bool
	// Target is where it leads.
	Target *place.Path
	// Command is the name of the command that it belongs to; empty for a
	// bare one or a group.
	Command string
}

// String names the command, for people.
func (c *Command) String() string {
	if c.Name == "" {
		return fmt.Sprintf("%q", c.Argv)
	}
	return c.Name
}
