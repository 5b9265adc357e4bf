package dialect

import (
	"fmt"
	"sync"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// conditions compiles each "when" once.
type conditions struct {
	compile func(string) (func(hook.Event) (bool, error), error)
	mu      sync.Mutex
	made    map[string]func(hook.Event) (bool, error)
}

// holds says whether a condition wants an event. One that cannot be compiled or
// evaluated is an error, and the hook runs then: a condition narrows what a hook
// sees, and its failure must not narrow it to nothing.
func (c *conditions) holds(expression string, e hook.Event) (bool, error) {
	if c.compile == nil {
		return true, fmt.Errorf("%w: conditions are not available here", ErrUnavailable)
	}
	c.mu.Lock()
	f, ok := c.made[expression]
	if !ok {
		var err error
		if f, err = c.compile(expression); err != nil {
			f = func(hook.Event) (bool, error) { return true, err }
		}
		if c.made == nil || len(c.made) > 1000 {
			c.made = make(map[string]func(hook.Event) (bool, error))
		}
		c.made[expression] = f
	}
	c.mu.Unlock()
	return f(e)
}
