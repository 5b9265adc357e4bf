package prompttest

import "net/http"

// Reply is what the server does with one request. The zero value is an answer
// with empty text.
type Reply struct {
	// Text is what the model writes. {{nonce}} in it becomes the nonce that
	// the system message asked for, and {{boundary}} the boundary.
	Text string
	// Stop is the vendor's word for how the answer ended; empty means as it
	// should.
	Stop string
	// Refusal is OpenAI's refusal text.
	Refusal string
	// Input and Output are the usage; zero means 100 and 20, negative zero.
	Input, Output int64

	// Status, where it is not 0 or 200, makes it an error of that status and
	// the vendor's Type, with Message.
	Status  int
	Type    string
	Message string
	// Header is added to the response.
	Header http.Header

	// Body is sent as it is, with Status (or 200) and as JSON.
	Body string
	// Fill sends that many bytes of white space before a good answer.
	Fill int
	// StreamError ends a stream, after half of the text, with that error type.
	StreamError string
	// Break ends the answer after half of the text, or half of the body, by
	// closing the connection.
	Break bool
	// Reset resets the connection instead of answering.
	Reset bool
	// Hang answers only when the client has gone or the server closes.
	Hang bool
	// Redirect sends the client elsewhere.
	Redirect string
}

// Allow and Deny are the answers of a model that does as it is told.
func Allow() Reply {
	return Reply{Text: `{"decision": "allow", "reason": "harmless", "nonce": "{{nonce}}"}`}
}

// Deny is a model's no.
func Deny(reason string) Reply {
	return Reply{Text: `{"decision": "deny", "reason": "` + reason + `", "nonce": "{{nonce}}"}`}
}

// Fail is an error response.
func Fail(status int, kind string) Reply { return Reply{Status: status, Type: kind} }

func (r Reply) usage() (input, output int64) {
	input, output = r.Input, r.Output
	if input == 0 {
		input = 100
	}
	if output == 0 {
		output = 20
	}
	return max(input, 0), max(output, 0)
}
