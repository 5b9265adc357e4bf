package dialect

import (
	"slices"
	"sync"
)

// maxPrompts bounds of how many sessions the last prompt is kept. A prompt is no
// larger than an event may be.
const maxPrompts = 256

// prompts keeps in memory what the person last wrote in each session.
type prompts struct {
	mu       sync.Mutex
	texts    map[string]string
	sessions []string // the one whose prompt is oldest comes first
}

func newPrompts() *prompts { return &prompts{texts: make(map[string]string)} }

func (p *prompts) note(session, text string) {
	if session == "" {
		return // it would be everybody's
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.sessions, session); i >= 0 {
		p.sessions = slices.Delete(p.sessions, i, i+1)
	} else if len(p.sessions) >= maxPrompts {
		delete(p.texts, p.sessions[0])
		p.sessions = slices.Delete(p.sessions, 0, 1)
	}
	p.sessions = append(p.sessions, session)
	p.texts[session] = text
}

func (p *prompts) last(session string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.texts[session]
}
