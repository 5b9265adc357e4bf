package install

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// tomlFormat is settings in TOML with one table [[hooks]] for each hook.
type tomlFormat struct{}

// tomlHooks is the name of the tables.
const tomlHooks = "hooks"

// tomlHook is one of the tables.
type tomlHook struct {
	// start is where its line begins, end where the line of its last key ends.
	start, end int
	event      string
	line       string
	ours       bool
	keys       map[string]string // as they are written
}

func (f tomlFormat) plan(s *Settings, path string, wanted []registration) ([]*Change, []string, error) {
	change, err := read(path)
	if err != nil {
		return nil, nil, err
	}
	edited, left, err := f.edit(s, string(change.Old), wanted)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if change.New = []byte(edited); change.Old == nil && edited == "" {
		change.New = nil
	}
	return []*Change{change}, left, nil
}

func (f tomlFormat) edit(s *Settings, old string, wanted []registration) (edited string, left []string, err error) {
	text, bom := strings.CutPrefix(old, byteOrderMark)
	hooks, rest, err := f.hooks(s, text)
	if err != nil {
		return "", nil, err
	}
	var stay []registration
	for _, r := range wanted {
		same := slices.DeleteFunc(slices.Clone(hooks), func(h tomlHook) bool { return !h.ours || h.event != r.event })
		if len(same) == 1 && same[0].does(r) && same[0].line == s.line(r.event) {
			stay = append(stay, r)
		}
	}
	for _, h := range slices.Backward(hooks) {
		switch {
		case h.ours && !slices.ContainsFunc(stay, func(r registration) bool { return r.event == h.event }):
			text = cut(text, h)
		case !h.ours && strings.Contains(h.line, shimName):
			left = append(left, h.event+": "+h.line)
		}
	}
	slices.Reverse(left)
	for _, r := range wanted {
		if !slices.Contains(stay, r) {
			text = addTable(text, f.table(r, s.line(r.event)))
		}
	}
	if err := f.check(s, old, text, rest, wanted); err != nil {
		return "", nil, err
	}
	if bom {
		text = byteOrderMark + text
	}
	return text, left, nil
}

// check reads what was there and what is to be written with a parser that knows
// all of TOML: they may differ in our hooks alone, and these are as wanted.
func (f tomlFormat) check(s *Settings, old, text string, rest []string, wanted []registration) error {
	was, err := f.parse(s, strings.TrimPrefix(old, byteOrderMark))
	if err != nil {
		return notTOML(err)
	}
	is, err := f.parse(s, text)
	if err != nil {
		return fmt.Errorf("%w: with our hooks in it, it would not be TOML (%w)", ErrSettings, err)
	}
	hooks, now, err := f.hooks(s, text)
	if err != nil {
		return err
	}
	hooks = slices.DeleteFunc(hooks, func(h tomlHook) bool { return !h.ours })
	if is.ours != len(wanted) || len(hooks) != len(wanted) || is.others != was.others || !slices.Equal(now, rest) {
		return fmt.Errorf("%w: its hooks are written in a way that is not understood here", ErrSettings)
	}
	return nil
}

// notTOML is an error of the parser, which says where it is.
func notTOML(err error) error {
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, _ := at.Position()
		return fmt.Errorf("%w: line %d: it is not TOML (%w); correct it first", ErrSettings, line, err)
	}
	return fmt.Errorf("%w: it is not TOML (%w); correct it first", ErrSettings, err)
}

// tomlContent is what a file says, ours and everything else apart.
type tomlContent struct {
	ours   int
	others string
}

func (f tomlFormat) parse(s *Settings, text string) (tomlContent, error) {
	var all map[string]any
	if err := toml.Unmarshal([]byte(text), &all); err != nil {
		return tomlContent{}, err
	}
	hooks, ok := all[tomlHooks].([]any)
	if !ok {
		return tomlContent{others: fmt.Sprintf("%#v", all)}, nil
	}
	n := len(hooks)
	hooks = slices.DeleteFunc(hooks, func(one any) bool {
		table, _ := one.(map[string]any)
		line, _ := table["command"].(string)
		return isOurs(words(line), s.binary, s.target.agent)
	})
	if all[tomlHooks] = hooks; n > 0 && len(hooks) == 0 {
		delete(all, tomlHooks)
	}
	return tomlContent{ours: n - len(hooks), others: fmt.Sprintf("%#v", all)}, nil
}

// table is a hook's lines.
func (f tomlFormat) table(r registration, line string) []string {
	return []string{
		"[[" + tomlHooks + "]]", "event = " + tomlText(r.event), "command = " + tomlText(line), "timeout = " + strconv.Itoa(r.seconds),
	}
}

