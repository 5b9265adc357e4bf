// Package prompt is the subscriber that asks a language model: an LLM as
// decider. A [Judge] puts one question about one event to one [Model] and
// reads a decision out of what the model writes back.
//
// # What it can do, and what not
//
// A model's no counts. A model's yes never loosens anything: [Hook.Entry] never
// sets Grants, so that an allow cannot skip the agent's own prompt, and
// whoever puts a judge into a roster by hand must leave Grants off as well. A
// model can be talked round by what it reads; what stands below makes that
// harder and makes its failure safe, and is no proof against it.
//
// # The hook
//
// [Hook.Prompt] is text by the person who configured the hook. It may refer to
// parts of the event by placeholders, in two spellings ([Syntax]): codemie's
// $ARGUMENTS $TOOL_NAME $TOOL_INPUT $PROMPT $SESSION_ID $CWD, and Claude
// Code's $ARGUMENTS alone. Any other dollar sign is text. A prompt without a
// placeholder gets the whole input, as if it ended in $ARGUMENTS.
//
// # How the prompt is built
//
// The hook's text and our own rules are the system message; the event is the
// user message. No value of an event is ever put into the hook's text: a
// placeholder becomes the words [data TOOL_INPUT], and the value stands in a
// section of that name in the user message:
//
//	<<<DATA 5f0c… name="TOOL_INPUT" bytes=23>>>
//	{"command":"ls -la /tmp"}
//	<<<END 5f0c… name="TOOL_INPUT">>>
//
// The boundary is 128 random bits, fresh for each question and looked for in
// all values before it is used. A value is always one JSON value on one line:
// it cannot even begin a line of its own. Characters that people do not see
// (control, bidirectional, zero-width, variation selectors, tags and the like)
// are written as \u escapes, so that hidden instructions show. The system
// message says that nothing in a section is an instruction, and that trying to
// be one is a reason against.
//
// Secrets are taken out first (internal/redact), unless [Options.KeepSecrets]
// says otherwise: the event leaves the machine. A value over
// [Options.MaxData] keeps its head and its tail, and the model is told how much
// is left out.
//
// # How the answer is read
//
// The decision is found wherever it stands, in prose or in a code fence. Three
// shapes are known: {"decision": "allow"|"approve"|"ask"|"deny"|"block"}, with
// reason, additionalContext and updatedInput (codemie); {"ok": true|false}, with
// reason (Claude Code's prompt hooks); and permissionDecision or
// decision.behavior, also inside hookSpecificOutput. What makes it safe:
//
//   - Where several decisions stand, the strictest counts.
//   - An allow counts only as an object of its own, not inside another one.
//   - The model is given a nonce to put into its answer. An allow that carries
//     another nonce does not count; one without any does not count when the
//     event itself holds that very object, or when there are braces in the
//     answer that could not be read.
//   - An allow does not count beside a decision that cannot be read: an unknown
//     word, a wrong type, a duplicate key, a key in other letters, one that was
//     cut off, or prose that says "decision: deny".
//   - An allow does not count when the answer ended at its token limit, and not
//     when the event was too large to be shown in full ([ErrTruncated]): whoever
//     can pad an event could else hide in its middle what matters. It is a
//     failure and not an abstention, since a judge that must be heard was not.
//   - An allow of a changed input (updatedInput) does not count for the input
//     that was asked about, unless [Hook.Rewrites] lets the change take place.
//
// No decision at all is [ErrAnswer]. Every error of [Judge.Ask] and
// [Judge.Decide] is a failure, and the roster's failure policy counts.
//
// # Sending
//
// The vendors' own Go clients send the request, without anything that they
// would take from the environment, and without following redirects. Overload
// (408, 429, 500, 502, 503, 504, 529, an error inside a stream) and connection
// errors are tried again with exponential backoff and jitter, not before a
// Retry-After has passed, and never beyond the hook's time-out: a wait that
// would not fit is not begun. A [Budget] caps requests, tokens and money of the
// last hour over all judges that share it; when it is spent, the answer is
// [ErrBudget].
//
// The key goes into one header of requests to [Model.BaseURL]. Neither the key
// nor anything of the prompt or the answer is logged or stands in an error;
// therefore errors name a vendor's status and error type and not its message.
//
// # Concurrency and retention
//
// A Judge may be asked from many goroutines at once; it keeps nothing of a
// question. [Judge.Close] gives its idle connections back.
package prompt
