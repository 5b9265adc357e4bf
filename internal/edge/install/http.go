package install

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// ErrHTTP is wrapped when hooks cannot be registered to be posted.
var ErrHTTP = errors.New("hooks cannot be posted")

// HTTP is where the daemon takes hooks that an agent posts.
type HTTP struct {
	// Base is "http://HOST:PORT", where HOST is a loopback address or
	// localhost.
	Base string
	// Token is what the daemon has to be shown. It goes into the settings, and
	// into no diff.
	Token string
}

func (h *HTTP) check() error {
	rest, ok := loopback(h.Base)
	if !ok || rest != "" {
		return fmt.Errorf("%w to %q; it has to be http://HOST:PORT with a loopback address and the port", ErrHTTP, h.Base)
	}
	// A "$" would be taken for a variable, a line break for another header.
	if strings.Trim(h.Token, tokenLetters) != "" || h.Token == "" {
		return fmt.Errorf("%w with this token; it has to be letters, digits, - and _", ErrHTTP)
	}
	return nil
}

const tokenLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func (h *HTTP) url(agent, event string) string { return h.Base + "/hook/" + agent + "/" + event }

// CheckHTTP says why an agent's hooks cannot be registered to be posted in a
// scope; the error wraps [ErrHTTP].
func CheckHTTP(agent string, scope Scope) error {
	var posting []string
	for _, t := range jsonTargets() {
		if t.posts() {
			posting = append(posting, t.agent)
		}
	}
	switch {
	case !slices.Contains(posting, agent):
		return fmt.Errorf("%w by %s: it only starts commands; agents that post are %s", ErrHTTP, agent, strings.Join(posting, ", "))
	case scope != User:
		return fmt.Errorf("%w from the %s's settings: the token would stand there, and it must not be committed", ErrHTTP, scope)
	}
	return nil
}

// posts reports whether the agent can post hooks.
func (t target) posts() bool {
	f, ok := t.format.(jsonFormat)
	return ok && f.post != nil
}

// Post is a hook that is posted instead of started.
type Post struct {
	URL string
	// Header is what the entry says; the token is in it.
	Header map[string]string
}

// loopback returns what follows http://HOST:PORT, and whether HOST is this
// machine.
func loopback(address string) (rest string, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.User != nil || u.Port() == "" || u.Port() == "0" {
		return "", false
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", false
	}
	return strings.CutPrefix(address, "http://"+u.Host)
}

// postsTo returns the base of a URL to which our hooks for the agent are
// posted, and whether it is one.
func postsTo(address, agent string) (base string, ours bool) {
	rest, ok := loopback(address)
	event, to := strings.CutPrefix(rest, "/hook/"+agent+"/")
	if !ok || !to || event == "" || strings.ContainsAny(event, "/?#") {
		return "", false
	}
	return strings.TrimSuffix(address, rest), true
}

const (
	authorization = "Authorization"
	bearer        = "Bearer "
)

// postEntry is an entry that is posted, like [shellEntry].
func postEntry(r registration, address, token string, more []member) value {
	return value{members: append([]member{
		{"type", text("http")}, {"url", text(address)},
		{"headers", value{members: []member{{authorization, text(bearer + token)}}}},
		{"timeout", number(r.seconds)},
	}, more...)}
}

// postedByClaude makes the entries of Claude Code. It posts neither Setup nor
// SessionStart, and whether it posts the switch of a model is not known; on
// TaskCompleted and TeammateIdle it is an exit code that stops, and a posted
// hook has none.
func postedByClaude(r registration, address, token string) (value, bool) {
	switch r.event {
	case "Setup", "SessionStart", "PreModelSwitch", "PostModelSwitch", "TaskCompleted", "TeammateIdle":
		return value{}, false
	}
	return postEntry(r, address, token, onGates("onFailure", text("block"))(r)), true
}

// want is what is to be written for an event.
func (f jsonFormat) want(s *Settings, r registration) value {
	if s.http != nil && f.post != nil {
		if v, ok := f.post(r, s.http.url(s.target.agent, r.event), s.http.Token); ok {
			return v
		}
	}
	return f.entry(r, s.line(r.event))
}

// posted reads an entry that is posted.
func (d *document) posted(e *entry, object *hujson.Object) {
	e.post = &Post{URL: textOf(object, "url"), Header: map[string]string{}}
	_, e.ours = postsTo(e.post.URL, d.agent)
	headers, ok := member0(object, "headers").(*hujson.Object)
	if !ok {
		return
	}
	for _, m := range headers.Members {
		name, _ := m.Name.Value.(hujson.Literal)
		if literal, ok := m.Value.Value.(hujson.Literal); ok && literal.Kind() == '"' {
			e.post.Header[name.String()] = literal.String()
			if e.ours && strings.EqualFold(name.String(), authorization) {
				e.secret = string(literal)
			}
		}
	}
}

// doesPost is [document.does] for an entry that is posted: wherever it is
// posted to, and with whatever token.
func (d *document) doesPost(e entry, r registration) bool {
	base, _ := postsTo(e.post.URL, d.agent)
	token, ok := strings.CutPrefix(e.post.Header[authorization], bearer)
	h := HTTP{Base: base, Token: token}
	want, takes := d.format.post(r, h.url(d.agent, r.event), token)
	return ok && takes && h.check() == nil && d.does(e, want)
}

// secrets lists the literals in the entries that a diff must not show.
func secrets(entries []entry) []string {
	var list []string
	for _, e := range entries {
		if e.secret != "" && !slices.Contains(list, e.secret) {
			list = append(list, e.secret)
		}
	}
	return list
}

// shownSecret stands for each of them.
const shownSecret = `"Bearer …"`

// tighten keeps others from reading a file that gets the token, and says what
// that changes.
func (c *Change) tighten() (notes []string) {
	if runtime.GOOS != "windows" {
		c.mode &^= others
	}
	if c.Old != nil && c.mode != c.was {
		notes = append(notes, fmt.Sprintf("%s gets mode %04o instead of %04o: the token stands in it, and others could read it", c.Path, c.mode, c.was))
	}
	if c.Target != c.Path {
		notes = append(notes, fmt.Sprintf("%s is a symbolic link: the token stands in %s, which must not be committed", c.Path, c.Target))
	}
	return notes
}

// others are the permissions of those whom the token does not concern.
const others fs.FileMode = 0o077
