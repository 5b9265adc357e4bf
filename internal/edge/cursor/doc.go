// Package cursor is the protocol of Cursor, its command line and its cloud
// agents: their hook events to ours, and verdicts to the answers that they
// obey.
//
// Nobody has watched it. It follows cursor.com/docs/hooks as of 2026-08-24, and
// reports of users where it says so.
//
// What makes Cursor different:
//
//   - It waits for a permission to be said: an empty answer on a permission hook
//     was reported to block every tool. So no opinion is an answer of its own on
//     each event, and what {} means there nobody needs to find out.
//   - One call fires several hooks: preToolUse for every tool, after it
//     beforeShellExecution or beforeMCPExecution, after which Cursor asks the
//     person. Whether an allow on the last skips that question is not known. So
//     preToolUse carries the decision, where an allow only lets the call go on
//     to the rest; the two others are not registered, and no opinion on them is
//     an ask. An allow is said on them where the verdict grants.
//   - preToolUse takes an ask and does not enforce it, so there it is a deny.
//   - A changed input may be laid over the old one or take its place; it is
//     handed over where both are the same.
//   - Inputs of MCP tools are texts that hold JSON. A shell or MCP event has no
//     call id, so each is an event of its own.
//   - beforeReadFile and beforeTabFileRead carry the file's whole content. A file
//     that is too large for an event is denied.
//   - Most events say no working directory, and a person's hooks run in
//     ~/.cursor; the first workspace takes its place.
//   - What keeps an agent from stopping is a message, sent as if by the person,
//     five times at most. An agent that a person stopped or that failed is no
//     stop but an interrupt or a failure: nobody wants it to go on.
//   - Any exit code but 0 and 2, a time-out and broken JSON let the action pass,
//     unless the settings say failClosed.
package cursor
