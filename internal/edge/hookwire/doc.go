// Package hookwire is what the hook shim and the daemon say to each other over
// the hook socket, and what the shim knows when it has to answer alone. It is
// linked into a program that is started for every hook of every agent, so it
// imports next to nothing: no reflection, no JSON package, no formatting.
//
// # One frame in, one frame out
//
// The shim connects, writes one [Request], reads one [Response] and closes. A
// frame is eight bytes of header ("grpn", version, kind, two zero bytes), the
// length of the body in four bytes, big endian, and the body. In the body,
// texts and byte strings have their length in front of them, four bytes, big
// endian. A daemon that will not take a frame answers with a refusal, which
// [ReadResponse] returns as a [*Refused]; the shim then answers for itself.
//
// # Limits
//
// Stdin is at most [MaxStdin] bytes; a longer one is refused before it is
// sent. A response is at most [MaxResponse] bytes. A reader allocates what
// arrives, never what a length field promises.
//
// # Answering alone
//
// [ClassOf] sorts an agent's events by what silence has to mean, [Budget] says
// how long the shim may wait, [Alone] is the answer when nobody else gives
// one, and [Usable] tells a real answer from the remains of a crash. The table
// of names is tested to be the same as the agent protocols' own.
//
// # Concurrency and retention
//
// There is no state. Decoded frames alias the buffer that they were read into,
// and nothing else does.
package hookwire
