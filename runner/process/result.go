package process

import "time"

// Result is what became of one command. It is filled in as far as things went
// also when there is an error.
type Result struct {
	// ExitCode is the exit code, and -1 where there is none: not started, or
	// ended by a signal.
	ExitCode int
	// Signal is the signal that ended it, such as "SIGKILL"; else empty.
	Signal string
	Stdout Output
	Stderr Output
	// Started is when the command was started; zero when it was not.
	Started time.Time
	// Duration is the time from Started until the whole tree was dead and its
	// output read.
	Duration time.Duration
	// Leftover counts processes that were still there when the command itself
	// had ended, and that were killed then. Only supervised runs count them.
	Leftover int
	// Confinement is what held the process tree together.
	Confinement Confinement
	// Sandbox is what was really on of [Spec.Sandbox].
	Sandbox Enforced
}

// Output is what a command wrote to one stream.
type Output struct {
	// Bytes is the first part, raw; see [Text] before showing it to anyone.
	Bytes []byte
	// Total counts all bytes that were written.
	Total int64
	// Truncated says that Bytes is not all there was: it was more than the
	// limit, or somebody outside the tree kept the stream open.
	Truncated bool
}

// Confinement names the means by which a command's whole process tree is
// found and killed, from strong to weak.
type Confinement string

// The confinements.
const (
	// Namespace: a PID namespace of its own; the kernel kills all of it.
	Namespace Confinement = "pid-namespace"
	// Supervised: a supervising process is the subreaper of all descendants,
	// whatever they do to their session, group and environment.
	Supervised Confinement = "supervised"
	// Group: the process group, and on Linux whoever shares its session or
	// carries its mark in the environment.
	Group Confinement = "group"
	// Job: a Windows job object.
	Job Confinement = "job"
	// None: nothing was started.
	None Confinement = ""
)
