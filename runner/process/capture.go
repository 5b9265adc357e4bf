package process

import (
	"io"
	"sync"
)

// capture keeps the head of a stream and reads on to its end, so that the
// writer never blocks on us.
type capture struct {
	limit int

	mu       sync.Mutex
	buf      []byte
	total    int64
	complete bool
}

func (c *capture) readFrom(r io.Reader) {
	chunk := make([]byte, 8<<10)
	for {
		n, err := r.Read(chunk)
		c.mu.Lock()
		c.total += int64(n)
		if room := c.limit - len(c.buf); room > 0 {
			c.buf = append(c.buf, chunk[:min(n, room)]...)
		} else if len(chunk) < 64<<10 {
			chunk = make([]byte, 64<<10) // only counting now, so in large steps
		}
		if err == io.EOF {
			c.complete = true
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *capture) output() Output {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Output{Bytes: c.buf, Total: c.total, Truncated: !c.complete || c.total > int64(len(c.buf))}
}
