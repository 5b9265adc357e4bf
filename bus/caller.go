package bus

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
)

// requestInfo is the header in which the server says who sent a request that
// came through a service import with sharing. Only there is it the server's
// word: within one account any client can write it.
const requestInfo = "Nats-Request-Info"

// caller names the sender of m, "ACCOUNT/user", or is empty.
func caller(m *nats.Msg) string {
	text := m.Header.Get(requestInfo)
	if text == "" || !strings.HasPrefix(m.Reply, importedReply) {
		return ""
	}
	var info struct {
		Account string `json:"acc"`
		User    string `json:"user"`
		Name    string `json:"name"`
	}
	if err := json.Unmarshal([]byte(text), &info); err != nil {
		return ""
	}
	s := info.Account + "/" + info.User
	if info.Name != "" {
		s += " (" + info.Name + ")"
	}
	return clipSubject(s)
}

func clipSubject(s string) string {
	if len(s) > 256 {
		s = s[:256] + "…"
	}
	return oneLine(s)
}

// oneLine makes text safe for a header or a log line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
}
