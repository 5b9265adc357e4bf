package shell_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// FuzzShellFacts looks for texts that end the analysis or make it slow, and
// holds every result to what Script promises.
func FuzzShellFacts(f *testing.F) {
	table, err := os.ReadFile("../default_test.yaml")
	require.NoError(f, err)
	for line := range strings.Lines(string(table)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "- \""); ok && len(text) < 400 {
			f.Add(strings.TrimSuffix(text, `"`))
		}
	}
	for _, text := range []string{
		"", "\x00", "a\rb", "$(((((", "`\\`\\\\`", "<<A\nA", "${a:-${b:-${c}}}", "{a,b}{1..99}{c,d}", "x[$(rm)]=1", "a=(1 2) b+=3",
		"case a in (b|c) d;; esac", "function f() { f | f& }", "select x in a; do :; done", "[[ a =~ $(b) ]]", "((a[$(b)]))", "find . -exec sh -c 'x {}' \\;",
		"xargs -I{} sh -c '{}'", "env -S 'a b' c", "sudo -u", "git -c alias.x='!y' x", "bash <<< \"$(cat)\"", "timeout", "ssh h rm -rf /",
	} {
		f.Add(text)
	}
	roots := place.Roots{Workspace: "/home/dev/project", Home: "/home/dev", Temp: []string{"/tmp"}}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		s := shell.Analyze(text, "/home/dev/project", place.NewResolver(roots), roots)
		require.Less(t, time.Since(start), 5*time.Second)
		require.LessOrEqual(t, len(s.Commands), shell.MaxCommands+1)
		require.Equal(t, s.Opaque, len(s.Reasons) > 0)
		for _, c := range s.Commands {
			require.NotEmpty(t, c.Argv)
			if c.Name == "" && c.Argv[0] != "" {
				require.True(t, c.Opaque() || strings.HasSuffix(c.Argv[0], "/") || strings.HasSuffix(c.Argv[0], "\\") || c.Argv[0] == "=", "%q", c.Argv)
			}
			if c.Opaque() {
				require.True(t, s.Opaque)
			}
			require.Contains(t, s.Named(c.Name), c)
		}
		for _, p := range s.Paths {
			if p.Real(); p.Unknown {
				require.False(t, p.InWorkspace() || p.InHome() || p.InTemp(), "an unknown path is nowhere")
				continue
			}
			require.True(t, strings.HasPrefix(p.Abs, "/"), "%q", p.Abs)
			require.NotContains(t, strings.Split(p.Abs, "/"), "..")
		}
	})
}
