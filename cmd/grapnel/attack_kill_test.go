//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/internal/edge/hookwire"
)

// TestPowerCuts kills the daemon at random moments while hooks are answered,
// starts it again on what is left, and then looks whether every verdict that
// an agent was given is on record, and the record is whole. Agents are given
// verdicts by the hook socket and, now and then, by the hook program itself.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	const rounds, enough, limit = 200, 20, 10 * time.Second
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	s := newSite(t)
	s.configure("start_daemon: false\n")
	given := make(map[string]string) // verdicts by the call's id
	begin := time.Now()
	round := 0
	for ; round < rounds && (round < enough || time.Since(begin) < limit); round++ {
		d := s.up()
		var mu sync.Mutex
		var agents sync.WaitGroup
		for agent := range 4 {
			agents.Go(func() {
				for i := 0; ; i++ {
					id := fmt.Sprintf("call-%d-%d-%d", round, agent, i)
					command, effect := "ls # "+id, "abstain"
					if i%2 == 0 {
						command, effect = "rm -rf / # "+id, "deny"
					}
					answer, ok := s.asked(bash(command), agent == 0 && i == 0 && round%8 == 0)
					if !ok {
						return // the daemon is dead
					}
					assert.Equal(t, effect == "deny", strings.Contains(answer, `"deny"`), answer)
					mu.Lock()
					given[id] = effect
					mu.Unlock()
				}
			})
		}
		select { // that is no wait for anything: it is when the power goes
		case <-time.After(time.Duration(random.IntN(40_000)) * time.Microsecond):
		case <-d.ended:
		}
		d.kill()
		agents.Wait()
	}
	t.Logf("%d rounds, %d verdicts, in %s", round, len(given), time.Since(begin).Round(time.Millisecond))
	require.Greater(t, len(given), round, "agents were answered")

	d := s.up()
	assert.Equal(t, "green", s.status().Health)
	s.stop(d)
	s.verified()
	recorded := make(map[string]string)
	for line := range strings.Lines(s.grapnel("audit", "list", "--json", "-n", "0", "--kind", "verdict")) {
		var r struct {
			Effect  string `json:"effect"`
			Content struct {
				Event struct {
					Data struct {
						Tool struct {
							Input struct {
								Command string `json:"command"`
							} `json:"input"`
						} `json:"tool"`
					} `json:"data"`
				} `json:"event"`
			} `json:"content"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		_, id, ok := strings.Cut(r.Content.Event.Data.Tool.Input.Command, "# ")
		require.True(t, ok, line)
		recorded[id] = r.Effect
	}
	for id, effect := range given {
		if recorded[id] != effect {
			assert.Fail(t, "a verdict without a record", "%s: given %s, recorded %q", id, effect, recorded[id])
		}
	}
}

// asked puts one hook to the daemon as the hook program does, or through it,
// and returns the answer that came from the daemon, if one came.
func (s *site) asked(stdin string, program bool) (string, bool) {
	if program {
		// Without the full binary it has nobody else to ask, and what it says
		// for itself has another shape.
		r := s.hook(ways[0], "PreToolUse", stdin, "--grapnel", s.path("none"))
		return r.stdout, r.stdout == "{}\n" || strings.Contains(r.stdout, "hookSpecificOutput")
	}
	conn, err := net.Dial("unix", s.socket())
	if err != nil {
		return "", false
	}
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(patience)) != nil {
		return "", false
	}
	frame, err := hookwire.AppendRequest(nil, hookwire.Request{Agent: hookwire.ClaudeCode, Event: "PreToolUse", CWD: "/tmp", Stdin: []byte(stdin)})
	if err != nil {
		return "", false
	}
	if _, err := conn.Write(frame); err != nil {
		return "", false
	}
	r, err := hookwire.ReadResponse(conn)
	return string(r.Stdout), err == nil
}
