package shell_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell"
)

// Hostile texts of the greatest length have to be read in a time that a gate
// can afford; what is over a limit is opaque, never cut off silently.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	fill := func(unit string) string { return strings.Repeat(unit, shell.MaxText/len(unit)-1) }
	nest := func(open, core, shut string, n int) string {
		return strings.Repeat(open, n) + core + strings.Repeat(shut, n)
	}
	for name, text := range map[string]string{
		"substitutions":      nest("$(", "rm", ")", 8000),
		"quoted":             nest(`"$(echo `, "x", `)"`, 3000),
		"backquotes":         fill("`a` "),
		"subshells":          nest("( ", "a", " )", 8000),
		"braces":             fill("{a,b}"),
		"brace ranges":       "echo {1..99999}{1..99999}{1..99999}",
		"brace words":        fill("{a,b,c,d,e,f,g,h} "),
		"commands":           fill("a;"),
		"pipes":              fill("a|"),
		"ands":               fill("a&&") + "a",
		"variables":          fill("x=$x$x;"),
		"loops":              nest("for i in $x a b; do ", "a $i$i$i$i", "; done", 500),
		"loop variables":     "for a in 1 2 3 4 5 6 7 8 9; do for b in $a$a$a; do echo " + fill("$a$b"),
		"defaults":           nest("${a:-", "x", "}", 5000),
		"heredocs":           fill("cat <<A\nx\nA\n"),
		"sh -c":              nest("sh -c '", "x", "'", 2000),
		"eval words":         "eval " + fill("echo "),
		"functions":          fill("f(){ f; };"),
		"slashes":            "cat " + fill("a/"),
		"dots":               "cat " + fill("../"),
		"tildes":             "cat " + fill("~/x "),
		"globs":              "cat " + fill("*/"),
		"redirects":          "a " + fill(">b "),
		"wrappers":           fill("sudo ") + "rm",
		"find":               "find " + fill("a ") + "-exec rm {} " + ";",
		"find exec":          "find " + strings.Repeat("a ", 300) + strings.Repeat("-exec rm {} {} {} ; ", 300),
		"xargs":              "echo " + fill("a ") + "| xargs -I{} echo {} {} {}",
		"arithmetic":         nest("$((1+", "1", "))", 3000),
		"cases":              fill("case a in a) b;; esac;"),
		"process":            nest("cat <(", "a", ")", 3000),
		"unterminated":       fill("'a\" "),
		"doubling":           "x=aaaaaaaa; " + fill("x=$x$x;"),
		"doubling words":     "x=aaaaaaaa; " + strings.Repeat("x=$x$x;", 9) + "echo " + fill("$x"),
		"nested braces":      nest("{a,", "b", "}", 300),
		"xargs product":      "echo " + strings.Repeat("a ", 9000) + "| xargs -I% echo " + strings.Repeat("% ", 9000),
		"find product":       "find " + strings.Repeat("a ", 9000) + "-exec rm " + strings.Repeat("{} ", 9000) + "+",
		"parallel product":   "parallel echo " + strings.Repeat("{} ", 9000) + "::: " + strings.Repeat("a ", 9000),
		"assign and run":     strings.Repeat("x=a; ", 900) + strings.Repeat("$x b;", 900),
		"files":              strings.Repeat("echo 'sh a' > a; sh a;", 900),
		"file that runs":     "echo 'sh a; sh a' > a; sh a",
		"many alternatives":  strings.Repeat("${x:-a}", 4000),
		"printf":             "printf '%s%s%s' " + fill("a "),
		"unknown in heredoc": "bash <<A\n" + fill("$x ") + "\nA",
	} {
		start := time.Now()
		s := analyze(text)
		took := time.Since(start)
		// A tenth of it on an idle machine, and years where it is not linear.
		assert.Less(t, took, 30*time.Second, name)
		assert.LessOrEqual(t, len(s.Commands), shell.MaxCommands+1, name)
		if took > 100*time.Millisecond {
			t.Logf("%s: %s", name, took)
		}
	}
}

// Twice the text takes about twice the time.
func TestLinear(t *testing.T) {
	t.Parallel()
	measure := func(n int) time.Duration {
		text := strings.Repeat("git log | grep x$(pwd) > a/b && cat 'c d' ; ", n)
		best := time.Hour
		for range 5 {
			start := time.Now()
			analyze(text)
			best = min(best, time.Since(start))
		}
		return best
	}
	small, large := measure(20), measure(160)
	assert.Less(t, large, small*8*4, "8 times the text took %s after %s", large, small)
}
