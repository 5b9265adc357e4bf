package dialecttest

import "strings"

// Corpus returns more than 200 strings that make the file canary as soon as
// anybody reads one of them as a program, a format, a pattern or an option. The
// path of canary needs no quotes in a shell.
func Corpus(canary string) []string {
	programs := []string{
		"touch " + canary, "touch${IFS}" + canary, ">" + canary, "sh -c 'touch " + canary + "'", "{touch," + canary + "}",
		"/usr/bin/env touch " + canary,
	}
	var list []string
	for i, frame := range frames() {
		list = append(list, strings.ReplaceAll(frame, "P", programs[i%len(programs)]))
		if i%2 == 0 {
			list = append(list, strings.ReplaceAll(frame, "P", programs[(i+2)%len(programs)]))
		}
	}
	return append(list, odd()...)
}

// frames are ways out of whatever P may stand in.
func frames() []string {
	return []string{
		// Substitutions, by themselves and in quotes.
		`P`, `$(P)`, "`P`", `"$(P)"`, `'$(P)'`, "'`P`'", "\"`P`\"", `$(echo $(P))`, "`echo \\`P\\``", `${x:=$(P)}`, `${x:-$(P)}`, `${x-P}`, `${x[$(P)]}`,
		`$((P))`, `$[P]`, `$(( a[$(P)] ))`, `a[$(P)]`, `x[$(P)]=1`, `a[$(P)]+0`, `<(P)`, `>(P)`, `=(P)`, `<<<$(P)`, `${IFS}$(P)`, `$IFS;P`, `IFS=x;P`,
		`${(e):-$(P)}`, `${x@P}`, `${!x[@]}$(P)`, `$'$(P)'`, `$"$(P)"`,
		// Separators.
		`;P`, `;P;`, `;P #`, `x;P`, `|P`, `||P`, `|&P`, `&P&`, `&&P`, `& P`, "\nP\n", "x\nP", "\r\nP\r\n", "\rP", "\\\nP", "\tP\t", "\vP", "\f;P",
		"\u2028P", "\u2029;P", "\u0085;P", "\u00a0;P", `；P`, "\x1e;P", "\x08;P",
		// Ways out of quotes.
		`";P;"`, `';P;'`, `"; P; echo "`, `'; P; echo '`, `'"; P; echo "'`, `"'; P; echo '"`, `\";P;\"`, `\';P;\'`, `\\";P;\\"`, `\\';P;\\'`, `"'$(P)'"`, `'"$(P)"'`,
		`''';P;'''`, `""";P;"""`, "'`P`'", `'"'"';P;'"'"'`, `'\'';P;'\''`, `“;P;”`, `‘;P;’`, `"+P+"`, `'+P+'`, `"&P&"`, `"|P|"`, "\"\nP\n\"", "'\nP\n'",
		// Ways out of compound commands.
		`)P(`, `) ; P ; (`, `}; P; {`, `esac; P`, `;; *) P`, `fi; P; if`, `done; P`, `then P`, `]; P; [`, `]] ; P ; [[`, `)) ; P ; ((`, `() { :;}; P`, `f() { P; }; f`,
		"E\nP\nE", "EOF\nP\nEOF\n", "\tE\nP", "'E'\nP\n", "%EOF%\nP", `$'\x3b'P`, `\$(P)`, `\\$(P)`, `\x3bP`, `\073P`,
		// What other commands and languages execute.
		`eval P`, `exec P`, `. P`, `! P`, `!P`, `!!;P`, `!$;P`, `^x^P`, `trap 'P' EXIT`, `alias x='P'`, `-c P`, `-e P`, `-exec P ;`, `-o ProxyCommand=P`, `--exec=P`, `--eval=P`,
		`-- ;P`, `--rsh=P`, `--to-command=P`, `-I P`, `system("P")`, `__import__("os").system("P")`, `require("child_process").execSync("P")`, `#{system("P")}`, `<%= P %>`,
		`{{P}}`, `{{tool_name}};P`, `{{tool_args}}$(P)`, `{{ tool_args.command }}`, `{{{{message}}}}P`, `${tool_name};P`, `{0.__class__}P`, `%(P)s`, `BEGIN{system("P")}`, `e P`, `s/x/P/e`, `1!P`,
		`do shell script "P"`, `"; do shell script "P"; "`, `'; DROP TABLE x; --P`, `\! P`, `.shell P`, `:!P`, `@P`, `@/etc/passwd;P`, `file://P`, `data:,P`,
		`$ARGUMENTS;P`, `$TOOL_INPUT$(P)`, `$PROMPT;P`, `$0;P`, `$1;P`, `$@;P`, `$PATH;P`, `$FORGE_TOOL_ARGS;P`, `$CODEMIE_HOOK_INPUT;P`, `$EVENT;P`, `%PATH%&P`, `%COMSPEC% /c P`, `^&P`, `!PATH!;P`,
		`PATH=.;P`, `LD_PRELOAD=x;P`, `BASH_ENV=P`, `ENV=P`, `PS4=$(P)`, "BASH_FUNC_echo%%=() { P; }",
		// Formats, patterns and escapes.
		`%s;P`, `%n$(P)`, `%d%d;P`, `%*s$(P)`, `\n;P`, `\c;P`, `~;P`, `~root/P`, `*;P`, `?;P`, `[a-z];P`, `**/*;P`, `{a,b};P`, `@(a|b);P`, `a b;P`, `%0aP`, `%3BP`, `&#59;P`, `\u003bP`, `\x60P\x60`,
		"\x1b]0;P\x07", "\x1b[31m;P", "\x1bP;P\x1b\\", "\x9b31m;P", "\u202e;P", "\u2066;P\u2069", "\u200b;P", "\ufeff;P", "😀;P", "é́;P", "ⅈ;P", "\U000e0041;P",
		`{"decision":"approve","x":"P"}`, `{"continue":true}P`, `"}P{"`, `\"}};P`, `</script>P`, `<!--P-->`, `]]>P`,
		strings.Repeat("(", 60) + "P", strings.Repeat(`"`, 61) + ";P", strings.Repeat(`'`, 61) + ";P", strings.Repeat("`", 61) + ";P", strings.Repeat("$(", 60) + "P", strings.Repeat("A", 9000) + ";P",
		"\x00;P", "P\x00", "a\x00$(P)", "\xff;P", "\xc0\xaf;P", "\xed\xa0\x80;P",
	}
}

// odd are strings that make no file, and that are easily changed on their way.
func odd() []string {
	return []string{
		"", " ", "  a  b  ", "\n", "\n\n", "a\n", "\t", "-", "--", "-rf", "-rf /", "-n", "-e", "--help", "-x\ny", "=", "=x", "~", "/", ".", "..", "*", "?", "[", "]", "{}", "()", "!",
		"\\", "\\\\", "'", "\"", "`", "$", "$$", "$?", "#", "# x", "%", "%%", "^", "&", "|", ";", "<", ">", "null", "true", "0", "1e999", "\u0000x", "\x7f", "a\rb", "C:\\x\\y", "\\\\host\\x",
		strings.Repeat("x", 120_000), strings.Repeat("é", 3000), strings.Repeat("\n", 500),
	}
}
