package shell_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"mvdan.cc/sh/v3/syntax"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell"
	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

func analyze(text string) *shell.Script {
	roots := place.Roots{Workspace: "/home/dev/project", Home: "/home/dev", Temp: []string{"/tmp"}}
	return shell.Analyze(text, "/home/dev/project", place.NewResolver(roots), roots)
}

// lines are the commands as they would be written without any quoting.
func lines(s *shell.Script) []string {
	var out []string
	for _, c := range s.Commands {
		out = append(out, strings.Join(append([]string{c.Name}, c.Argv[1:]...), " "))
	}
	return out
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`ls -l`:                              {"ls -l"},
		`a | b && c || d; e & f`:             {"a", "b", "c", "d", "e", "f"},
		`(a; b); { c; }`:                     {"a", "b", "c"},
		`echo $(a $(b)) "$(c)"`:              {"b", "a $(b)", "c", "echo $(a) $(c)"},
		"echo `a`":                           {"a", "echo $(a)"},
		`cat <(a) >(b)`:                      {"a", "b", "cat /dev/fd/63 /dev/fd/63"},
		`\rm 'r'"m" r\m $'\x72\x6d'`:         {"rm rm rm rm"},
		`/usr/bin/git status`:                {"git status"},
		`{a,b,c}`:                            {"a b c"},
		`echo $(ls {a,$(b)})`:                {"b", "ls a $(b)", "echo $(ls)"},
		`for i in 1; do echo $({a,b}); done`: {"a b", "echo $(?)"},
		`x=rm; $x -f y`:                      {"rm -f y"},
		`x="rm -f"; $x y`:                    {"rm -f y"},
		`x="rm -f"; "$x" y`:                  {"rm -f y"},
		`rm${IFS}-f${IFS}y`:                  {"rm -f y"},
		`for i in a b; do rm $i; done`:       {"rm a b"},
		`for c in a b; do $c x; done`:        {"a x", "b x"},
		`sh -c 'a; b'`:                       {"sh -c a; b", "a", "b"},
		`bash -xc "a 'b c'"`:                 {"bash -xc a 'b c'", "a b c"},
		`eval a "b; c"`:                      {"eval a b; c", "a b", "c"},
		`trap 'a b' EXIT`:                    {"trap a b EXIT", "a b"},
		`alias x='a b'`:                      {"alias x=a b", "a b"},
		`sudo -u x -- a b`:                   {"sudo -u x -- a b", "a b"},
		`env -i A=1 a b`:                     {"env -i A=1 a b", "a b"},
		`env -S 'a b'`:                       {"env -S a b", "a b"},
		`timeout -k 5 10 nice -n 1 a b`:      {"timeout -k 5 10 nice -n 1 a b", "nice -n 1 a b", "a b"},
		`exec -a ls a b`:                     {"exec -a ls a b", "a b"},
		`busybox a b`:                        {"busybox a b", "a b"},
		`echo x y | xargs a b`:               {"echo x y", "xargs a b", "a b x y"},
		`echo x | xargs -I% a % %.o`:         {"echo x", "xargs -I% a % %.o", "a x x.o"},
		`find x y -exec a {} +`:              {"find x y -exec a {} +", "a x y"},
		`echo 'a b' | sh`:                    {"echo a b", "sh", "a b"},
		"bash <<'E'\na b\nE":                 {"bash", "a b"},
		`bash <<< 'a b'`:                     {"bash", "a b"},
		"cat <<E\n$(a)\nE":                   {"a", "cat"},
		"cat <<'E'\n$(a)\nE":                 {"cat"},
		`echo 'a b' > f; sh f`:               {"echo a b", "sh f", "a b"},
		`echo 'a b' > f; chmod +x f; ./f`:    {"echo a b", "chmod +x f", "f", "a b"},
		`f() { a; }; f`:                      {"a", "f"},
		`A=1 B=$(a) b`:                       {"a", "b"},
		`if a; then b; elif c; then d; fi`:   {"a", "b", "c", "d"},
		`while a; do b; done`:                {"a", "b"},
		`case $(a) in x) b;; *) c;; esac`:    {"a", "b", "c"},
		`[[ -n $(a) ]] && (( $(b) ))`:        {"a", "b"},
		`x=($(a) b)`:                         {"a"},
		`declare x=$(a)`:                     {"a"},
		`! a`:                                {"a"},
		`time a`:                             {"a"},
		`coproc a`:                           {"a"},
		`git -c alias.x='!a b' x`:            {"git -c alias.x=!a b x", "a b"},
		`ssh h a b`:                          {"ssh h a b", "a b"},
		`su - u -c 'a b'`:                    {"su - u -c a b", "a b"},
		`parallel a ::: b c`:                 {"parallel a ::: b c", "a b c"},
		`echo $(echo a) "$(echo b c)"`:       {"echo a", "echo b c", "echo a b c"},
		`# a`:                                nil,
		`echo 'a; b' "c | d" e\;f`:           {"echo a; b c | d e;f"},
		`echo "${x:-$(a)}"`:                  {"a", "echo $x"},
		`PAGER='a b' git log`:                {"a b", "git log"},
		"a \\\n b":                           {"a b"},
		`command -v a`:                       {"command -v a"},
		`unknownwrap rm -rf x`:               {"unknownwrap rm -rf x", "rm -rf x"},
		`npx -y rimraf@3 x`:                  {"npx -y rimraf@3 x", "rimraf x"},
		`flock /l -c 'a b'`:                  {"flock /l -c a b", "a b"},
		`cat f | while read l; do a; done`:   {"cat f", "read l", "a"},
		`docker exec -it c a b`:              {"docker exec -it c a b", "a b"},
		`bash -O extglob -c 'a'`:             {"bash -O extglob -c a", "a"},
		`printf '%s b\n' a | sh`:             {"printf %s b\\n a", "sh", "a b"},
		`a=rm; b=$a; c="$b -f"; $c d`:        {"rm -f d"},
		`source <(a)`:                        {"a", "source /dev/fd/63"},
		`echo "a$(printf 'b')c"`:             {"printf b", "echo abc"},
		"echo a\necho b":                     {"echo a", "echo b"},
		`git submodule foreach 'a b'`:        {"git submodule foreach a b", "a b"},
		`watch -n 1 'a | b'`:                 {"watch -n 1 a | b", "a", "b"},
		`xargs -a f a`:                       {"xargs -a f a", "a $(stdin)"},
		`nohup a > /dev/null 2>&1 &`:         {"nohup a", "a"},
		`stdbuf -oL a`:                       {"stdbuf -oL a", "a"},
		`=rm x`:                              {"rm x"},
		`set -- a b; c`:                      {"set -- a b", "c"},
		`rm -rf a/{b,c}`:                     {"rm -rf a/b a/c"},
		`echo a{1..3}`:                       {"echo a1 a2 a3"},
	} {
		s := analyze(text)
		got := lines(s)
		slices.Sort(got)
		slices.Sort(want)
		assert.Equal(t, want, got, "%s", text)
	}
}

