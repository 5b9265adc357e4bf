package dialect

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
	"time"
)

// maxCached bounds how many answers are kept.
const maxCached = 4096

// cache keeps the answers of pure hooks.
type cache struct {
	mu      sync.Mutex
	answers map[string]cached
}

type cached struct {
	answer Answer
	until  time.Time
}

func newCache() *cache { return &cache{answers: make(map[string]cached)} }

func (c *cache) get(key string) (Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.answers[key]
	if !ok || time.Now().After(v.until) {
		delete(c.answers, key)
		return Answer{}, false
	}
	return v.answer, true
}

func (c *cache) put(key string, a Answer, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.answers) >= maxCached {
		now := time.Now()
		for k, v := range c.answers {
			if now.After(v.until) {
				delete(c.answers, k)
			}
		}
		for k := range c.answers { // still full: any
			if len(c.answers) < maxCached {
				break
			}
			delete(c.answers, k)
		}
	}
	c.answers[key] = cached{a, time.Now().Add(keep)}
}

// cacheKey digests what the answer of a pure hook may depend on: its
// definition, the tool, the tool's input and its result, the prompt and the
// directory. Ids and times of the event are not part of that, or no answer
// would ever be used twice.
func cacheKey(dialect string, h Hook, c *Call, f Feed, dir string) string {
	d := c.Event.Data
	parts := [][]byte{
		[]byte(dialect), []byte(h.ID()), h.Definition, []byte(h.Origin.Workspace), []byte(c.Name), []byte(c.Tool), c.Input,
		c.Event.Data.Result, []byte(d.Prompt), []byte(d.Message), []byte(d.Error), []byte(d.Path), c.Data, []byte(f.Shell),
		[]byte(d.PermissionMode), []byte(d.Model), []byte(d.Native.Agent), []byte(dir),
	}
	for _, word := range f.Command {
		parts = append(parts, []byte(word))
	}
	sum := sha256.New()
	for _, p := range slices.Clip(parts) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		sum.Write(size[:])
		sum.Write(p)
	}
	return string(sum.Sum(nil))
}
