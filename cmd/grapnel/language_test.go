//go:build unix

package main_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/schemas"
)

// languagePage is the page about agents in any language. Comments in it mark
// what this test looks at:
//
//	<!-- sends: deny, receipt -->  the next block sends messages that are so answered
//	<!-- reply: deny -->           the next block is such an answer
//	<!-- members: verdict -->      the next table has all members of that schema
//	<!-- gates -->                 the next paragraph names all gates
//	<!-- tokens -->                the next table has tools and their subjects
const languagePage = "../../internal/docs/any-language.md"

// pageMessage is one message of the page, as its block would send it.
type pageMessage struct {
	subject string // empty over HTTP
	header  map[string]string
	body    []byte
	want    string // the answer's kind
	block   string
}

func (m pageMessage) id(t *testing.T) string {
	if id := m.header["ce-id"]; id != "" {
		return id
	}
	var e struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal(m.body, &e), "%s", m.body)
	require.NotEmpty(t, e.ID, m.block)
	return e.ID
}

// TestAnyLanguage sends what the page says, as it says it, to the built program
// and holds the answers against those on the page.
func TestAnyLanguage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(languagePage)
	require.NoError(t, err)
	page := string(text)
	replies := make(map[string]any)
	for _, m := range regexp.MustCompile("(?s)<!-- reply: (\\w+) -->\n```json\n(.*?)```").FindAllStringSubmatch(page, -1) {
		var v any
		require.NoError(t, json.Unmarshal([]byte(m[2]), &v), m[2])
		replies[m[1]] = v
	}
	require.Len(t, replies, 3)

	s := newSite(t)
	d := s.up("--nats-listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	var access struct { // as the page says
		URL       string            `json:"url"`
		HTTP      string            `json:"http"`
		Passwords map[string]string `json:"passwords"`
	}
	text, err = os.ReadFile(s.state("access.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &access))
	token, err := os.ReadFile(s.state("http.token"))
	require.NoError(t, err)
	require.Contains(t, page, `inbox_prefix="_INBOX_agent"`)
	nc, err := nats.Connect(access.URL, nats.UserInfo("agent", access.Passwords["agent"]), nats.CustomInboxPrefix("_INBOX_agent"))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
	t.Cleanup(client.CloseIdleConnections)

	count := make(map[string]int)
	for _, m := range pageMessages(t, page) {
		count[m.want]++
		var answer []byte
		var refused bool
		if m.subject != "" {
			msg := nats.NewMsg(m.subject)
			for name, value := range m.header {
				msg.Header[name] = []string{value}
			}
			msg.Data = m.body
			reply, err := nc.RequestMsg(msg, patience)
			require.NoError(t, err, m.block)
			answer, refused = reply.Data, reply.Header.Get("Nats-Service-Error") != ""
		} else {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, access.HTTP+"/events", bytes.NewReader(m.body))
			require.NoError(t, err)
			r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
			for name, value := range m.header {
				r.Header.Set(name, value)
			}
			response, err := client.Do(r)
			require.NoError(t, err)
			answer, err = io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			assert.Equal(t, map[string]int{"deny": http.StatusOK, "receipt": http.StatusAccepted}[m.want], response.StatusCode, "%s\n%s", m.block, answer)
		}
		assert.Equal(t, m.want == "refused", refused, "%s\n%s", m.block, answer)
		var got any
		require.NoError(t, json.Unmarshal(answer, &got), "%s", answer)
		require.Contains(t, replies, m.want)
		assert.Equal(t, m.id(t), got.(map[string]any)["event_id"])
		assert.Equal(t, anyMeasured(replies[m.want]), anyMeasured(got), "what the page says comes back for\n%s", m.block)
	}
	assert.Equal(t, map[string]int{"deny": 4, "receipt": 2, "refused": 1}, count, "every example of the page is sent")
	s.stop(d)
	s.verified()
}

// anyMeasured is v without what is another one each time.
func anyMeasured(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = anyMeasured(v[i])
		}
	case map[string]any:
		for name := range v {
			switch name {
			case "event_id", "event_digest", "input_digest", "time":
				if s, ok := v[name].(string); ok && s != "" {
					v[name] = "a text"
				}
			case "elapsed_us", "record", "sequence":
				if _, ok := v[name].(float64); ok {
					v[name] = "a number"
				}
			default:
				v[name] = anyMeasured(v[name])
			}
		}
	}
	return v
}

// pageMessages reads the messages out of the page's marked blocks.
func pageMessages(t *testing.T, page string) []pageMessage {
	var list []pageMessage
	blocks := regexp.MustCompile("(?s)<!-- sends: ([\\w, ]+) -->\n```(\\w+)\n(.*?)```").FindAllStringSubmatch(page, -1)
	require.Equal(t, strings.Count(page, "<!-- sends:"), len(blocks), "every mark stands right above a block")
	for _, b := range blocks {
		want, block := strings.Split(b[1], ", "), computed(b[3])
		var found []pageMessage
		switch {
		case strings.Contains(block, "curl "):
			found = []pageMessage{fromCurl(t, block)}
		case strings.Contains(block, "nats request "):
			m := regexp.MustCompile(`(?s)nats request .*? (hooks\.\S+) \\\n  '(\{.*\})'`).FindStringSubmatch(block)
			require.NotNil(t, m, block)
			require.Contains(t, block, "--inbox-prefix _INBOX_agent")
			found = []pageMessage{{subject: m[1], body: []byte(m[2])}}
		default:
			found = fromProgram(t, block)
		}
		require.Len(t, found, len(want), block)
		for i, m := range found {
			m.want, m.block = want[i], b[3]
			list = append(list, m)
		}
	}
	return list
}

