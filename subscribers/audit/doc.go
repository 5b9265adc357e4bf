// Package audit is a node's audit log: append-only, tamper-evident, durable
// before anybody is answered. The formats of its files are below.
package audit
