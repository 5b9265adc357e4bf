package claudecode

import (
	"fmt"
	"slices"

	"github.com/grapnel-dev/grapnel/internal/strictjson"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// switches are the keys of a settings file that are about hooks of others.
type switches struct {
	DisableAll  bool      `json:"disableAllHooks"`
	ManagedOnly bool      `json:"allowManagedHooksOnly"`
	URLs        *[]string `json:"allowedHttpHookUrls"`
	Variables   *[]string `json:"httpHookAllowedEnvVars"`
}

// Settle applies what settings files say about all hooks: disableAllHooks,
// allowManagedHooksOnly, allowedHttpHookUrls and httpHookAllowedEnvVars. A file
// has a say over hooks whose source is its own or further down: a managed file
// over all, a person's over their own and those of workspaces, plugins and
// downloads, and a workspace's over its own. So a workspace can take away
// nothing but its own hooks, and managed hooks cannot be turned off from below.
// Where several files limit addresses or variables, what all of them allow is
// allowed. Files whose text is no settings are passed over: Read has said what
// is wrong with them.
//
// The hooks that are disabled stay in the list, with Disabled set; those whose
// address is not allowed are left out, with a problem.
func Settle(files []dialect.Text, hooks []dialect.Hook) ([]dialect.Hook, []dialect.Problem) {
	var problems []dialect.Problem
	kept := slices.Clone(hooks)
	for _, f := range files {
		var s switches
		if err := strictjson.UnmarshalOpen(f.Text, &s, dialect.MaxFile); err != nil {
			if problem := wrongSwitch(f, err); problem != nil {
				problems = append(problems, *problem)
			}
			continue
		}
		if s.ManagedOnly && f.From.Source != trust.Managed {
			problems = append(problems, dialect.Problem{File: f.From.File, Where: "allowManagedHooksOnly", Text: "it counts in managed settings only"})
			s.ManagedOnly = false
		}
		kept = slices.DeleteFunc(kept, func(h dialect.Hook) bool {
			if !governs(f.From, h.Origin) || h.Type != dialect.TypeHTTP || s.URLs == nil || allowed(*s.URLs, h.URL) {
				return false
			}
			problems = append(problems, dialect.Problem{
				File: h.Origin.File, Where: h.Where, Text: fmt.Sprintf("its address %.200q is not among allowedHttpHookUrls of %s", h.URL, f.From.File),
			})
			return true
		})
		for i := range kept {
			h := &kept[i]
			if s.ManagedOnly && !slices.Contains([]trust.Source{trust.Builtin, trust.Managed}, h.Origin.Source) {
				h.Disabled = true
			}
			if !governs(f.From, h.Origin) {
				continue
			}
			h.Disabled = h.Disabled || s.DisableAll
			if h.Type == dialect.TypeHTTP && s.Variables != nil {
				h.AllowedEnv = slices.DeleteFunc(slices.Clone(h.AllowedEnv), func(name string) bool { return !slices.Contains(*s.Variables, name) })
			}
		}
	}
	return kept, problems
}

// wrongSwitch is the problem with a file whose switches have a wrong type. Text
// that is no JSON at all is Read's to complain about.
func wrongSwitch(f dialect.Text, err error) *dialect.Problem {
	if strictjson.Check(f.Text, dialect.MaxFile) != nil {
		return nil
	}
	return &dialect.Problem{File: f.From.File, Text: "what it says about all hooks cannot be read: " + err.Error()}
}

// governs reports whether a file has a say over a hook that stands elsewhere.
func governs(file, of dialect.Origin) bool {
	switch file.Source {
	case trust.Managed:
		return true
	case trust.User:
		return !slices.Contains([]trust.Source{trust.Builtin, trust.Managed, trust.Session}, of.Source)
	}
	return of.Source == file.Source && of.Workspace == file.Workspace && (file.Source == trust.Workspace || of.File == file.File)
}

// allowed reports whether an address is one of those listed, in which "*"
// stands for any characters.
func allowed(patterns []string, address string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return wildcard(p, address) })
}
