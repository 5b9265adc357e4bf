package place_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

func resolver() *place.Resolver {
	return place.NewResolver(place.Roots{Workspace: "/home/dev/ws", Home: "/home/dev", Temp: []string{"/tmp"}, Protected: []string{"/home/dev/state"}})
}

func TestWhere(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"a":                "workspace home",
		".":                "workspace home covers-workspace",
		"..":               "home covers-workspace covers-home",
		"../..":            "system covers-workspace covers-home",
		"/":                "system covers-workspace covers-home",
		"/*":               "system covers-workspace covers-home",
		"/home/*":          "system covers-workspace covers-home",
		"/h*":              "system covers-workspace covers-home",
		"/home/dev/w?":     "home covers-workspace",
		"*":                "workspace home covers-workspace",
		"a/*":              "workspace home",
		"/home/dev/wsx":    "home",
		"/tmp/x":           "temp",
		"/tmp":             "",
		"/tmp/*":           "",
		"/etc/x":           "system",
		"/data/x":          "",
		"/dev/sda":         "system device",
		"/dev/shm/x":       "system",
		"/home/dev/state":  "home protected",
		"/home/dev/state/": "home protected",
		"../state/x":       "home protected",
	} {
		r := resolver()
		p := r.Path(raw, "/home/dev/ws", place.Use)
		if strings.ContainsAny(raw, "*?") {
			p = r.GlobPath(raw, "/home/dev/ws", place.Use)
		}
		var got []string
		for _, w := range []struct {
			name string
			is   bool
		}{{"workspace", p.InWorkspace()}, {"home", p.InHome()}, {"temp", p.InTemp()}, {"system", p.System()}, {"device", p.Device()},
			{"protected", p.Protected()}, {"covers-workspace", p.CoversWorkspace()}, {"covers-home", p.CoversHome()}} {
			if w.is {
				got = append(got, w.name)
			}
		}
		assert.Equal(t, want, strings.Join(got, " "), raw)
	}
	assert.True(t, resolver().Path("a", "", place.Use).Unknown, "without a directory")
	assert.True(t, resolver().Path("a\x00", "/", place.Use).Unknown)
	assert.True(t, resolver().Path(strings.Repeat("a/", 5000), "/", place.Use).Unknown)
}

func TestSets(t *testing.T) {
	t.Parallel()
	set, err := place.NewSet([]string{"~/.ssh", "!~/.ssh/*.pub", ".env", ".env.*", "!.env.example", "/etc/x/**/y", "*.key", ".claude/settings*.json"})
	require.NoError(t, err)
	for raw, want := range map[string]bool{
		"/home/dev/.ssh":                         true,
		"/home/dev/.ssh/id":                      true,
		"/home/dev/.SSH/id":                      true,
		"/home/dev/.ssh/a/b":                     true,
		"/home/dev/.ssh/id.pub":                  false,
		"/home/dev/.sshx":                        false,
		"/home/other/.ssh/id":                    false,
		".env":                                   true,
		"a/.env":                                 true,
		"a/.env/b":                               true,
		".env.local":                             true,
		".env.example":                           false,
		"x.env":                                  false,
		"/etc/x/y":                               true,
		"/etc/x/a/b/y":                           true,
		"/etc/x/a":                               false,
		"a.key":                                  true,
		".key":                                   false,
		".claude/settings.json":                  true,
		"a/.claude/settings.json":                true,
		".claude/x/settings.json":                false,
		".claude/../.claude/settings.local.json": true,
	} {
		assert.Equal(t, want, set.Has(resolver().Path(raw, "/home/dev/ws", place.Read)), raw)
	}
	for raw, want := range map[string]bool{
		"/home/dev/.s*/id": true, "/home/dev/*": false, "/home/dev/.*": true, "/h*/dev/.ssh/id": true, "/home/dev/.[a-z]sh/x": true, "/home/dev/.aws/*": false,
		"*.go": false, "*.key": false, // nothing there
	} {
		assert.Equal(t, want, set.Has(resolver().GlobPath(raw, "/home/dev/ws", place.Read)), raw)
	}
	for raw, want := range map[string]bool{"/home/dev": true, "/home": true, "/": true, "/home/dev/*": true, "/home/dev/ws": false, "/etc": true, "/tmp": false} {
		p := resolver().Path(raw, "", place.Read)
		if strings.Contains(raw, "*") {
			p = resolver().GlobPath(raw, "", place.Read)
		}
		assert.False(t, set.Covered(p), "not recursive")
		p.Recursive = true
		assert.Equal(t, want, set.Covered(p), raw)
	}
	for _, bad := range []string{"", "/", "~", "~/", "~x/y", "a/../b", "**/**/**/x", strings.Repeat("a/", 40)} {
		_, err := place.NewSet([]string{bad})
		require.Error(t, err, bad)
	}
}

// Real is what the kernel makes of a path.
func TestRealIsTheKernels(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, dir := range []string{"a/b/c", "d/e"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	for link, target := range map[string]string{"l1": "a/b", "a/l2": "../d", "d/l3": "../l1/c", "loop": "loop", "abs": filepath.Join(root, "d/e"), "a/b/up": ".."} {
		require.NoError(t, os.Symlink(target, filepath.Join(root, link)))
	}
	r := place.NewResolver(place.Roots{})
	rapid.Check(t, func(t *rapid.T) {
		comps := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "l1", "l2", "l3", "abs", "up", "..", ".", "", "loop"}), 1, 7).Draw(t, "path")
		raw := "./" + strings.Join(comps, "/") // a slash in front would make it absolute
		want, err := filepath.EvalSymlinks(filepath.Join(root, ".") + "/" + raw)
		if err != nil {
			return // what is not there resolves to itself, see below
		}
		p := r.Path(raw, root, place.Read)
		require.Equal(t, want, p.Real(), raw)
	})
	loop := r.Path("loop/x", root, place.Read)
	assert.Empty(t, loop.Real())
	assert.True(t, loop.Unknown)
	assert.Equal(t, path.Join(root, "d/e/new/x"), r.Path("abs/new/x", root, place.Read).Real())
}
