// Package command is the subscriber that asks a hook command: an external
// program that is started for each event, in our own dialect.
//
// # What a hook command gets
//
// On standard input, the event as structured CloudEvents JSON, and then the
// end of input. In the environment, the usual variables (see
// [process.Environment]), those that the hook names in Env, and, where the
// event has them:
//
//	GRAPNEL_EVENT         canonical event name, pre_tool_use
//	GRAPNEL_EVENT_ID      the event's id
//	GRAPNEL_CAUSATION_ID  the same: what the command causes was caused by it
//	GRAPNEL_HOPS          hooks between a person and this event
//	GRAPNEL_ANCESTRY      which ones, and this one: what the command causes
//	GRAPNEL_CORRELATION_ID, GRAPNEL_SESSION_ID, GRAPNEL_TRACEPARENT
//	GRAPNEL_AGENT, GRAPNEL_NATIVE_EVENT, GRAPNEL_SUBJECT
//	GRAPNEL_CWD, GRAPNEL_WORKSPACE, GRAPNEL_PERMISSION_MODE, GRAPNEL_MODEL
//	GRAPNEL_TOOL_NAME, GRAPNEL_TOOL_KIND, GRAPNEL_TOOL_CALL_ID
//	GRAPNEL_TOOL_INPUT    the tool's input, JSON
//	GRAPNEL_PROMPT, GRAPNEL_MESSAGE, GRAPNEL_PATH
//
// A value over 100,000 bytes or with a NUL byte in it cannot be a variable; it
// is left out and its name stands in GRAPNEL_OMITTED (for the tool's input
// GRAPNEL_TOOL_INPUT_TRUNCATED=1 as well). Shell text that uses a variable
// which had to be left out is not run, since it would check nothing, unless it
// also uses one of those two.
//
// The working directory is the event's workspace, or else its directory.
//
// # Event values and syntax
//
// No event value ever becomes syntax. Shell text is a constant; a "{{" in it is
// a configuration error. In Command, an element that is one template as a whole
// becomes one argument:
//
//	{{event}} {{event.id}} {{session}} {{agent}} {{cwd}} {{workspace}}
//	{{prompt}} {{message}} {{tool.name}} {{tool.kind}} {{tool.input}}
//	{{tool.input.member.member}}   a string as its text, else JSON
//
// A value that the event does not have, that has a NUL byte in it, or that
// begins with '-' where no "--" stands before it, is a failure and the command
// is not run.
//
// # What it answers
//
//	exit 0, stdout empty          abstain
//	exit 0, stdout one JSON       the decision: effect, reason, context, rewrite
//	exit 2                        deny; stderr is the reason
//	exit 0 with anything else, any other exit code, a signal, a time-out, a
//	program that cannot be started: a failure
//
// An answer is read strictly, see [ReadAnswer]. With exit code 2 a decision on
// stdout counts when it is stricter than deny. A failure is an error of
// [Command.Decide], so that the failure policy counts; there is no failure that
// ends as abstain or allow by itself. For notification events exit code 0 is
// success and everything else a failure.
//
// # Dialects
//
// What makes a dialect is how a hook is configured, fed and read. Here these
// are [Hook], Command.feed and Command.read; how a command is run, traced and
// tested (Command.run) knows none of them. A further dialect is a package
// command/<dialect> that reads its own configuration into a Hook (names,
// events, time-outs, failure policy) and brings a feed and a read of its own;
// feed and read become fields of Command then, with ours as the default.
//
// # Concurrency
//
// A [Command] may be asked about many events at once; how many commands run at
// the same time is the [process.Runner]'s matter.
package command
