// Package qwencodetest stands in for Qwen Code in tests: given what a hook
// process printed and how it ended, [Run] says what Qwen Code would do with it.
// It follows what Qwen Code 0.24.4 was watched doing; the table of what was seen
// is replayed against it in the tests of package qwencode.
//
// It is for tests only and shares no code with the protocol that it judges.
package qwencodetest
