package install

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// inspectCodex looks into config.toml, where hooks can be switched off, and
// where the hooks that the person trusts are listed.
func inspectCodex(in *inspection) {
	user := in.Files[0]
	path := filepath.Join(filepath.Dir(user.Path), "config.toml")
	config, err := readCodexConfig(path)
	if err != nil {
		in.problem("%s: %v; whether hooks are on and trusted cannot be said", path, err)
		return
	}
	for _, key := range []string{"hooks", "codex_hooks"} {
		if config.Features[key] == false {
			in.problem("%s has %s = false in [features]: no hook fires; remove the key", path, key)
		}
	}
	if len(user.Lines) > 0 && config.inline {
		in.note("%s has hooks, too; Codex runs those and the ones in %s, and warns that there are both", path, user.Path)
	}
	for _, f := range in.Files {
		untrusted, off := in.untrusted(f, config)
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
func (in *inspection) untrusted(f FileStatus, config codexConfig) (untrusted, off []string) {
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
		trusted, on := false, true
		for _, name := range []string{e.event, snake(e.event)} {
			for _, file := range []string{f.Path, change.Target} {
				if state, ok := config.Hooks.State[file+":"+name+end]; ok {
					trusted, on = state.TrustedHash != "", state.Enabled == nil || *state.Enabled
				}
			}
		}
		switch {
		case !trusted:
			untrusted = append(untrusted, e.event)
		case !on:
			off = append(off, e.event)
		}
	}
	return slices.Compact(untrusted), slices.Compact(off)
}

// codexConfig is what concerns hooks in config.toml.
type codexConfig struct {
	Features map[string]any `toml:"features"`
	Hooks    struct {
		State map[string]struct {
			TrustedHash string `toml:"trusted_hash"`
			Enabled     *bool  `toml:"enabled"`
		} `toml:"state"`
	} `toml:"hooks"`

	inline bool // hooks of events stand here, too
}

// readCodexConfig reads a file that need not be there.
func readCodexConfig(path string) (c codexConfig, err error) {
	change, err := read(path)
	if err != nil {
		return c, err
	}
	text := bytes.TrimPrefix(change.Old, []byte(byteOrderMark))
	if err := toml.Unmarshal(text, &c); err != nil {
		return c, err
	}
	var all struct {
		Hooks map[string]any `toml:"hooks"`
	}
	err = toml.Unmarshal(text, &all)
	for key := range all.Hooks {
		c.inline = c.inline || key != "state"
	}
	return c, err
}

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
