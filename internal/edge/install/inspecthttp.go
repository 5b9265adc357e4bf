package install

import (
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// httpNote is what somebody should know whose hooks are posted.
const httpNote = "posted hooks need the bus to run and to listen, with http: {listen: ...} in the configuration: " +
	"when nobody answers, Claude Code blocks gates since version 2.1.295, and older versions let tools run unchecked"

// inspectPosts finds what can be wrong with hooks that are posted.
func inspectPosts(in *inspection) {
	var addresses []string
	for _, f := range slices.Concat(in.Files, in.Managed) {
		if len(f.Posts) == 0 {
			continue
		}
		ways := map[string]bool{}
		for _, list := range f.Posts {
			for _, p := range list {
				base, _ := postsTo(p.URL, in.Agent)
				addresses, ways[base+" "+p.Header[authorization]] = append(addresses, p.URL), true
			}
		}
		if len(ways) > 1 {
			in.problem("%s has hooks posted to different addresses or with different tokens, of which one can be right; install again", f.Path)
		}
		if f.Scope == string(Project) {
			in.problem("%s has posted hooks, with the token for the bus, and is usually committed; take them out with `grapnel uninstall %s --project`", f.Path, in.Agent)
		}
		if c, err := read(f.Path); err == nil && runtime.GOOS != "windows" && c.mode&others != 0 {
			in.problem("%s holds the token for the bus, and its mode %04o lets others read it; chmod 600 it", f.Path, c.mode)
		}
	}
	if len(addresses) == 0 {
		return
	}
	in.note("%s", httpNote)
	in.allowed(addresses)
}

// allowed looks for a list of the addresses to which Claude Code posts, which
// is the one of all its settings together.
func (in *inspection) allowed(addresses []string) {
	var where, patterns []string
	for _, f := range slices.Concat(in.Files, in.Managed) {
		list, ok := in.lookUp(f.Path, "allowedHttpHookUrls").(*hujson.Array)
		if !ok {
			continue
		}
		where = append(where, f.Path)
		for _, one := range list.Elements {
			literal, _ := one.Value.(hujson.Literal)
			patterns = append(patterns, `\A`+strings.ReplaceAll(regexp.QuoteMeta(literal.String()), `\*`, `.*`)+`\z`)
		}
	}
	if len(where) == 0 {
		return
	}
	slices.Sort(addresses)
	for _, address := range slices.Compact(addresses) {
		fits := func(pattern string) bool {
			ok, err := regexp.MatchString(pattern, address)
			return ok && err == nil
		}
		if !slices.ContainsFunc(patterns, fits) {
			base, _ := postsTo(address, in.Agent)
			in.problem("%s has allowedHttpHookUrls without %s: the hook is not posted; add %q", strings.Join(where, " and "), address, base+"/*")
		}
	}
}
