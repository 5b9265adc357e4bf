package dialects

import (
	"github.com/grapnel-dev/grapnel/subscribers/command/claudeagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/claudecode"
	"github.com/grapnel-dev/grapnel/subscribers/command/cliagent"
	"github.com/grapnel-dev/grapnel/subscribers/command/codeforge"
	"github.com/grapnel-dev/grapnel/subscribers/command/codemie"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/native"
	"github.com/grapnel-dev/grapnel/subscribers/command/ollm"
)

// All returns every dialect, each a fresh value.
func All() []*dialect.Dialect {
	return []*dialect.Dialect{
		native.New(),
		claudecode.New(),
		cliagent.New(nil),
		claudeagent.New(),
		codemie.New(),
		ollm.New(),
		codeforge.New(),
	}
}

// Find returns the dialect of that name.
func Find(name string) (*dialect.Dialect, bool) {
	for _, d := range All() {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}

// Names lists the dialects' names.
func Names() []string {
	var list []string
	for _, d := range All() {
		list = append(list, d.Name)
	}
	return list
}
