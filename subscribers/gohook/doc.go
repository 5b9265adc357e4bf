// Package gohook is for hooks written in Go: a Go program registers deciders
// with name, events, tool matcher, time-out and priority, and puts them on the
// bus or fires events at them itself. It is the hook interface of the
// claude-agent dialect, in Go's words.
//
// # Usage
//
// A [Hook] embeds [Defaults] and overrides what differs; a function becomes one
// with [NewFunc]. A [Manager] holds hooks and executes those that an [Input] is
// for. A [Subscriber] is a Manager as a [hook.Decider] and a [hook.Handler], to
// be given to bus.Conn's Respond and Consume. A [Firer] is for tools that cause
// events themselves, such as one that starts a sub-agent.
//
//	document                            here
//	Hook, FnHook                        Hook with Defaults, NewFunc
//	HookEvent, HookEventData            Event, Data (PreToolUseData, …)
//	HookInput::pre_tool_use(…) …        NewPreToolUse(…) …
//	input.event_type(), tool_name()     Input.Event, Input.ToolName
//	HookOutput::allow(), block(reason)  Allow, Block
//	.system_message() .context() …      Output.WithSystemMessage, WithContext …
//	HookContext                         Context; its token is context.Context
//	HookManager                         Manager
//	ExecutionContext::hooks, fire_hook  NewFirer, Firer.Fire
//
// # Order and merge
//
// [Manager.Execute] runs the hooks one after another, priority high first, equal
// ones as they were registered. All run, also after one that blocked, and all
// see the input as it came; an updated input is for the tool. A tool matcher is a
// regular expression that must be found somewhere in the tool's name (anchor it
// with ^ and $ to mean the whole); on an event that has no tool it does not
// count, and the hook runs. Outputs are merged as [Output.Merge] says.
//
// # Failure
//
// A hook fails that returns an error, panics, ends its goroutine, takes longer
// than its time-out, gives an updated input that is not one JSON object, or is
// not begun because the context has ended. A failure is no output: the outputs
// of all others are merged, and Execute returns the failures, each a [*Failure],
// as its error. On an event that can block ([Event.CanBlock]) the merged output
// is a block then: who looks at the output alone is safe.
//
// A hook that ignores its context does not hold Execute up. It is named in the
// log and its goroutine is left; [Manager.Left] counts those and [Manager.Wait]
// waits for them. A hook with [MaxLeft] goroutines left is not started again
// until one of them ends, which is a failure too.
//
// # On the bus
//
// A Subscriber makes the Input from the event, and a decision from the Output:
//
//	block, on an event that can block      deny, with the stop reason
//	block, on one that cannot              abstain, the reason is on record
//	anything else                          abstain: "carry on" is no grant
//	system message, additional context     context
//	updated input                          rewrite, see SubscriberOptions.Rewrites
//	a failure, on an event that can block  an error, for which the roster entry's
//	                                       failure policy counts: deny for gates
//
// On the bus stop, subagent_stop and pre_compact wait for an answer, which the
// document's do not; [SubscriberOptions.Blocks] lets a block count there. Deny
// on a stop event means: carry on working.
//
// The roster asks a subscriber that may rewrite before the input is final. Hooks
// that judge belong in a Manager, and on the bus under a name, of their own; they
// are then asked about what will run.
//
// The gateway answers within 30 s unless it is set up otherwise, and an event's
// deadline ends all hooks that it is waiting for, whatever their time-outs say.
//
// SuppressLogging keeps a call out of the Manager's own log. Nothing a hook says
// keeps it out of the audit log.
//
// # Concurrency and retention
//
// Managers, Subscribers and Firers may be used from many goroutines, and a hook
// may be executed many times at once. What an Input holds is shared: a hook may
// keep it and must not write to it. Each call has a [Context] of its own.
package gohook
