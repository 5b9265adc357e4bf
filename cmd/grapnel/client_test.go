//go:build unix

package main_test

import (
	"encoding/json"
	"net"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// structured is a CloudEvent as one JSON document, written by hand.
func structured(id, kind, tool, data string) string {
	return `{"specversion":"1.0","id":"` + id + `","source":"/here/my-agent","type":"dev.grapnel.hook.` + kind + `.v1","subject":"` + tool + `",` +
		`"datacontenttype":"application/json","sessionid":"of-my-agent","data":` + data + `}`
}

// TestAnyNATSClient: whoever has the agents' password and a NATS client gets
// verdicts and receipts; there is nothing of grapnel in this test but the
// daemon's process.
func TestAnyNATSClient(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.up("--nats-listen", "127.0.0.1:0")
	stdout, _ := d.said()
	address := regexp.MustCompile(`nats://127\.0\.0\.1:\d+`).FindString(stdout)
	require.NotEmpty(t, address, stdout)
	password := s.access().Passwords["agent"]
	agent, err := nats.Connect(address, nats.UserInfo("agent", password), nats.CustomInboxPrefix("_INBOX_agent"))
	require.NoError(t, err)
	t.Cleanup(agent.Close)

	const remove = `{"tool":{"name":"Bash","kind":"shell","input":{"command":"rm -rf /"}}}`
	const list = `{"tool":{"name":"Bash","kind":"shell","input":{"command":"ls"}}}`
	ask := func(subject, body string) *nats.Msg {
		m, err := agent.Request(subject, []byte(body), patience)
		require.NoError(t, err)
		require.True(t, json.Valid(m.Data) || len(m.Data) == 0, "%s", m.Data)
		return m
	}
	type verdict struct {
		EventID string `json:"event_id"`
		Effect  string `json:"effect"`
		Reason  string `json:"reason"`
		Record  *int64 `json:"record"`
	}
	read := func(m *nats.Msg) verdict {
		var v verdict
		require.NoError(t, json.Unmarshal(m.Data, &v), "%s", m.Data)
		return v
	}

	v := read(ask("hooks.pre_tool_use.bash", structured("1", "pre_tool_use", "Bash", remove)))
	assert.Equal(t, "1", v.EventID)
	assert.Equal(t, "deny", v.Effect)
	assert.NotEmpty(t, v.Reason)
	require.NotNil(t, v.Record)
	assert.Equal(t, "abstain", read(ask("hooks.pre_tool_use.bash", structured("2", "pre_tool_use", "Bash", list))).Effect)
	assert.Equal(t, "abstain", read(ask("hooks.stop._", structured("3", "stop", "", `{}`))).Effect)

	// Binary mode: attributes in headers, data as it is.
	m := nats.NewMsg("hooks.pre_tool_use.bash")
	for name, value := range map[string]string{
		"ce-specversion": "1.0", "ce-id": "4", "ce-source": "/here/my-agent", "ce-type": "dev.grapnel.hook.pre_tool_use.v1",
		"ce-subject": "Bash", "content-type": "application/json",
	} {
		m.Header[name] = []string{value}
	}
	m.Data = []byte(remove)
	answer, err := agent.RequestMsg(m, patience)
	require.NoError(t, err)
	assert.Equal(t, "deny", read(answer).Effect)

	// What has happened gets a receipt, and is stored.
	var receipt struct {
		EventID  string `json:"event_id"`
		Stream   string `json:"stream"`
		Sequence uint64 `json:"sequence"`
	}
	require.NoError(t, json.Unmarshal(ask("hooks.post_tool_use.bash", structured("5", "post_tool_use", "Bash", list)).Data, &receipt))
	assert.Equal(t, "5", receipt.EventID)
	assert.Equal(t, "NOTIFY", receipt.Stream)
	assert.EqualValues(t, 1, receipt.Sequence)

	// What is no event, or comes on another event's subject, is never an allow.
	for name, body := range map[string]string{
		"nothing": "", "no JSON": "rm -rf /", "half": structured("6", "pre_tool_use", "Bash", list)[:50],
		"a key twice":      structured("7", "pre_tool_use", "Bash", `{"tool":{"name":"Bash","kind":"search","kind":"shell","input":{"command":"ls"}}}`),
		"another event":    structured("8", "stop", "Bash", `{}`),
		"a notification":   structured("9", "post_tool_use", "Bash", list),
		"another tool":     structured("10", "pre_tool_use", "Read", list),
		"an unknown type":  structured("12", "no_such_event", "Bash", list),
		"another version":  `{"specversion":"0.3","id":"13","source":"/x","type":"dev.grapnel.hook.pre_tool_use.v1","subject":"Bash","data":` + list + `}`,
		"without a source": `{"specversion":"1.0","id":"14","type":"dev.grapnel.hook.pre_tool_use.v1","subject":"Bash","data":` + list + `}`,
	} {
		m := ask("hooks.pre_tool_use.bash", body)
		if m.Header.Get("Nats-Service-Error") == "" {
			assert.Equal(t, "deny", read(m).Effect, "%s: %s", name, m.Data)
		}
	}
	refused := s.records("--kind", "refused")
	assert.NotEmpty(t, refused)

	// The password of agents is good for that and nothing else.
	_, err = nats.Connect(address)
	require.Error(t, err)
	_, err = nats.Connect(address, nats.UserInfo("gateway", password))
	require.Error(t, err)
	errs := make(chan error, 16)
	agent.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { errs <- err })
	_, err = agent.SubscribeSync("decide.>")
	require.NoError(t, err)
	require.NoError(t, agent.Publish("decide.policy.pre_tool_use.bash", nil))
	require.NoError(t, agent.Publish("$JS.API.STREAM.DELETE.NOTIFY", nil))
	for range 3 {
		select {
		case err := <-errs:
			assert.ErrorIs(t, err, nats.ErrPermissionViolation)
		case <-time.After(patience):
			require.Fail(t, "the broker permits what agents must not do")
		}
	}
	assert.Equal(t, "abstain", read(ask("hooks.pre_tool_use.bash", structured("20", "pre_tool_use", "Bash", list))).Effect)
	s.stop(d)
	s.verified()
}

