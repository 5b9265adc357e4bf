//go:build unix

package main_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// access is what `grapnel up` leaves for this user's other processes.
type access struct {
	Socket    string                `json:"socket"`
	URL       string                `json:"url"`
	Passwords map[natsd.Role]string `json:"passwords"`
}

func (s *site) access() access {
	s.t.Helper()
	text, err := os.ReadFile(s.state("access.json"))
	require.NoError(s.t, err)
	var a access
	require.NoError(s.t, json.Unmarshal(text, &a))
	return a
}

func (a access) dial() (net.Conn, error) { return net.Dial("unix", a.Socket) }

type dialer func() (net.Conn, error)

func (d dialer) Dial(string, string) (net.Conn, error) { return d() }

// plain connects as anybody's NATS client would.
func (s *site) plain(r natsd.Role) *nats.Conn {
	s.t.Helper()
	a := s.access()
	c, err := nats.Connect("nats://grapnel", nats.SetCustomDialer(dialer(a.dial)), nats.UserInfo(string(r), a.Passwords[r]),
		nats.CustomInboxPrefix("_INBOX_"+string(r)), nats.MaxReconnects(0))
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	return c
}

// decider puts somebody on the bus who answers as they please.
func (s *site) decider(name string, answer func(*nats.Conn, *nats.Msg)) {
	s.t.Helper()
	c := s.plain(natsd.Decider)
	_, err := c.QueueSubscribe("decide."+name+".>", name, func(m *nats.Msg) { answer(c, m) })
	require.NoError(s.t, err)
	require.NoError(s.t, c.Flush())
}

// saying answers each question with these bodies, one after another.
func saying(bodies ...string) func(*nats.Conn, *nats.Msg) {
	return func(c *nats.Conn, m *nats.Msg) {
		for _, body := range bodies {
			_ = c.Publish(m.Reply, []byte(body)) // what does not arrive is absent, and the test sees it
		}
	}
}

// TestDecidersThatFail: whatever a decider that must be heard does, a gate is
// denied with the reason, a lifecycle event passes, and both are on record. All
// of them have the right to grant, so that a misread answer would be an allow.
func TestDecidersThatFail(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.up()
	questions := make(chan *nats.Msg, 16)
	const allow = `{"effect":"allow","reason":"fine"}`
	deciders := map[string]struct {
		answer  func(*nats.Conn, *nats.Msg) // nil: there is nobody
		outcome string
	}{
		"absent":       {nil, "absent"},
		"silent":       {saying(), "timeout"},
		"late":         {func(_ *nats.Conn, m *nats.Msg) { questions <- m }, "timeout"},
		"dies":         {func(c *nats.Conn, _ *nats.Msg) { go c.Close() }, "timeout"},
		"garbage":      {saying("yes, do it"), "malformed"},
		"empty":        {saying(""), "malformed"},
		"null":         {saying("null"), "malformed"},
		"list":         {saying("[" + allow + "]"), "malformed"},
		"twice-a-key":  {saying(`{"effect":"deny","effect":"allow"}`), "malformed"},
		"other-case":   {saying(`{"Effect":"allow"}`), "malformed"},
		"long-s":       {saying(`{"effect":"allow","reaſon":"x"}`), "malformed"},
		"unknown-word": {saying(`{"effect":"permit"}`), "malformed"},
		"number":       {saying(`{"effect":1}`), "malformed"},
		"no-effect":    {saying(`{"reason":"fine"}`), "malformed"},
		"unknown-key":  {saying(`{"effect":"allow","decision":"allow"}`), "malformed"},
		"trailing":     {saying(allow + allow), "malformed"},
		"cut":          {saying(allow[:20]), "malformed"},
		"not-utf-8":    {saying("{\"effect\":\"allow\",\"reason\":\"\xff\"}"), "malformed"},
		"huge":         {saying(`{"effect":"allow","reason":"` + strings.Repeat("x", 4<<20) + `"}`), "malformed"},
		"rewrites":     {saying(`{"effect":"allow","rewrite":{"command":"rm -rf /"}}`), "forbidden"},
		"error":        {failing, "crashed"},
	}
	for name, c := range deciders {
		if c.answer != nil {
			s.decider(name, c.answer)
		}
	}
	panics, err := bus.Connect(context.Background(), bus.ConnectOptions{Dial: s.access().dial, User: string(natsd.Decider), Password: s.access().Passwords[natsd.Decider]})
	require.NoError(t, err)
	t.Cleanup(panics.Close)
	_, err = panics.Respond("panics", hook.DeciderFunc(func(context.Context, hook.Event) (hook.Decision, error) { panic("boo") }), nil)
	require.NoError(t, err)
	deciders["panics"] = deciders["error"]
	var names []string
	for name := range deciders {
		names = append(names, name)
		s.grapnel("roster", "set", name, "--filter", "pre_tool_use."+name+", session_start", "--timeout", "300ms", "--grants")
	}
	slices.Sort(names)

	for i, name := range names {
		r := s.hook(ways[i%2], "PreToolUse", call("PreToolUse", name, map[string]string{"x": "y"}))
		denied(t, "PreToolUse", r, name)
		found := s.records("--tool", name)
		require.Len(t, found, 1, name)
		assert.Equal(t, "deny", found[0].Effect, name)
		outcome := ""
		for _, part := range found[0].Deciders {
			if part.Name == name {
				outcome = part.Outcome
			}
		}
		assert.Equal(t, deciders[name].outcome, outcome, name)
	}

	// The answer that came too late changes nothing, and is on record.
	m := <-questions
	require.NoError(t, m.Respond([]byte(allow)))
	require.Eventually(t, func() bool { return len(s.records("--kind", "late")) > 0 }, patience, 20*time.Millisecond)

	// All of them at once about something that must not be held up.
	passed(t, "SessionStart", s.hook(ways[0], "SessionStart", happened("SessionStart")))
	found := s.records("--event", "session_start")
	require.Len(t, found, 1)
	assert.Len(t, found[0].Deciders, len(names)+1)

	assert.Equal(t, "green", s.status().Health)
	s.stop(d)
	s.verified()
}

