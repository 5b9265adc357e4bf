// Package geminicli is the protocol of Gemini CLI: its hook events to ours, and
// verdicts to the answers that it obeys.
//
// It follows Gemini CLI 0.61.0 as it was watched on 2026-11-20, and its
// documentation and code of 2026-08-21 (docs/hooks, packages/core/src/hooks)
// where nobody watched.
//
// What makes Gemini CLI different:
//
//   - It reads stderr when stdout is empty, and takes any text with exit code 2
//     or more for a deny and anything else for a message. So stdout always has
//     one JSON object, {} being no opinion.
//   - Where it reads JSON the exit code counts for nothing. Exit code 2 goes
//     with every deny all the same, for when it does not read it.
//   - A changed input is laid over the arguments of the call, key by key. One
//     without a key that the call has cannot be expressed and is a deny.
//   - An allow skips nothing: its own question still comes.
//   - Its calls have no id. Its time-stamp stands in for one.
//   - It never stops an agent that is kept from stopping; the bus does.
//   - A hook program that is not there blocks every tool and prompt and keeps
//     every turn from ending, for ever.
package geminicli
