package process_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/grapnel-dev/grapnel/runner/process"
)

func TestText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                               "",
		" plain\ttext\nwith lines \n":    "plain\ttext\nwith lines",
		"Grüße 👋":                        "Grüße 👋",
		"bad \xff\xfe bytes":             "bad \ufffd\ufffd bytes",
		"\x1b[1;31mred\x1b[0m":           "red",
		"\x1b[2J\x1b[H\x1b[?25lclean":    "clean",
		"\x1b]0;title\x07after":          "after",
		"\x1b]8;;http://x\x1b\\link":     "link",
		"\x1bP1$q\x1b\\dcs":              "dcs",
		"\x1b]never ends\nnext line":     "never ends\nnext line",
		"\x1b(Bcharset":                  "charset",
		"\x1b":                           "",
		"\x1b[":                          "",
		"\u009b31mC1":                    "C1",
		"a\x00b\x07c\x08d\x7fe\u0085f":   "abcdef",
		"over\rwritten":                  "over\nwritten",
		"dos\r\nlines":                   "dos\nlines",
		"user\u202etxt.exe\u2066x\u200e": "usertxt.exex",
		"\x1b\x1b[31mtwice":              "twice",
		"\x1b[31\x1b[32mnested":          "nested",
	} {
		assert.Equal(t, want, process.Text([]byte(in), 0), "%q", in)
	}
	assert.Equal(t, "xxxxxxx…", strings.TrimSpace(process.Text([]byte(strings.Repeat("x", 100)), 10)))
	assert.Equal(t, "ää…", process.Text([]byte("ääääää"), 8))
	assert.Len(t, process.Text([]byte(strings.Repeat("x", 10<<20)), 100), 100)
}

// FuzzText holds that nothing which steers a terminal is left, and that what is
// left stays as it is.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "x", "\x1b[31m", "\x1b]0;a\x07", "\xff", "\u009b", "a\r\nb", "\x1b\x1b", "\u202e", "ä"} {
		f.Add([]byte(seed), 10)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		out := process.Text(in, limit)
		if !utf8.ValidString(out) {
			t.Fatalf("%q is not UTF-8", out)
		}
		for _, r := range out {
			if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e) {
				t.Fatalf("%q holds %U", out, r)
			}
		}
		if limit > 2 && len(out) > limit {
			t.Fatalf("%d bytes, at most %d", len(out), limit)
		}
		if again := process.Text([]byte(out), limit); again != out {
			t.Fatalf("%q became %q the second time", out, again)
		}
	})
}