// tomlText is a TOML string; JSON's escapes are TOML's, but for one character.
func tomlText(s string) string { return strings.ReplaceAll(quoted(s), "\x7f", `\u007f`) }

// addTable puts a table at the end, an empty line before it. A newline that
// ends the file goes on ending it.
func addTable(text string, lines []string) string {
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	table := strings.Join(lines, newline)
	if strings.TrimSpace(text) == "" {
		return table + newline
	}
	body, end := text, ""
	for _, n := range []string{"\r\n", "\n"} {
		if before, ok := strings.CutSuffix(text, n); ok {
			body, end = before, n
			break
		}
	}
	return body + newline + newline + table + end
}

// cut takes a table out, and what addTable put before it.
func cut(text string, h tomlHook) string {
	before, after := text[:h.start], text[h.end:]
	if strings.TrimSpace(before) == "" {
		return strings.TrimLeft(after, "\r\n")
	}
	for range 2 {
		shorter, ok := strings.CutSuffix(before, "\r\n")
		if !ok {
			shorter, ok = strings.CutSuffix(before, "\n")
		}
		if !ok {
			break
		}
		before = shorter
	}
	return before + after
}

// hooks lists the tables, and the text of everything that is not one of ours.
func (f tomlFormat) hooks(s *Settings, text string) (list []tomlHook, rest []string, err error) {
	if len(text) > maxSettings {
		return nil, nil, fmt.Errorf("%w: it has %d bytes, at most %d", ErrSettings, len(text), maxSettings)
	}
	if !utf8.ValidString(text) {
		return nil, nil, fmt.Errorf("%w: it is not UTF-8", ErrSettings)
	}
	statements, err := scanTOML(text)
	if err != nil {
		return nil, nil, err
	}
	bad := func(st statement, what string) error {
		return fmt.Errorf("%w: line %d: %s; write each hook as a table [[hooks]]", ErrSettings, lineOf(text, st.start), what)
	}
	var tables [][]statement
	root := true
	for _, st := range statements {
		switch {
		case st.header && st.key[0] == tomlHooks && (len(st.key) > 1 || !st.array):
			return nil, nil, bad(st, "hooks is a table of its own")
		case root && !st.header && st.key[0] == tomlHooks:
			return nil, nil, bad(st, "hooks is a value")
		case st.header:
			root = false
			tables = append(tables, []statement{st})
		case root && len(tables) == 0:
			tables = append(tables, []statement{st})
		default:
			tables[len(tables)-1] = append(tables[len(tables)-1], st)
		}
	}
	for _, table := range tables {
		if h, ok := hookOf(s, text, table); ok {
			list = append(list, h)
			if h.ours {
				continue
			}
		}
		for _, st := range table {
			rest = append(rest, text[st.start:st.end])
		}
	}
	return list, rest, nil
}

func hookOf(s *Settings, text string, table []statement) (tomlHook, bool) {
	if !table[0].array || table[0].key[0] != tomlHooks {
		return tomlHook{}, false
	}
	h := tomlHook{keys: map[string]string{}}
	h.start = strings.LastIndexByte(text[:table[0].start], '\n') + 1
	h.end = table[len(table)-1].end
	if n := strings.IndexByte(text[h.end:], '\n'); n >= 0 {
		h.end += n
		h.end -= len(text[:h.end]) - len(strings.TrimSuffix(text[:h.end], "\r"))
	} else {
		h.end = len(text)
	}
	for _, st := range table[1:] {
		h.keys[strings.Join(st.key, ".")] = st.value
	}
	h.event, h.line = tomlString(h.keys["event"]), tomlString(h.keys["command"])
	h.ours = isOurs(words(h.line), s.binary, s.target.agent)
	return h, true
}

// does reports whether the hook runs for all of its event and long enough. On
// some events any matcher keeps it from running.
func (h tomlHook) does(r registration) bool {
	for key := range h.keys {
		if key != "event" && key != "command" && key != "timeout" {
			return false
		}
	}
	seconds, err := strconv.Atoi(h.keys["timeout"])
	return err == nil && seconds >= r.seconds
}

func (f tomlFormat) read(s *Settings, path string, out *FileStatus) {
	change, err := read(path)
	if err != nil {
		out.Exists, out.Err = true, err
		return
	}
	if out.Exists = change.Old != nil; !out.Exists {
		return
	}
	text := strings.TrimPrefix(string(change.Old), byteOrderMark)
	hooks, _, err := f.hooks(s, text)
	if err == nil {
		if _, err = f.parse(s, text); err != nil {
			err = notTOML(err)
		}
	}
	if err != nil {
		out.Err = fmt.Errorf("%s: %w", path, err)
		return
	}
	for _, h := range hooks {
		if h.ours {
			out.add(s, h.event, h.line, words(h.line)[0], func(r registration) bool { return h.does(r) })
		}
	}
}
