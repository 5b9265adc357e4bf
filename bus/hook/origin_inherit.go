package hook

import (
	"fmt"
	"strconv"
)

// maxInherited is the largest number of hops that an event can carry, less the
// one that is added.
const maxInherited = 1000 - 1

// Inherit is o for an agent that a hook command has started: what it does, that
// hook has caused, and an agent that starts itself over and over by its own
// hooks is found out. The hook runner says so in the environment, which
// getenv reads; os.Getenv does. Elsewhere o stays as it is. Every agent should
// begin with
//
//	o, err := hook.Origin{…}.Inherit(os.Getenv)
//
// An error means that the variables were meddled with.
func (o Origin) Inherit(getenv func(name string) string) (Origin, error) {
	if s := getenv("GRAPNEL_HOPS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > maxInherited {
			return o, fmt.Errorf("hook: GRAPNEL_HOPS is %.80q and not a number from 0 to %d", s, maxInherited)
		}
		o.Hops = n + 1
	}
	if s := getenv("GRAPNEL_ANCESTRY"); s != "" {
		if !ValidAncestry(s) {
			return o, fmt.Errorf("hook: GRAPNEL_ANCESTRY is %.80q and does not name hooks", s)
		}
		o.Ancestry = s
	}
	if s := getenv("GRAPNEL_CAUSATION_ID"); s != "" {
		o.Cause = s
	}
	if s := getenv("GRAPNEL_TRACEPARENT"); s != "" && o.TraceParent == "" {
		o.TraceParent = s
	}
	return o, nil
}
