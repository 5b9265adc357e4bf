package trust_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/grapnel-dev/grapnel/runner/trust"
)

// TestDigestIsOfTheFieldsAsTheyAre moves bytes over the borders of fields and
// lists: a digest is the same only for the same lists.
func TestDigestIsOfTheFieldsAsTheyAre(t *testing.T) {
	t.Parallel()
	// Few letters, so that the same bytes are often cut in different ways.
	field := rapid.StringOfN(rapid.SampledFrom([]rune{'a', 0, 1, 8}), 0, 4, -1)
	lists := rapid.SliceOfN(rapid.SliceOfN(field, 0, 4), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, b := lists.Draw(t, "a"), lists.Draw(t, "b")
		same := reflect.DeepEqual(a, b)
		if got := trust.EncodingOf(a) == trust.EncodingOf(b); got != same {
			t.Fatalf("%q and %q: same digest %v", a, b, got)
		}
	})
}

func TestDefinitionsDiffer(t *testing.T) {
	t.Parallel()
	g := trust.NewGauge(nil)
	defer g.Close()
	word := rapid.StringMatching(`[ab,= ]{0,3}`)
	digest := func(d trust.Definition) trust.Digest {
		m, err := g.Measure(d)
		require.NoError(t, err)
		require.NoError(t, m.Close())
		return m.Digest()
	}
	draw := func(t *rapid.T, label string) trust.Definition {
		return trust.Definition{
			Dialect: "d" + word.Draw(t, label), File: "f" + word.Draw(t, label), ID: "i" + word.Draw(t, label),
			Name: word.Draw(t, label), Source: trust.User, Env: rapid.SliceOfN(word, 0, 3).Draw(t, label),
			Vars: rapid.MapOfN(word, word, 0, 2).Draw(t, label),
		}
	}
	sorted := func(d trust.Definition) trust.Definition {
		d.Env = append([]string{}, d.Env...)
		for i := range d.Env { // three at most
			for j := range i {
				if d.Env[i] < d.Env[j] {
					d.Env[i], d.Env[j] = d.Env[j], d.Env[i]
				}
			}
		}
		return d
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, b := draw(rt, "a"), draw(rt, "b")
		if (digest(a) == digest(b)) != reflect.DeepEqual(sorted(a), sorted(b)) {
			rt.Fatalf("%+v and %+v", a, b)
		}
		if again := digest(a); again != digest(a) {
			rt.Fatalf("%+v has two digests", a)
		}
	})
}

func TestShebang(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"#!/bin/sh\n":                          "/bin/sh",
		"#! \t /bin/sh":                        "/bin/sh",
		"#!/bin/sh  -e  -u \t\nrest":           "/bin/sh|-e  -u",
		"#!/bin/sh\t-e\n":                      "/bin/sh|-e",
		"#!/usr/bin/env python3\n":             "python3",
		"#!/usr/bin/env -S python3  -u -I\n":   "python3|-u|-I",
		"#!/usr/bin/env -Ssh -e\n":             "sh|-e",
		"#!/usr/bin/env --split-string=sh -e ": "sh|-e",
		"#!/opt/env -i\n":                      "/opt/env|-i",
	} {
		words, ok, err := trust.ParseShebang([]byte(line))
		require.NoError(t, err, "%q", line)
		assert.True(t, ok, "%q", line)
		assert.Equal(t, want, strings.Join(words, "|"), "%q", line)
	}
	for _, line := range []string{
		"#!", "#!\n", "#!sh\n", "#!./sh\n", "#!/bin/sh\r\n", "#!/bin/sh\x00\n", "#!/" + strings.Repeat("x", 300),
		"#!/usr/bin/env\n", "#!/usr/bin/env python3 -u\n", "#!/usr/bin/env -i sh\n", "#!/usr/bin/env A=b\n", "#!/usr/bin/env -S\n",
		"#!/usr/bin/env -S 'sh'\n", "#!/usr/bin/env -S sh $X\n", "#!/usr/bin/env -S -i sh\n", "#!/usr/bin/env -S A=b sh\n", "#!/usr/bin/env -S s\\h\n",
	} {
		_, _, err := trust.ParseShebang([]byte(line))
		require.ErrorIs(t, err, trust.ErrInterpreter, "%q", line)
	}
	for _, line := range []string{"", "#", "# !/bin/sh", "\x7fELF", "\n#!/bin/sh"} {
		_, ok, err := trust.ParseShebang([]byte(line))
		require.NoError(t, err)
		assert.False(t, ok, "%q", line)
	}
}

func FuzzShebang(f *testing.F) {
	for _, s := range []string{"#!/bin/sh -e\n", "#!/usr/bin/env -S a b\n", "#! /x\ty \n", "#!/bin/sh\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		head = head[:min(len(head), 256)]
		words, ok, err := trust.ParseShebang(head)
		if ok != bytes.HasPrefix(head, []byte("#!")) {
			t.Fatalf("%q: %v", head, ok)
		}
		if err != nil || !ok {
			return
		}
		line, _, _ := bytes.Cut(head, []byte("\n"))
		for i, w := range words {
			if w == "" || strings.ContainsAny(w, "\x00\n") || !bytes.Contains(line, []byte(w)) {
				t.Fatalf("%q: word %d is %q", head, i, w)
			}
		}
		if len(words) == 0 || strings.ContainsAny(words[0], " \t") || strings.HasPrefix(words[0], "-") {
			t.Fatalf("%q: %q", head, words)
		}
	})
}

func FuzzStore(f *testing.F) {
	good, err := trust.EncodeLedger([]trust.Approval{{
		Dialect: "d", File: "/f", ID: "i", Source: trust.User, Digest: trust.Digest{1}, At: anyTime(),
		Parts: []trust.Part{{Role: trust.RoleFile, Name: "n", Path: "/n", Size: 3}}, Unpinned: []string{"eval"},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"version":1,"approvals":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := trust.ParseLedger(b)
		if err != nil {
			return
		}
		again, err := trust.EncodeLedger(list)
		if err != nil {
			t.Fatal(err)
		}
		back, err := trust.ParseLedger(again)
		if err != nil {
			t.Fatalf("%s\nwritten as %s: %v", b, again, err)
		}
		for i := range list {
			if list[i].Digest != back[i].Digest || list[i].ID != back[i].ID || list[i].Refused != back[i].Refused {
				t.Fatalf("%+v became %+v", list[i], back[i])
			}
		}
	})
}

// FuzzShellText binds texts: whatever they are, what comes out is shell text with
// as many commands.
func FuzzShellText(f *testing.F) {
	for _, s := range []string{
		"echo x", `sh -c 'a "$b"'`, "a $(b) <<E\n$(c)\nE", "x=1 env y=2 z", ". ./a; exec b 3>&1", "case a in b) c;; esac", "\"$P\"/x; ${P}/y; ~/z; {a,b}", "`a`", "a\\\n b", "f() { f; }; f", "timeout 5 nice -n 3 nohup z",
	} {
		f.Add(s)
	}
	g := trust.NewGauge(nil)
	f.Cleanup(func() { _ = g.Close() })
	f.Fuzz(func(t *testing.T, text string) {
		d := trust.Definition{Dialect: "d", File: "/f", ID: "i", Source: trust.Workspace, Shell: text, Dir: "/", Workspace: "/nowhere", SearchPath: "/nowhere", Vars: map[string]string{"P": "/nowhere"}}
		m, err := g.Measure(d)
		if err != nil || text == "" {
			return
		}
		defer m.Close()
		if trust.Commands(m) < 0 {
			t.Fatalf("%q: the bound text has other commands", text)
		}
	})
}
