package webhook

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// Response is what an endpoint answered. The memory is the caller's.
type Response struct {
	Status int
	Header http.Header
	// Body is whole, and empty where the status is no 2xx.
	Body []byte
	// Ended says that the endpoint itself said where the body ends. Without
	// it an empty body may be a connection that broke.
	Ended bool
}

// readResponse reads a 2xx response's body.
func readResponse(r *http.Response, limit int) (Response, error) {
	response := Response{Status: r.StatusCode, Header: r.Header, Ended: ended(r)}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return response, fmt.Errorf("%w: its body is compressed, which was not asked for", ErrAnswer)
	}
	if r.ContentLength > int64(limit) {
		return response, tooLarge(limit)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	if len(body) > limit {
		return response, tooLarge(limit)
	}
	if err != nil {
		return response, err
	}
	response.Body = body
	return response, nil
}

func tooLarge(limit int) error {
	return fmt.Errorf("%w: its body has more than %d bytes", ErrAnswer, limit)
}

func ended(r *http.Response) bool {
	return r.ContentLength >= 0 || slices.Contains(r.TransferEncoding, "chunked") || r.ProtoMajor > 1 || r.StatusCode == http.StatusNoContent
}

// jsonBody reports what is wrong with the response as JSON.
func (r Response) jsonBody() error {
	types := r.Header.Values("Content-Type")
	if len(types) != 1 {
		return fmt.Errorf("%w: its body needs one Content-Type, application/json", ErrAnswer)
	}
	media, parameters, err := mime.ParseMediaType(types[0])
	if err != nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
		return fmt.Errorf("%w: its Content-Type is not application/json", ErrAnswer)
	}
	if charset := parameters["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		return fmt.Errorf("%w: its charset is not UTF-8", ErrAnswer)
	}
	return nil
}
