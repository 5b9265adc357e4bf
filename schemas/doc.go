// Package schemas holds the JSON Schemas (2020-12) of everything that others
// write for grapnel or read from it: events, decisions, verdicts, receipts,
// roster entries, audit records, and the configuration and policy files. YAML
// files are held against the same schemas, as the JSON they mean.
//
// Each schema stands for itself and refers to no other file, so that an editor
// can use it alone; a definition that two of them share is the same in both.
//
// A document that is valid here is accepted by the program, as far as a schema
// can tell: it knows nothing of duplicate keys, sizes in bytes, or expressions.
// The program may take more than the schema says, such as an event's number
// written as a string; writers keep to the schema.
package schemas