func failing(c *nats.Conn, m *nats.Msg) {
	_ = c.PublishMsg(&nats.Msg{Subject: m.Reply, Header: nats.Header{"Grapnel-Status": {"error"}}, Data: []byte("I do not know")})
}

// TestTwoAnswers: a decider that answers twice is either repeating itself or
// not to be trusted.
func TestTwoAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.up()
	const allow, deny, abstain = `{"effect":"allow"}`, `{"effect":"deny","reason":"first no"}`, `{"effect":"abstain"}`
	// The slow one answers once the server has everything that the other had
	// to say, so that the gather is still going on.
	said := make(chan struct{}, 1)
	twice := func(bodies ...string) func(*nats.Conn, *nats.Msg) {
		return func(c *nats.Conn, m *nats.Msg) {
			saying(bodies...)(c, m)
			_ = c.Flush()
			said <- struct{}{}
		}
	}
	s.decider("same", twice(allow, allow))
	s.decider("looser", twice(deny, allow))
	s.decider("changed", twice(abstain, allow))
	s.decider("slow", func(_ *nats.Conn, m *nats.Msg) {
		<-said
		_ = m.Respond([]byte(abstain))
	})
	for _, name := range []string{"same", "looser", "changed"} {
		s.grapnel("roster", "set", name, "--filter", "pre_tool_use."+name, "--grants", "--wait-all")
	}
	s.grapnel("roster", "set", "slow", "--filter", "pre_tool_use", "--wait-all")

	r := s.hook(ways[0], "PreToolUse", call("PreToolUse", "same", map[string]string{}))
	oneDocument(t, r)
	assert.True(t, told("PreToolUse", r).Granted, "%s", r)
	for _, name := range []string{"looser", "changed"} {
		denied(t, "PreToolUse", s.hook(ways[0], "PreToolUse", call("PreToolUse", name, map[string]string{})), "two different answers")
	}
	s.stop(d)
	s.verified()
}

// TestStopsAreNotBlockedForEver: who never lets an agent stop is overruled.
func TestStopsAreNotBlockedForEver(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.up()
	s.decider("never", saying(`{"effect":"deny","reason":"go on"}`))
	s.grapnel("roster", "set", "never", "--filter", "stop")
	stop := `{"session_id":"s","hook_event_name":"Stop","cwd":"/tmp","prompt_id":"turn","stop_hook_active":true}`
	for range 2 {
		r := s.hook(ways[0], "Stop", stop)
		oneDocument(t, r)
		assert.True(t, told("Stop", r).Continued, "%s", r)
	}
	passed(t, "Stop", s.hook(ways[0], "Stop", stop))
	found := s.records("--event", "stop")
	require.Len(t, found, 3)
	assert.Equal(t, []string{"abstain", "deny", "deny"}, []string{found[0].Effect, found[1].Effect, found[2].Effect}, "the newest first")
	s.stop(d)
}
