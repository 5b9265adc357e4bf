package codeforge

import (
	"embed"
	"path"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// templateFiles are the built-in templates, in the dialect's own form.
//
//go:embed template/*.json
var templateFiles embed.FS

// Template is a hook that is ready to be used.
type Template struct {
	Name string
	// About is one line for people.
	About string
	// Hook can be registered, or written into a file by [SaveUser].
	Hook dialect.Hook
	// Text is the file that it stands in.
	Text []byte
}

// Templates returns the built-in templates: audit-log, desktop-notification and
// git-auto-commit. None of them runs unless it is configured or registered.
// They put no value of an event into program text.
func Templates() []Template {
	var list []Template
	entries, err := templateFiles.ReadDir("template")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		text, err := templateFiles.ReadFile(path.Join("template", entry.Name()))
		if err != nil {
			continue
		}
		hooks, _ := Read(text, dialect.Origin{File: "builtin:" + entry.Name(), Source: trust.Builtin})
		for _, h := range hooks {
			list = append(list, Template{Name: strings.TrimSuffix(entry.Name(), ".json"), About: h.Description, Hook: h, Text: text})
		}
	}
	slices.SortFunc(list, func(a, b Template) int { return strings.Compare(a.Name, b.Name) })
	return list
}
