package bus

import (
	"sync"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// maxStopBlocks is how often in a row an agent may be kept from stopping in
// one turn. Two agents have no limit of their own, and one more round trip
// does not change what a decider thinks.
const maxStopBlocks = 2

// maxStopTurns bounds what the guard remembers.
const maxStopTurns = 4096

// stopGuard lets an agent stop that has been kept from it often enough.
type stopGuard struct {
	mu     sync.Mutex
	blocks map[string]int
	order  []string
}

func newStopGuard() *stopGuard { return &stopGuard{blocks: make(map[string]int)} }

func (g *stopGuard) apply(e hook.Event, v *hook.Verdict) {
	if e.Name != hook.Stop && e.Name != hook.SubagentStop {
		return
	}
	agent := ""
	if e.Data.Subagent != nil {
		agent = e.Data.Subagent.ID
	}
	turn := string(e.Name) + "\x00" + e.Source + "\x00" + e.SessionID + "\x00" + e.CorrelationID + "\x00" + agent
	g.mu.Lock()
	defer g.mu.Unlock()
	// Ask keeps an agent from stopping too, where it cannot ask. A halt ends it.
	if v.Effect != hook.Deny && v.Effect != hook.Ask {
		delete(g.blocks, turn)
		return
	}
	if g.blocks[turn] >= maxStopBlocks {
		v.Effect, v.Note = hook.Abstain, "blocked twice in a row in this turn; the agent may stop now"
		// It stops now. Agents that do not number their turns begin anew.
		delete(g.blocks, turn)
		return
	}
	if _, known := g.blocks[turn]; !known {
		g.order = append(g.order, turn)
		if len(g.order) > maxStopTurns {
			delete(g.blocks, g.order[0])
			g.order = g.order[1:]
		}
	}
	g.blocks[turn]++
}
