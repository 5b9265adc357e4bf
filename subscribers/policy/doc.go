// Package policy decides by rules: YAML, with conditions in CEL over facts that
// the package computes, above all over what a shell command really does. This
// page is the manual for writing rules.
//
// # A policy file
//
//	version: 1                          # optional
//	on: [pre_tool_use, pre_shell]       # events of rules that have no "on"
//	sets:                               # named lists of path patterns
//	  production: [deploy/production, "~/keys", "!~/keys/*.pub"]
//	disable: [other-user]               # rules of earlier files, by name
//	rules:
//	  - name: no-production             # a-z 0-9 . _ -, unique
//	    on: pre_tool_use.bash           # event pattern or list; without: all
//	    when: |                         # CEL, true or false; without: always
//	      paths.op("write").exists(p, p.in_set("production"))
//	    effect: deny                    # abstain allow ask deny halt
//	    reason: Ask Kim first.          # for the person and the model
//	    context: The owner is Kim.      # for the model
//	  - name: quiet-npm
//	    when: event.tool.input.command == "npm install"
//	    effect: abstain
//	    rewrite: 'event.tool.input.with({"command": "npm install --no-fund"})'
//
// Unknown keys, keys that come twice, anchors, aliases and second documents are
// errors; an error names file, line and rule. Files are read in order, the one
// that ships ([Default]) first: a later one may disable earlier rules, and adds
// its patterns to sets of the same name.
//
// # What a decision is made of
//
// All rules whose "on" selects the event are evaluated. The strictest effect
// among those whose "when" is true wins (abstain < allow < ask < deny < halt).
// The decision names all rules of that effect, with their reasons and contexts;
// rules that are looser do not appear. Without any match it is abstain.
//
//   - A rule that cannot be evaluated (an error, over the cost or time limit)
//     counts as deny if its effect is deny or halt, as ask if it is ask, and as
//     not matching otherwise. The reason says so.
//   - An allow never counts for an event that is not understood whole: a shell
//     command that is opaque, a file tool without a readable path.
//   - "rewrite" is the tool's whole new input: a map as it stands, or an
//     expression that gives a map. It goes with allow and abstain, and counts
//     when the decision is one of them. The rewritten input is decided on again;
//     what is stricter then wins. Two rules that rewrite in different ways, and
//     a rewrite that changes its own result, are deny. The policy's roster entry
//     must permit rewrites ([Policy.Rewrites]).
//   - An event whose tool input is not one well-formed JSON value is an error of
//     Decide, for which the roster entry's failure policy counts.
//
// Limits: a cost of 100,000 CEL units for each expression, 50 ms for each event
// ([Options]). Regular expressions are RE2. Expressions read nothing but the
// variables below.
//
// # event
//
//	id name source subject session agent native_event   text
//	cwd workspace permission_mode model                 text
//	prompt message reason error path                    text
//	hops int, subagent bool
//	tool.name tool.kind tool.call_id                    text
//	tool.input                                          any JSON
//
// name is canonical (pre_tool_use), agent as on the command line (claude-code).
// workspace is the working directory where the agent does not tell a root; it is
// empty when that would be the file system's root or a directory above the home
// directory. Texts are empty where the event has none; tool.input is then an
// empty map. A key that tool.input may lack is asked for with
// has(event.tool.input.key).
//
// # shell
//
// Empty for events that run no shell command. See package
// subscribers/policy/shell for what is read and what is not known.
//
//	shell.text            the command as the agent wrote it
//	shell.commands        every command anywhere in it, wrappers before what they run
//	shell.redirects       op ("read", "write"), append, command, target (a path)
//	shell.opaque          something about it is not known
//	shell.opaque_reasons  why, for people
//	shell.named("rm", …)  the commands with these names: much cheaper than
//	                      commands.exists(c, c.name == "rm")
//	shell.because("c", …) whether it is opaque for one of these codes: syntax
//	                      too-long too-deep too-many control dynamic-name
//	                      dynamic-code piped-code inline-code wrapper
//	                      dynamic-args language no-text
//
// A command has
//
//	name       last component, unquoted; empty when computed
//	sub        subcommand of git, npm, docker and the like
//	argv args  all words · those that are no flags
//	flags      letters one by one, long names without dashes
//	line       argv joined by spaces
//	wrappers   what runs it: ["sudo", "env"]
//	paths      the paths that it uses, redirections included
//	fed_by     commands whose output it reads: pipe, substitution, file
//	feeds      commands that read its output
//	code       inline code for an interpreter (python -c)
//	shell      it runs text as a shell
//	vars sent  variables in its words · those that go into sent data
//	directory  its working directory, empty when not known
//	dynamic opaque remote recurses   bool
//	c.has_flag("r", "recursive", …)  letters in clusters, abbreviated long names
//	c.because("piped-code", …)       codes as above, of this command
//
// # paths
//
// All paths of the event: of a file tool's input, of every command and
// redirection.
//
//	raw path real base      as written · absolute · links followed · last component
//	op                      read write delete mode list run send link use
//	unknown partial glob    computed · only the beginning is known · a pattern
//	recursive               with all that is below
//	in_workspace in_home in_temp   by the real path
//	system device protected        the system's · a disk · grapnel's own
//	covers_workspace covers_home   that directory, one above it, or all in one
//	p.under("~/x", "/y", …)        in one of these directories
//	p.in_set("name")               in a set, as written or with links followed
//	p.covers_set("name")           recursive, and above an anchored pattern of it
//	paths.op("delete")             those with this op
//
// "use" is what a program that is not known does with a path, "link" that
// another name for it is made, "send" that it leaves the machine. An unknown
// path is in no place and no set: say what happens to it with p.unknown.
//
// # Functions
//
// Those of CEL, with the string, list, set and binding extensions of cel-go,
// and m.with({…}): the map m with these entries set.
//
// # Speed
//
// A condition that asks only what is in this list is answered without CEL, with
// the same result in a fraction of the time; the policy that ships asks
// nothing else:
//
//   - && || ! true false, exists and all over the lists above
//   - their fields, and those of the variables, but not tool.input and hops
//   - == != and "in" between texts, size() of a list held against a number
//   - op, named, because, has_flag, under, in_set, covers_set, startsWith,
//     endsWith, contains and matches, with arguments that are written out
//
// Any other word is left to CEL, which takes a microsecond or more for the
// rule. Evaluation goes from left to right and stops where the result is known:
// what is in the list and mostly false stands best on the left of an &&. CEL also
// takes over where a text is very long or a list has hundreds of members.
//
// # Loading
//
// [Decider] loads files and the policy that ships. At first start it refuses a
// bad file; a bad file on Reload leaves the policy before in force and turns
// Health red. [WriteBundle] signs the sources for the time when no daemon runs,
// and [OpenBundle] takes nothing that was changed or is too old.
//
// # Testing a policy
//
// A table file holds events and the effects that are right ([ReadTable]);
// [RunTable] runs it. [Policy.Explain] says why a decision came out.
//
// # What it is not
//
// Programs do what they are programmed to do: make, npm or a script on disk are
// only names here. A policy keeps an agent from mistakes and from being talked
// into the obvious; the boundary against a determined program is a sandbox.
//
// # Concurrency and retention
//
// Policies are immutable, deciders are safe for concurrent use, nothing starts a
// goroutine. Nothing of an event is kept after Decide returns.
package policy
