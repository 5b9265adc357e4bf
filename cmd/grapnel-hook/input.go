package main

import (
	"errors"
	"io"
	"strconv"
)

var errTooMuch = errors.New("too much input")

// readAll reads r to its end, and fails as soon as there are more than limit
// bytes.
func readAll(r io.Reader, limit int) ([]byte, error) {
	b := make([]byte, 0, 8<<10)
	for {
		if len(b) == cap(b) {
			grown := make([]byte, len(b), 4*cap(b))
			copy(grown, b)
			b = grown
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if len(b) > limit {
			return nil, &inputError{errTooMuch, "it is larger than " + strconv.Itoa(limit) + " bytes; split the action into smaller ones"}
		}
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

type inputError struct {
	kind error
	text string
}

func (e *inputError) Error() string { return e.text }
func (e *inputError) Unwrap() error { return e.kind }
