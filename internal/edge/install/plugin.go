package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// pluginFormat is one file of ours, a program that the agent loads, with the
// command line of the hook in it as a JSON array of words.
type pluginFormat struct {
	// text makes the file for a command line without the event's name.
	text func(argv []string) []byte
}

// pluginCommand stands before the command line in the file.
const pluginCommand = "const command = "

func (f pluginFormat) plan(s *Settings, path string, wanted []registration) ([]*Change, []string, error) {
	change, err := read(path)
	if err != nil {
		return nil, nil, err
	}
	ours := f.argv(s, change.Old) != nil
	if len(wanted) == 0 {
		if change.New = change.Old; ours {
			change.New = nil
		}
		return []*Change{change}, nil, nil
	}
	if change.Old != nil && !ours {
		return nil, nil, fmt.Errorf("%s: %w: it is not of our making; move it away", path, ErrSettings)
	}
	change.New = f.text(append(append([]string{s.binary}, s.flags...), s.target.agent))
	return []*Change{change}, nil, nil
}

// argv is the command line in a file of ours, nil for what is not.
func (f pluginFormat) argv(s *Settings, text []byte) []string {
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte(pluginCommand))
		if !ok {
			continue
		}
		var argv []string
		err := json.NewDecoder(bytes.NewReader(rest)).Decode(&argv)
		if err != nil || !isOurs(argv, s.binary, s.target.agent) {
			return nil
		}
		return argv
	}
	return nil
}

func (f pluginFormat) read(s *Settings, path string, out *FileStatus) {
	change, err := read(path)
	if err != nil {
		out.Exists, out.Err = true, err
		return
	}
	out.Exists = change.Old != nil
	argv := f.argv(s, change.Old)
	if argv == nil {
		return
	}
	same := bytes.Equal(change.Old, f.text(argv))
	var line []string
	for _, word := range argv {
		line = append(line, quote(word))
	}
	for _, r := range registrations(s.target.agent, false) {
		out.add(s, r.event, strings.Join(append(line, r.event), " "), argv[0], func(registration) bool { return same })
	}
}
