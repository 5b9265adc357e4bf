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
// of its own without a terminal; no open file but the three streams and
// [Spec.Files] (the first run marks what this process was itself started
// with); and, where supervised, umask 077 (elsewhere the umask of this
// process: set it to 077). Shell text is never put together from values: it is
// a constant, and values come to it as environment variables.
//
// # Running what was checked
//
// A path can lead to another file by the time it is executed. On Linux the
// bytes that were checked can be what runs: put them into a sealed memfd, pass
// it in [Spec.Files], and name it "/proc/self/fd/3" in [Spec.Program]. That
// goes for programs and for scripts with a #! line, which find that name as
// their $0; errors still speak of Command[0]. Elsewhere Program names a
// private copy.
//
// # Sandbox
//
// A [Sandbox] keeps a command from what the same user may do otherwise. The
// supervisor puts it around one thread, which starts the command and ends with
// it. [Result.Sandbox] says what was on: read it, "best-effort" promises
// nothing. Always on are no_new_privs, a PID namespace, the loss of root's
// capabilities but those over files, and (Landlock 6, Linux 6.12) no signals
// to and no looking into processes outside.
//
// With paths in [Sandbox.ReadOnly] or [Sandbox.ReadWrite] the file system is
// closed (Landlock 1, Linux 5.13; truncating is held from 3, Linux 6.2). What
// remains open besides them:
//
//   - to read and execute: /usr /bin /sbin /lib* /etc /opt /proc /nix/store
//     /run/systemd/resolve, and the working directory unless it is "/"; a
//     working directory that is $HOME opens all of it
//   - to read and write: /dev/null /dev/zero /dev/full /dev/random
//     /dev/urandom, the three streams, Spec.Files, and a private directory that
//     TMPDIR names, which is removed after the run
//   - to execute: the file of the program itself
//
// A script's interpreter elsewhere must be listed. A path that is missing or
// has a symbolic link in it is left out, and missing from what is on.
//
// [Sandbox.NoNetwork] closes TCP (Landlock 4, Linux 6.7) and abstract unix
// sockets (6). UDP, and with it name resolution, is closed from Landlock 10
// only; MPTCP is not, nor are unix sockets with a path before Landlock 9: a
// service manager, container engine or agent that takes orders on one does
// what it is told. Where that matters, give the commands a machine of their
// own.
//
// [Limits] are set while the command waits, traced, before its first
// instruction; a system that permits no tracing (kernel.yama.ptrace_scope 2
// and 3) has none of them. They hold for each process and not for the sum.
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
