package settings

import (
	"path/filepath"
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// Kind says what a file is, by its path.
type Kind int

// The kinds.
const (
	// Settings is settings.json and its like.
	Settings Kind = iota
	// Plugin is hooks/hooks.json below a plugin's directory.
	Plugin
	// Skill is a skill's SKILL.md.
	Skill
	// Subagent is a sub-agent's Markdown file.
	Subagent
)

// KindOf tells a file's kind from its path.
func KindOf(path string) Kind {
	switch name := filepath.Base(path); {
	case name == "SKILL.md":
		return Skill
	case strings.HasSuffix(name, ".md"):
		return Subagent
	case name == "hooks.json" && filepath.Base(filepath.Dir(path)) == "hooks":
		return Plugin
	}
	return Settings
}

// File is one file, ready for a reader of JSON.
type File struct {
	Kind Kind
	// JSON is the text to read. It is as it was for files that are JSON.
	JSON []byte
	// From is the origin, with Base set to the directory of the plugin, the
	// skill or the sub-agents.
	From dialect.Origin
	// Name is the sub-agent whose file it is.
	Name string
}

// Open makes a file ready. The error is about front matter that cannot be read
// and names the line; a Markdown file without hooks is no error.
func Open(text []byte, from dialect.Origin) (File, error) {
	f := File{Kind: KindOf(from.File), JSON: text, From: from}
	switch f.Kind {
	case Plugin:
		f.From.Base = filepath.Dir(filepath.Dir(from.File))
	case Skill, Subagent:
		f.From.Base = filepath.Dir(from.File)
		var err error
		if f.JSON, f.Name, err = frontMatter(text); err != nil {
			return f, err
		}
		if f.Name == "" {
			f.Name = strings.TrimSuffix(filepath.Base(from.File), ".md")
		}
	}
	if f.Kind != Subagent {
		f.Name = ""
	}
	return f, nil
}

// Selects reports whether the hooks of the file are for a call: those of a
// sub-agent's file are for the events of that sub-agent.
func (f File) Selects(c *dialect.Call) bool {
	if f.Kind != Subagent {
		return true
	}
	s := c.Event.Data.Subagent
	return s != nil && s.Type == f.Name
}
