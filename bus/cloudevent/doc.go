// Package cloudevent reads and writes [hook.Event] as CloudEvents 1.0: binary
// mode for NATS headers ([Encode], [Decode]) and structured JSON ([Marshal],
// [Unmarshal]).
//
// The binary mode follows the CloudEvents NATS protocol binding (section 3.1):
// every attribute is a header "ce-<name>" whose value is percent-encoded, and
// the body is the data. Header names are written in lower case and read in any
// case. The official SDK has this mode for no NATS transport; the tests prove
// this codec equal to the SDK's own event model and JSON format in both
// directions.
//
// # Strictness
//
// What is read here came from somebody else. Attributes given twice (also in
// two spellings of the same header), unknown event names, invalid UTF-8,
// attribute values over [MaxAttribute] bytes, more than [MaxExtensions]
// extensions, data over [MaxData] bytes, and data that is not exactly one JSON
// document of [hook.Data]'s shape are errors. Nothing is repaired.
//
// # Retention
//
// Decoded events refer to the body's memory; the caller must not write to it
// afterwards. Encode returns the event's Raw itself where it has one.
package cloudevent
