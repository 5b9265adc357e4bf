package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// inspectCodex looks into config.toml, where hooks can be switched off, and
// where the hooks that the person trusts are listed.
func inspectCodex(in *inspection) {
	user := in.Files[0]
	path := filepath.Join(filepath.Dir(user.Path), "config.toml")
	tables, err := tomlTables(path)
	if err != nil {
		in.problem("%s: %v; whether hooks are on and trusted cannot be said", path, err)
		return
	}
	for _, key := range []string{"hooks", "codex_hooks"} {
		if tables["features"][key] == "false" {
			in.problem("%s has %s = false in [features]: no hook fires; remove the key", path, key)
		}
	}
	for _, f := range in.Files {
		untrusted, off := in.untrusted(f, tables)
		if len(untrusted) > 0 {
			in.problem("%s: Codex skips %s without a word until you have trusted the hooks: start codex and open /hooks", f.Path, strings.Join(untrusted, ", "))
		}
		if len(off) > 0 {
			in.problem("%s: %s is switched off in /hooks; switch it on there", f.Path, strings.Join(off, ", "))
		}
		if len(f.Lines) > 0 && len(untrusted) == 0 {
			in.note("%s: all hooks have been trusted once; one that has changed since is skipped until it is trusted again, which only /hooks shows", f.Path)
		}
	}
}

// untrusted lists the events whose entries have no hash on record, and those
// that are switched off. Which hash is right only Codex can say.
func (in *inspection) untrusted(f FileStatus, tables map[string]map[string]string) (untrusted, off []string) {
	change, err := read(f.Path)
	format, ok := in.settings.target.format.(jsonFormat)
	if err != nil || change.Old == nil || f.Err != nil || !ok {
		return nil, nil
	}
	d, err := parse(change.Old, format, in.Agent, "")
	if err != nil {
		return nil, nil
	}
	entries, err := d.entries()
	if err != nil {
		return nil, nil
	}
	for _, e := range entries {
		if !e.ours {
			continue
		}
		// hooks.json:event:group:entry; both spellings of events count.
		end := fmt.Sprintf(":%d:%d", e.way[2].index, e.way[4].index)
		var state map[string]string
		for _, name := range []string{e.event, snake(e.event)} {
			for _, file := range []string{f.Path, change.Target} {
				if t, ok := tables[tomlPath("hooks", "state", file+":"+name+end)]; ok {
					state = t
				}
			}
		}
		switch {
		case tomlString(state["trusted_hash"]) == "":
			untrusted = append(untrusted, e.event)
		case state["enabled"] == "false":
			off = append(off, e.event)
		}
	}
	return slices.Compact(untrusted), slices.Compact(off)
}

// tomlTables reads a TOML file that need not be there: values as they are
// written, by table and key.
func tomlTables(path string) (map[string]map[string]string, error) {
	change, err := read(path)
	if err != nil {
		return nil, err
	}
	statements, err := scanTOML(strings.TrimPrefix(string(change.Old), byteOrderMark))
	if err != nil {
		return nil, err
	}
	tables := map[string]map[string]string{}
	var table []string
	var put func(key []string, value string)
	put = func(key []string, value string) {
		if strings.HasPrefix(value, "{") {
			for _, st := range inlineTable(value) {
				put(slices.Concat(key, st.key), st.value)
			}
			return
		}
		name := tomlPath(key[:len(key)-1]...)
		if tables[name] == nil {
			tables[name] = map[string]string{}
		}
		tables[name][key[len(key)-1]] = value
	}
	for _, st := range statements {
		if st.header {
			table = st.key
		} else {
			put(slices.Concat(table, st.key), st.value)
		}
	}
	return tables, nil
}

// tomlPath is a table's name as a key of a map.
func tomlPath(key ...string) string { return strings.Join(key, "\x00") }

// snake spells PreToolUse as pre_tool_use.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
