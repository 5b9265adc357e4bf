// Package place says where a path leads: inside the workspace, the home
// directory, a temporary directory, a system directory, or a place that a
// policy has named.
//
// # Resolving
//
// A [Resolver] belongs to one event. [Resolver.Path] joins what an agent wrote
// with the directory it was written in, removes "." and "..", and expands
// nothing: tilde and variables are the shell's affair. Symbolic links are
// followed on the real file system the first time that a question needs it,
// physically (".." after a link leaves the link's target, as the kernel does),
// with at most [MaxLinks] links a path and [MaxLookups] look-ups a resolver. A
// path over a limit is [Path.Unknown]. What does not exist resolves to itself.
//
// The answer describes the file system at the time of the question. A link that
// is made afterwards is not seen; a sandbox is the boundary, not this package.
//
// # Sets
//
// A [Set] is a list of path patterns with a name. "~/x" and "/x" are anchored,
// everything else may begin at any directory. "*" and "?" stay within a
// component and do not match a leading dot, "**" is any number of components,
// and a pattern also covers what is below it. "!" takes paths out again. Letters
// match without regard to case, because they do on the disks of macOS and
// Windows. A path that is itself a glob is in a set when something it could
// name is: outside the workspace by pattern alone, inside it only when such a
// file exists.
//
// # Concurrency
//
// A Resolver and its paths are for one goroutine at a time; a Set is immutable.
package place
