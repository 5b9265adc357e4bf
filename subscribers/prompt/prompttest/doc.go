// Package prompttest is a model server for tests: real HTTP on loopback that
// speaks Anthropic's Messages API (POST /v1/messages) and OpenAI's chat
// completions (POST …/chat/completions), as JSON and as a stream, with the
// vendors' errors. It refuses what the vendors would refuse. Only tests import
// it.
package prompttest
