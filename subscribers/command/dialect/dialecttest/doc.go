// Package dialecttest holds every dialect to the same rules. It is for tests.
//
// [Run] is what a dialect's own test calls, with a [Harness] that says how its
// configuration is written. It runs real processes, and checks that
//
//   - a hook for a tool is asked about that tool of every agent, whatever that
//     agent calls it;
//   - no value of an event is ever executed, and each arrives as it is: the
//     strings of [Corpus] go through standard input, through every variable,
//     and through the dialect's templates in every place that these may have;
//   - a denial denies and says why;
//   - a workspace's hooks do not run before they are trusted, and run then;
//   - when a hook's time is up, nothing that it started lives on;
//   - bad files are problems, and no panic.
//
// A package that calls it uses [Main] in its TestMain: the test binary is then
// the supervisor of the hook commands, as the real program is.
package dialecttest
