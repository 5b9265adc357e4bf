// Package trust decides which hooks may run, and makes sure that the bytes
// that were approved are the bytes that run.
//
// # Usage
//
// A hook's [Source] says where it came from. Those that the machine's
// administrator or its user wrote run as they are. Any other is measured before
// every run, and runs only when somebody approved exactly that:
//
//	if !definition.Source.NeedsApproval(trustWorkspace) {
//		return runner.Run(ctx, spec)
//	}
//	m, err := gauge.Measure(definition)
//	if err != nil { ... }
//	defer m.Close() // after the run
//	state, err := store.Check(m)
//	if !state.Runs() { ... say err and state ... }
//	spec, err = m.Bind(spec)
//	if err != nil { ... }
//	return runner.Run(ctx, spec)
//
// A [Gauge] measures, a [Store] keeps approvals; make one of each per process
// and close them. Nothing of a workspace is interpreted before its approval but
// by this package, which reads the first line of scripts and parses shell text.
//
// # What is measured
//
// A [Measurement] has the SHA-256 of every file that the hook is known to run,
// and its [Digest] covers these, their real paths (symbolic links resolved),
// and the whole definition. Measured are:
//
//   - the program, looked up as [process.Lookup] does, or relative to the
//     hook's directory when its name has a slash;
//   - the interpreters that #! lines name, up to four deep, also through
//     /usr/bin/env NAME and env -S with plain words;
//   - the script that a known interpreter is given (sh, bash, dash, zsh, ksh,
//     python, node, deno, bun, ruby, perl, php), and shell text after -c;
//   - in shell text, the command of every simple command, what "." reads, and
//     /bin/sh itself;
//   - every literal argument that names a file in the workspace, but for
//     arguments of commands that only handle data, such as cat and git;
//   - the files that the definition declares.
//
// Words are taken literally, with the variables in [Definition.Vars] filled in.
// What cannot be known before the hook runs is listed by Measurement.Unpinned,
// for the person who approves it to see: eval, a command in a variable, npx and
// uvx (which download what they run), commands that start others by themselves.
// A command that is not there is measured as missing, and stays missing.
//
// # What runs
//
// [Measurement.Bind] changes a [process.Spec] so that it runs the very bytes
// that were hashed. On Linux they are in sealed memory, which nobody can write
// to, the owner and root included; the words of the command become
// /proc/self/fd/N, in shell text exactly those words, and interpreters are
// called by name in place of the kernel reading a #! line. Files that only root
// could change (they and every directory above them) are run by path after
// being hashed; where this process is root nothing counts as such. On other
// systems, and where Linux refuses executable memory, Bind uses private copies
// in Options.Dir.
//
// A file is read again only when its device, inode, size or times changed. A
// swap that shows in none of these, and one that comes after the reading, has
// no effect: the approved bytes run. A file that changes while it is read makes
// Measure fail.
//
// What a bound script notices: $0 and its like are /proc/self/fd/N, so that it
// does not find its neighbours by "dirname $0". GRAPNEL_SCRIPT has its path,
// and GRAPNEL_FILE_1 and so on are paths to the pinned bytes of the files in
// Definition.Files, in their order, as far as a command can inherit them (some
// twenty files in all). They are descriptors of the hook from 10 up: programs
// that it starts have them too, unless its language closes them. Node is given
// --preserve-symlinks-main, and finds no modules beside the script. A program
// in sealed memory has no path of its own (/proc/self/exe, $ORIGIN,
// process.execPath); programs that only root can change keep theirs. In shell
// text a pinned program has another argv[0]; where its name matters, because it
// is a link to a file of another name, that is a link in Options.Dir. Launchers
// that are scripts (npx), and programs with the set-user-ID bit, run by path.
//
// # Approvals
//
// A [Store] keeps one answer for each hook (dialect, configuration file and
// id): approved or refused, the digest, the parts, who and when. A hook that
// differs from its approval in one byte is [Changed] and does not run;
// [Approval.Diff] says what differs. A new answer replaces the old one, so that
// nobody can go back to an earlier approved version. A file of approvals that
// is damaged, or that others could have written, approves nothing, and Check
// says so.
//
// # What this is worth
//
// It is meant against somebody who can write to the workspace, before and while
// hooks run: a commit, a pull request, a downloaded extension, an agent's edit.
// These get no byte executed that a person did not approve, as far as this
// package measures. It does not cover:
//
//   - what a running hook reads by itself: libraries, modules, files that it
//     sources or imports and that the definition does not declare; and declared
//     files that a script reads by their own path, which are hashed before
//     every run and may change after that (read $GRAPNEL_FILE_n);
//   - what it downloads (npx, uvx) and everything else in Unpinned;
//   - programs of the same user that attack this process or its files: they can
//     trace it, kill it, and write an approval themselves. With one user for
//     agent and hooks an approval shows tampering by content, not by such a
//     program. A separate user for the daemon closes that;
//   - private copies (not Linux) and the links in Options.Dir: the same user can
//     swap them too.
//
// Digests are of bytes, and approval is a person's: nothing here says that what
// was approved is harmless.
//
// # Concurrency and retention
//
// All functions and methods may be called concurrently, but for Close of a
// Measurement during a run that was bound from it. Nothing of a Definition is
// written to; its slices may be kept until the Measurement is closed.
package trust