// computed puts values in place of the few expressions that the page's programs
// have in what they send. What else is no literal is found when it is read.
func computed(block string) string {
	id := func() string { return rand.Text() }
	soon := func() string { return time.Now().Add(10 * time.Second).UTC().Format("2006-01-02T15:04:05.000Z07:00") }
	for _, e := range []struct {
		expression, before, after string
		value                     func() string
	}{
		{`str(uuid.uuid4())`, `"`, `"`, id},
		{`randomUUID()`, `"`, `"`, id},
		{`'"$(new_id)"'`, "", "", id},
		{`$(new_id)`, "", "", id},
		{`soon(10)`, `"`, `"`, soon},
		{`new Date(Date.now() + 10_000).toISOString()`, `"`, `"`, soon},
	} {
		for strings.Contains(block, e.expression) {
			block = strings.Replace(block, e.expression, e.before+e.value()+e.after, 1)
		}
	}
	return block
}

func fromCurl(t *testing.T, block string) pageMessage {
	require.Contains(t, block, "/events ")
	require.Contains(t, block, `"Authorization: Bearer $(cat "$state/http.token")"`)
	m := pageMessage{header: make(map[string]string)}
	for _, h := range regexp.MustCompile(`-H ['"]([A-Za-z-]+): ([^'"$]+)['"]`).FindAllStringSubmatch(block, -1) {
		m.header[h[1]] = h[2]
	}
	body := regexp.MustCompile(`--data-binary '(\{.*\})'`).FindStringSubmatch(block)
	require.NotNil(t, body, block)
	m.body = []byte(body[1])
	return m
}

// fromProgram finds the objects that a program sends, and the subjects that it
// sends them on, in that order.
func fromProgram(t *testing.T, block string) []pageMessage {
	type found struct {
		at     int
		name   string
		object json.RawMessage
	}
	var objects []found
	for _, at := range regexp.MustCompile(`(?m)^ *(?:const )?(event|told|attributes|data) = \{`).FindAllStringSubmatchIndex(block, -1) {
		f := found{at: at[0], name: block[at[2]:at[3]]}
		require.NoError(t, json.NewDecoder(strings.NewReader(block[at[1]-1:])).Decode(&f.object), "%s of\n%s", f.name, block)
		objects = append(objects, f)
	}
	var list []pageMessage
	for _, at := range regexp.MustCompile(`"(hooks\.[^"]+)"`).FindAllStringSubmatchIndex(block, -1) {
		m := pageMessage{subject: block[at[2]:at[3]]}
		for len(objects) > 0 && objects[0].at < at[0] {
			if objects[0].name == "attributes" {
				require.NoError(t, json.Unmarshal(objects[0].object, &m.header))
			} else {
				require.Nil(t, m.body, "two bodies for one subject in\n%s", block)
				m.body = objects[0].object
			}
			objects = objects[1:]
		}
		list = append(list, m)
	}
	require.Empty(t, objects, "each object has its subject")
	return list
}

// TestAnyLanguageNamesEverything: the page's lists are those of the code.
func TestAnyLanguageNamesEverything(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(languagePage)
	require.NoError(t, err)
	page := string(text)
	quoted := regexp.MustCompile("`([^`]+)`")
	after := func(mark string) string {
		_, rest, ok := strings.Cut(page, mark+"\n")
		require.True(t, ok, mark)
		part, _, _ := strings.Cut(rest, "\n\n")
		return part
	}

	var gates, want []string
	for _, m := range quoted.FindAllStringSubmatch(after("<!-- gates -->"), -1) {
		gates = append(gates, m[1])
	}
	for _, n := range hook.Names() {
		if n.Class() == hook.Gate {
			want = append(want, string(n))
		}
	}
	assert.ElementsMatch(t, want, gates, "gates")

	var members []string
	for row := range strings.SplitSeq(after("<!-- members: verdict -->"), "\n") {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
			members = append(members, m[1])
		}
	}
	schema, err := schemas.Read("verdict")
	require.NoError(t, err)
	var described struct {
		Properties map[string]any `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(schema, &described))
	want = nil
	for name := range described.Properties {
		want = append(want, name)
	}
	slices.Sort(want)
	assert.ElementsMatch(t, want, members, "members of a verdict")

	rows := regexp.MustCompile("(?m)^\\| (?:`([^`]+)`|none) \\| `(hooks\\.[^`]+)` \\|$").FindAllStringSubmatch(after("<!-- tokens -->"), -1)
	require.Len(t, rows, 4)
	for _, row := range rows {
		assert.Equal(t, bus.HookSubject(hook.Event{Name: hook.PreToolUse, Subject: row[1]}), row[2], "subject of %q", row[1])
	}
	for _, kind := range hook.Kinds() {
		assert.Contains(t, page, string(kind), "kinds")
	}
	for _, extension := range []string{hook.ParentAgentExtension, hook.ParentSessionExtension, hook.RootSessionExtension} {
		assert.Contains(t, page, "`"+extension+"`", "extensions")
	}
}
