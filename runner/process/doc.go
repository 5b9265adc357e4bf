// Package process runs hook commands: external programs that an event starts,
// that may be badly written, and that must neither hang, outlive nor surprise
// the process that runs them.
//
// # Usage
//
// A [Runner] runs one [Spec] per call of Run and returns a [Result]. Make one
// Runner per process with [New], and Close it. [Lookup], [CleanPath] and
// [Environment] turn what a configuration says into a Spec; [Text] makes
// output fit to be shown.
//
// # What a command gets
//
// The standard input it is given and then its end; exactly the environment of
// the Spec and GRAPNEL_RUN, which marks its run; a session and process group
// of its own without a terminal; no open file but the three streams (the first
// run marks what this process was itself started with); and, where supervised,
// umask 077 (elsewhere the umask of this process: set it to 077). Shell text is never put together from values: it is a constant, and
// values come to it as environment variables.
//
// # How it ends
//
// When the command itself ends, or its time-out passes, or the context ends,
// nothing that it started lives on: there is no daemonising from a hook. On
// time-out the process group gets SIGTERM, and SIGKILL after the grace;
// background processes that are left when the command has ended get SIGKILL at
// once. Run returns when all of them are dead, which takes less than a second
// from there. How sure that is depends on the [Confinement]:
//
//   - Supervised (Linux, with [Options.Supervisor]): a supervising process runs
//     one command at a time and is the subreaper of its descendants, so that
//     setsid, double forks and a wiped environment change nothing. No
//     privilege is needed. When this process dies, also by SIGKILL, its
//     supervisors kill what they run.
//   - Namespace (Linux, with [Options.Namespace]): the same, and the supervisor
//     is the first process of a PID namespace, so that the kernel does the
//     killing even when the command kills its supervisor.
//   - Group (any Unix, without a supervisor): the process group, and on Linux
//     every process in the command's session or with the run's mark in its
//     environment. On Linux a process escapes that starts a session of its own
//     and wipes its environment; on macOS one that leaves the group.
//   - Job (Windows): a job object; what the command starts in its first instant
//     may escape. There is no SIGTERM and no shell text there.
//
// Outside any confinement is what a command has somebody else start for it: a
// service manager, cron, a container engine. A process that runs as another
// user (sudo) may be impossible to kill; then Run fails with [ErrSurvivors].
//
// # Output
//
// The first [Spec.MaxOutput] bytes of each stream are kept, the rest is read,
// counted and dropped, so that no command blocks on its output. Bytes are raw.
//
// # Concurrency and retention
//
// All functions and methods may be called concurrently; up to [Options.Limit]
// commands run at once. Nothing of a Spec is kept after Run returns, and the
// Result's memory is the caller's.
package process