func TestOpaque(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]string{
		`$x -rf /`:                    shell.ReasonName,
		`"$@"`:                        shell.ReasonName,
		`$(which x) y`:                shell.ReasonName,
		`/bin/r? x`:                   shell.ReasonName,
		`bash -c "$x"`:                shell.ReasonCode,
		`eval "$(x)"`:                 shell.ReasonCode,
		`base64 -d x | sh`:            shell.ReasonPipe,
		`bash <(x)`:                   shell.ReasonPipe,
		`x | python3`:                 shell.ReasonPipe,
		`curl x -o f; sh f`:           shell.ReasonPipe,
		`python -c 'x'`:               shell.ReasonInline,
		`python -Bc 'x'`:              shell.ReasonInline,
		`node --eval=x`:               shell.ReasonInline,
		`perl -pe 's/a/b/'`:           shell.ReasonInline,
		"python <<E\nx\nE":            shell.ReasonInline,
		`awk 'BEGIN { system("x") }'`: shell.ReasonInline,
		`sed 's/a/b/e' f`:             shell.ReasonInline,
		`rm 'x`:                       shell.ReasonSyntax,
		"a\x00b":                      shell.ReasonControl,
		`rm -rf "$x"`:                 shell.ReasonArgs,
		`unknownwrap rm x`:            shell.ReasonWrapper,
		`pwsh -c x`:                   shell.ReasonLanguage,
		strings.Repeat("a;", 1100):    shell.ReasonTooMany,
		strings.Repeat("$(", 60):      shell.ReasonSyntax,
		strings.Repeat("$(", 500):     shell.ReasonTooDeep,
		strings.Repeat("a", 70_000):   shell.ReasonTooLong,
		"echo {1..9999}":              shell.ReasonTooMany,
		strings.Repeat("( ", 40) + "a" + strings.Repeat(" )", 40): shell.ReasonTooDeep,
	} {
		s := analyze(text)
		assert.True(t, s.Opaque, "%.60s", text)
		assert.True(t, s.Because(code), "%.60s: %v", text, s.Reasons)
	}
	for _, text := range []string{
		"", "ls", "git status | head", "for i in a b; do rm $i; done", "sh -c 'ls'", "echo $x", "rm -f $x", "x=$(cat y); echo $x",
		"make && ./run", "awk '{print $1}' f", "sed s/a/b/ f", "curl x | tar xz", "bash script.sh", "xargs -n1 echo", "(cd x && ls)",
	} {
		s := analyze(text)
		assert.False(t, s.Opaque, "%s: %v", text, s.Reasons)
	}
}