// TestListensNowhere: without --nats-listen there is no port at all.
func TestListensNowhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	d := s.up()
	assert.Empty(t, s.access().URL)
	assert.Empty(t, listening(t, d.pid()))
	s.stop(d)
	d = s.up("--nats-listen", "127.0.0.1:0")
	u, err := url.Parse(s.access().URL)
	require.NoError(t, err)
	host, _, err := net.SplitHostPort(u.Host)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1", host)
	s.stop(d)
}

// TestBrokerThatCaptures: a stream over a request subject answers the request
// with its own acknowledgement, so such a broker is refused.
func TestBrokerThatCaptures(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	address, _ := s.broker()
	c, err := nats.Connect(address, nats.UserInfo("gateway", "secret-of-gateway"))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	js, err := jetstream.New(c)
	require.NoError(t, err)
	for _, subject := range []string{"hooks.>", "decide.policy.>", ">"} {
		_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "CAPTURES", Subjects: []string{subject}, NoAck: subject == ">"})
		require.NoError(t, err)
		r := s.run("", "grapnel", "up", "--nats", address)
		assert.Equal(t, 1, r.exit, "%s", r)
		assert.Empty(t, r.stdout)
		assert.Contains(t, r.stderr, "CAPTURES")
		require.NoError(t, js.DeleteStream(t.Context(), "CAPTURES"))
	}
	d := s.up("--nats", address)
	denied(t, "PreToolUse", s.hook(ways[0], "PreToolUse", bash("rm -rf /")))
	s.stop(d)
}