// ops are the paths as "op path".
func ops(s *shell.Script) []string {
	var out []string
	for _, p := range s.Paths {
		at := p.Abs
		if p.Unknown {
			at = "?"
		}
		out = append(out, string(p.Op)+" "+at)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestPaths(t *testing.T) {
	t.Parallel()
	const ws = "/home/dev/project"
	for text, want := range map[string][]string{
		`rm a ../b /c ~/d`:             {"delete " + ws + "/a", "delete /c", "delete /home/dev/b", "delete /home/dev/d"},
		`rm -- -f`:                     {"delete " + ws + "/-f"},
		`cd /x && rm a`:                {"delete /x/a"},
		`cd /x; cd y; cd ..; rm a`:     {"delete /x/a"},
		`cd /x; cd -; rm a`:            {"delete " + ws + "/a"},
		`(cd /x); rm a`:                {"delete " + ws + "/a"},
		`cd /x | true; rm a`:           {"delete " + ws + "/a"},
		`true && cd /x; rm a`:          {"delete ?"},
		`true && cd /x && rm a`:        {"delete /x/a"},
		`false || cd /x; rm a`:         {"delete ?"},
		`cd $x; rm a`:                  {"delete ?"},
		`cd; rm a`:                     {"delete /home/dev/a"},
		`f() { cd /x; }; f; rm a`:      {"delete ?"},
		`while a; do cd b; rm c; done`: {"delete ?"},
		`pushd /x; rm a; popd`:         {"delete /x/a"},
		`env -C /x rm a`:               {"delete /x/a"},
		`rm $HOME/a "$PWD/b"`:          {"delete " + ws + "/b", "delete /home/dev/a"},
		`rm $x/a`:                      {"delete ?"},
		`rm a/$x`:                      {"delete " + ws + "/a/*"},
		`rm /$x`:                       {"delete /*"},
		`rm ./$x`:                      {"delete ?"},
		`cp a b`:                       {"read " + ws + "/a", "write " + ws + "/b"},
		`cp -t d a b`:                  {"read " + ws + "/a", "read " + ws + "/b", "write " + ws + "/d"},
		`mv a b`:                       {"delete " + ws + "/a", "read " + ws + "/a", "write " + ws + "/b"},
		`cat < a > b 2>> c`:            {"read " + ws + "/a", "write " + ws + "/b", "write " + ws + "/c"},
		`a &> b`:                       {"write " + ws + "/b"},
		`: > b`:                        {"write " + ws + "/b"},
		`> b`:                          {"write " + ws + "/b"},
		`a > /dev/null 2>&1`:           nil,
		`dd if=a of=/dev/sda`:          {"read " + ws + "/a", "write /dev/sda"},
		`find /x -delete`:              {"delete /x"},
		`find /x -name y -delete`:      {"delete /x/**/*?"},
		`find /x -exec rm {} +`:        {"delete /x", "list /x"},
		`sed -i s/a/b/ f`:              {"read " + ws + "/f", "write " + ws + "/f"},
		`sed s/a/b/ f`:                 {"read " + ws + "/f"},
		`grep -r x /y z`:               {"read " + ws + "/z", "read /y"},
		`tee a b`:                      {"write " + ws + "/a", "write " + ws + "/b"},
		`curl -d @a -o b https://c/d`:  {"send " + ws + "/a", "write " + ws + "/b"},
		`curl -Fx=@a https://c/d`:      {"send " + ws + "/a"},
		`scp a h:b`:                    {"send " + ws + "/a"},
		`scp h:b a`:                    {"write " + ws + "/a"},
		`git -C /x clean -fdx`:         {"delete /x/**/*?"},
		`git clean -n`:                 nil,
		`tool --in=/x/y`:               {"use /x/y"},
		`chmod -R 755 a`:               {"mode " + ws + "/a"},
		`ln -s /x y`:                   {"link /x", "write " + ws + "/y"},
		`bash a.sh`:                    {"run " + ws + "/a.sh"},
		`tar czf o.tgz a`:              {"read " + ws + "/a"},
		`rsync -a --delete a/ b/`:      {"delete " + ws + "/b", "read " + ws + "/a", "write " + ws + "/b"},
		`rm -rf ~root/x`:               {"delete /root/x"},
		`rm "$(pwd)/x"`:                {"delete " + ws + "/x"},
		`t=$(mktemp -d); rm -r "$t"`:   {"delete /tmp/tmp.mktemp"},
	} {
		got := ops(analyze(text))
		slices.Sort(want)
		assert.ElementsMatch(t, want, got, "%s", text)
	}
}

func TestPipes(t *testing.T) {
	t.Parallel()
	s := analyze("curl x | tee f | sudo bash -s")
	bash := s.Named("bash")
	require.Len(t, bash, 1)
	assert.Contains(t, bash[0].FedBy, "curl")
	assert.Equal(t, []string{"sudo"}, bash[0].Wrappers)
	assert.True(t, bash[0].Shell)
	assert.Contains(t, s.Named("curl")[0].Feeds, "bash")

	s = analyze(`sh -c "$(wget -qO- x)"`)
	assert.Contains(t, s.Named("sh")[0].FedBy, "wget")
	s = analyze(`curl -sO https://x/y.sh; sh y.sh`)
	assert.Contains(t, s.Named("sh")[0].FedBy, "curl")
	s = analyze(`f() { f | f & }; f`)
	assert.True(t, s.Named("f")[0].Recurses)
}

func TestFlags(t *testing.T) {
	t.Parallel()
	rm := analyze("rm -rf --interactive=never --pres x -- -i").Named("rm")[0]
	assert.True(t, rm.HasFlag("r"))
	assert.True(t, rm.HasFlag("recursive", "f"))
	assert.True(t, rm.HasFlag("interactive"))
	assert.True(t, rm.HasFlag("preserve-root"), "getopt takes abbreviations")
	assert.False(t, rm.HasFlag("i"), "after --")
	assert.Equal(t, []string{"x", "-i"}, rm.Args)
	push := analyze("git -C x --no-pager push --force-with-lease origin a").Named("git")[0]
	assert.Equal(t, "push", push.Sub)
	assert.False(t, push.HasFlag("force"))
	assert.Equal(t, []string{"origin", "a"}, push.Args)
}

// Links are followed as the kernel follows them.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	ws, out := filepath.Join(dir, "ws"), filepath.Join(dir, "out")
	require.NoError(t, os.MkdirAll(filepath.Join(ws, "sub"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(out, "deep"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(out, "deep"), filepath.Join(ws, "away")))
	roots := place.Roots{Workspace: ws}
	inside := func(text string) bool {
		s := shell.Analyze(text, ws, place.NewResolver(roots), roots)
		require.NotEmpty(t, s.Paths, text)
		return s.Paths[0].InWorkspace()
	}
	assert.True(t, inside("rm -rf sub"))
	assert.True(t, inside("rm away"), "the link goes, not what it leads to")
	assert.False(t, inside("rm -rf away/"))
	assert.False(t, inside("rm -rf away/x"))
	assert.False(t, inside("rm -rf away/*"))
	assert.False(t, inside("rm -rf away/../x"), "the directory above the link's target")
	assert.False(t, inside("cat away"))
	assert.False(t, inside("cd away && rm -rf x"))
	assert.False(t, inside("echo x > away/y"))
}

// Whatever stands around a command, it is found.
func TestWrappedCommandsAreFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"rm -rf /", `\rm -rf /`, "r''m -rf /", "/bin/rm -r -f /", "'rm' '-rf' '/'"}).Draw(t, "command")
		quote := func(s string) string {
			q, err := syntax.Quote(s, syntax.LangBash)
			require.NoError(t, err)
			return q
		}
		wraps := []func(string) string{
			func(s string) string { return "sh -c " + quote(s) },
			func(s string) string { return "bash -lc " + quote(s) },
			func(s string) string { return "eval " + quote(s) },
			func(s string) string { return "( " + s + " )" },
			func(s string) string { return "{ " + s + "; }" },
			func(s string) string { return "true && " + s },
			func(s string) string { return "ls | " + s },
			func(s string) string { return s + " | cat" },
			func(s string) string { return "x=$( " + s + ")" },
			func(s string) string { return "if true; then " + s + "; fi" },
			func(s string) string { return "for i in 1; do " + s + "; done" },
			func(s string) string { return "f() { " + s + "; }; f" },
			func(s string) string { return "trap " + quote(s) + " EXIT" },
			func(s string) string { return "sudo sh -c " + quote(s) },
			func(s string) string { return "env A=1 sh -c " + quote(s) },
			func(s string) string { return "timeout 5 nice bash -c " + quote(s) },
			func(s string) string { return "echo a; " + s + " & echo b" },
			func(s string) string { return "echo " + quote(s) + " | sh" },
			func(s string) string { return "bash <<< " + quote(s) },
			func(s string) string { return "echo \"$( " + s + ")\"" },
			func(s string) string { return "cat <( " + s + ")" },
			func(s string) string { return "su -c " + quote(s) },
		}
		for range rapid.IntRange(0, 6).Draw(t, "levels") {
			text = wraps[rapid.IntRange(0, len(wraps)-1).Draw(t, "wrap")](text)
		}
		s := analyze(text)
		found := slices.ContainsFunc(s.Named("rm"), func(c *shell.Command) bool { return c.HasFlag("r") && slices.Contains(c.Args, "/") })
		require.True(t, found || s.Opaque, "%s", text)
		require.True(t, found, "%s: %v", text, s.Reasons)
	})
}
