package cliagent

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestA5TemplatesBecomeQuotedReferences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`echo {{tool_name}}`:                            `echo "${CLI_AGENT_TOOL_NAME}"`,
		`echo "a {{tool_name}} b"`:                      `echo "a ${CLI_AGENT_TOOL_NAME} b"`,
		`echo 'a {{tool_name}} b'`:                      `echo 'a '"${CLI_AGENT_TOOL_NAME}"' b'`,
		`echo a{{tool_name}}b`:                          `echo a"${CLI_AGENT_TOOL_NAME}"b`,
		`echo $(echo {{message}})`:                      `echo $(echo "${CLI_AGENT_MESSAGE}")`,
		`echo "$(echo {{message}})"`:                    `echo "$(echo "${CLI_AGENT_MESSAGE}")"`,
		`echo "$(echo '{{message}}')"`:                  `echo "$(echo ''"${CLI_AGENT_MESSAGE}"'')"`,
		"echo `echo {{message}}`":                       "echo `echo \"${CLI_AGENT_MESSAGE}\"`",
		"cat <<E\n{{message}} 'x'\nE\n":                 "cat <<E\n${CLI_AGENT_MESSAGE} 'x'\nE\n",
		"cat <<-E\n\tx {{message}}\n\tE\n":              "cat <<-E\n\tx ${CLI_AGENT_MESSAGE}\n\tE\n",
		`echo ${X:-{{message}}} "${X:-{{message}}}"`:    `echo ${X:-"${CLI_AGENT_MESSAGE}"} "${X:-${CLI_AGENT_MESSAGE}}"`,
		`case {{tool_name}} in {{message}}*) :;; esac`:  `case "${CLI_AGENT_TOOL_NAME}" in "${CLI_AGENT_MESSAGE}"*) :;; esac`,
		`for f in {{tool_args.a}}; do echo "$f"; done`:  `for f in "${CLI_AGENT_TOOL_ARGS_A}"; do echo "$f"; done`,
		`x={{message}}; X='{{message}}' env`:            `x="${CLI_AGENT_MESSAGE}"; X=''"${CLI_AGENT_MESSAGE}"'' env`,
		`echo x >{{tool_args.file_path}}`:               `echo x >"${CLI_AGENT_TOOL_ARGS_FILE_PATH}"`,
		"true # {{message}}\necho {{message}}":          "true # {{message}}\necho \"${CLI_AGENT_MESSAGE}\"",
		`echo {{tool_args.a.b}} {{tool_args.a_b}}`:      `echo "${CLI_AGENT_TOOL_ARGS_A_B}" "${CLI_AGENT_TOOL_ARGS_A_B_2}"`,
		`echo {{tool_args.list[0]}}`:                    `echo "${CLI_AGENT_TOOL_ARGS_LIST_0}"`,
		`echo {{ tool_name }}`:                          `echo "${CLI_AGENT_TOOL_NAME}"`,
		`docker ps --format '{{.Names}}'`:               `docker ps --format '{{.Names}}'`,
		`sh -c 'echo "$1"' sh {{message}}`:              `sh -c 'echo "$1"' sh "${CLI_AGENT_MESSAGE}"`,
		`timeout 5 black -- {{tool_args.file_path}}`:    `timeout 5 black -- "${CLI_AGENT_TOOL_ARGS_FILE_PATH}"`,
		`sed -n 1p -- {{tool_args.file_path}}`:          `sed -n 1p -- "${CLI_AGENT_TOOL_ARGS_FILE_PATH}"`,
		`printf '%s\n' {{message}}`:                     `printf '%s\n' "${CLI_AGENT_MESSAGE}"`,
		`jq -n --arg x {{message}} '{x:$x}'`:            `jq -n --arg x "${CLI_AGENT_MESSAGE}" '{x:$x}'`,
		`python3 check.py {{tool_name}}`:                `python3 check.py "${CLI_AGENT_TOOL_NAME}"`,
		`printf %s {{message}} | python3 check.py`:      `printf %s "${CLI_AGENT_MESSAGE}" | python3 check.py`,
		`find {{tool_args.path}} -name '*.go'`:          `find "${CLI_AGENT_TOOL_ARGS_PATH}" -name '*.go'`,
		`[ "{{tool_name}}" = bash_execute ] || exit 0`:  `[ "${CLI_AGENT_TOOL_NAME}" = bash_execute ] || exit 0`,
		`git commit -m 'by {{tool_name}}: {{message}}'`: `git commit -m 'by '"${CLI_AGENT_TOOL_NAME}"': '"${CLI_AGENT_MESSAGE}"''`,
	} {
		b, err := bind(text)
		if assert.NoError(t, err, text) {
			assert.Equal(t, want, b.text, text)
		}
	}
}

func TestA5ValuesThatWouldBeProgramTextAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{{tool_name}}`, `{{tool_args.command}} -x`, `"{{message}}"`, `'{{message}}' x`, `x=1 {{message}}`, `$({{message}})`, `eval {{message}}`,
		`eval "echo {{message}}"`, `sh -c {{message}}`, `sh -c "echo {{message}}"`, `bash -lc 'echo {{message}}'`, `/bin/dash -c "x {{message}}"`,
		`zsh -c "{{message}}"`, `ksh -ec {{message}}`, `sh {{message}}`, `bash -o posix {{message}}`, `su -c {{message}}`, `ssh host {{message}}`,
		`xargs {{message}}`, `xargs -I% sh -c "% {{message}}"`, `env {{message}}`, `env X={{message}} prog`, `env -S {{message}}`, `env sh -c {{message}}`, `sudo -u root {{message}}`,
		`sudo {{message}}`, `sudo -u {{message}} ls`, `nohup {{message}}`, `nohup sh -c {{message}}`, `timeout 5 {{message}}`, `timeout {{message}} ls`,
		`timeout -k 1 5 bash -c "{{message}}"`, `nice -n 5 sh -c {{message}}`, `command {{message}}`, `command eval {{message}}`, `builtin eval {{message}}`,
		`exec {{message}}`, `exec sh -c {{message}}`, `find . -exec sh -c "{{message}}" \;`, `find . -exec {{message}} \;`, `python3 -c "print('{{message}}')"`,
		`python -c {{message}}`, `perl -e {{message}}`, `perl -ne print {{message}}`, `ruby -e {{message}}`, `node -e {{message}}`, `node --eval={{message}}`, `php -r {{message}}`,
		`awk "{{message}}"`, `awk '{print}' {{message}}`, `sed {{message}}`, `sed -e {{message}} f`, `sed "s/x/{{message}}/" f`, `osascript -e 'display notification "{{message}}"'`,
		`trap {{message}} EXIT`, `trap "echo {{message}}" EXIT`, `source {{message}}`, `. {{message}}`, `alias x={{message}}`, `PATH={{message}}`,
		`PATH={{message}} ls`, `LD_PRELOAD={{message}} ls`, `DYLD_INSERT_LIBRARIES={{message}} ls`, `BASH_ENV={{message}} sh x`, `ENV={{message}}`, `IFS={{message}}`,
		`PS4={{message}}`, `SHELLOPTS={{message}}`, `export PATH={{message}}`, `export {{message}}`, `export X={{message}} LD_X={{message}}`, `readonly PATH="{{message}}"`,
		`printf {{message}}`, `printf "{{message}}\n"`, `printf %d {{message}}`, `printf -v x {{message}}`, `test -v {{message}}`, `[ {{message}} -eq 1 ]`, `[ 1 -lt {{message}} ]`,
		`[[ -v {{message}} ]]`, `[[ {{message}} -eq 1 ]]`, `echo $(({{message}}))`, `echo $((1+{{message}}))`, `let {{message}}`, `declare -i x={{message}}`, `typeset {{message}}`,
		`read {{message}}`, `unset {{message}}`, `exit {{message}}`, `echo x >&{{message}}`, `echo x <&{{message}}`, "cat <<'E'\n{{message}}\nE\n", "cat <<\\E\n{{message}}\nE\n",
		"cat <<{{message}}\nx\n{{message}}\n", `echo $'{{message}}'`, `echo $"{{message}}"`, `echo \{{message}}`, `echo "\{{message}}"`, `echo ${{message}}`, `echo ${{{message}}}`,
		`echo ${x#{{message}}}`, `echo "${x%{{message}}}"`, `echo ${x:={{message}}}`, `for {{message}} in a; do :; done`, `{{message}}() { :; }`, `{{message}}=1`, `x={{message}}; eval "$x"`,
		`x={{message}}; $x`, `x={{message}}; y=$x; sh -c "$y"`, `x={{message}}; echo $((x))`, `for x in {{message}}; do $x; done`, `set -- {{message}}; eval "$@"`, `set {{message}}`,
		`f() { eval "$1"; }; f {{message}}`, `echo {{message}} | sh`, `echo {{message}} | bash -s`, `printf %s {{message}} | sudo sh`, `echo {{message}} | xargs rm`, `echo {{message}} | python3 -`,
		`echo {{message}} | while read x; do eval "$x"; done`, "sh <<E\n{{message}}\nE\n", "sh <<E\n`echo {{message}}`\nE\n", "python3 <<E\nprint('{{message}}')\nE\n", `$CMD {{message}}`, `"$(which sh)" -c {{message}}`,
		"echo \"`echo {{message}}`\"", "echo `echo \\\"{{message}}\\\"`", `echo "${x:-"{{message}}"}"`, `git -c alias.x={{message}} x`, `git {{message}}`, `npm run {{message}}`, `docker run {{message}}`,
		`make X={{message}}`, `busybox sh -c {{message}}`, `npx {{message}}`, `tar --to-command {{message}}`, `rsync --rsh={{message}} a b`, `fish -c {{message}}`, `pwsh -c {{message}}`, `vim -c {{message}}`,
		`echo {{unknown}}`, `echo {{tool_nmae}}`, `echo {{message.x}}`, `echo {{tool_args..x}}`, `echo {{tool_args.$(x)}}`, `echo {{message|upper}}`, `echo 'x {{message}}`, `if true; then echo {{message}}`,
		`(( {{message}} ))`, `x[{{message}}]=1`, `echo <(echo {{message}})`, `x=({{message}})`, `echo !({{message}})`, `watch {{message}}`, `crontab {{message}}`, `echo {{message}} | at now`,
	} {
		_, err := bind(text)
		assert.Error(t, err, text)
	}
}

// TestA5EveryContextKeepsTheValueWhole runs each permitted context in
// every shell that is here with values that make a file as soon as anybody
// reads them as syntax.
func TestA5EveryContextKeepsTheValueWhole(t *testing.T) {
	t.Parallel()
	contexts := []string{
		`show {{message}}`, `show "{{message}}"`, `show '{{message}}'`, `show ""{{message}}`, `show "$(show0 {{message}})"`, `x={{message}}; show "$x"`,
		`for f in {{message}}; do show "$f"; done`, `set -- {{message}}; show "$1"`, `set -- '{{message}}'; show "$@"`, `show ${NONE:-{{message}}}`,
		`show "${NONE:-{{message}}}"`, `case {{message}} in "{{message}}") show '{{message}}';; esac`, "cat <<E\n{{message}}\nE\n",
		`X={{message}} show '{{message}}'`, `f() { show "$1"; }; f {{message}}`, `(show "{{message}}")`, `{ show {{message}}; } | cat`, `if true; then show '{{message}}'; fi`,
		"# {{message}}\nshow {{message}}", `sh -c 'printf "%s\n" "$1"' sh {{message}}`, `show {{message}} >{{tool_args.f}}; cat "$F"`, "cat <<-E\n\t{{message}}\n\tE\n", `printf '%s\n' '{{message}}'`,
	}
	dir := t.TempDir()
	canary := filepath.Join(dir, "canary")
	var values []string
	for _, frame := range []string{"$(P)", "`P`", "'; P; '", `"; P; "`, ";P", "\nP\n", "| P", "'$(P)'", `"$(P)"`, "x\ty  z", "*", "~", "[a-z]*", "\\", "'", `"`, "\\'", "E\nP\nE", "\tE\nP", "${x:=$(P)}", "$IFS", "a b", "{a,b}", "!!", "%s%n", "#x", "x\n#", "=", "((", "$((P))", "é\u202e", "\x1b[2J", "\r\nP\r\n", "a[$(P)]", "<(P)", ">" + canary, "&P&", "$x"} {
		values = append(values, strings.ReplaceAll(frame, "P", "touch "+canary))
	}
	for _, shell := range []string{"/bin/sh", "/bin/bash"} {
		if _, err := os.Stat(shell); err != nil {
			continue
		}
		for _, text := range contexts {
			b, err := bind(text)
			require.NoError(t, err, text)
			// One shell takes all values, one after another.
			var script strings.Builder
			script.WriteString("show() { printf '%s\\n' \"$1\"; }\nshow0() { printf '%s' \"$1\"; }\n")
			env := []string{"PATH=/usr/bin:/bin", "F=" + filepath.Join(t.TempDir(), "f")}
			env = append(env, "CLI_AGENT_TOOL_ARGS_F="+env[1][2:])
			for i, v := range values {
				name := "V" + strings.Repeat("x", i)
				env = append(env, name+"="+v)
				script.WriteString("unset NONE; CLI_AGENT_MESSAGE=$" + name + "\n" + b.text + "\nprintf '\\0'\n")
			}
			script.WriteString("cd " + dir + "\n")
			cmd := exec.CommandContext(t.Context(), shell, "-c", script.String())
			cmd.Env, cmd.Dir = env, dir
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: %s", text, out)
			got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			require.Len(t, got, len(values), "%s in %s: %q", text, shell, out)
			for i, v := range values {
				if strings.Contains(text, "show0") { // the shell takes the last line ends
					v = strings.TrimRight(v, "\n")
				}
				assert.Equal(t, v+"\n", got[i], "%s in %s", text, shell)
			}
			require.NoFileExists(t, canary, text)
		}
	}
}

func TestA5HostileTextsAreReadInLittleTime(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nested": strings.Repeat("$(", 10_000) + "{{message}}" + strings.Repeat(")", 10_000), "pipes": strings.Repeat("a|", 10_000) + "echo {{message}}", "quotes": strings.Repeat(`"$(`, 5000) + "{{message}}",
		"chain": "x0={{message}};" + strings.Repeat("echo $x0 $x1 $x2;", 1500), "backwards": "x9=$x8;x8=$x7;x7=$x6;x6=$x5;x5=$x4;x4=$x3;x3=$x2;x2=$x1;x1={{message}};" + strings.Repeat("x=$x9;", 4000),
		"many": strings.Repeat("echo {{message}};", 64), "braces": strings.Repeat("{{", 15_000), "arithmetic": strings.Repeat("$((", 5000) + "{{message}}",
		"blocks": strings.Repeat("{ ", 10_000) + "echo {{message}};" + strings.Repeat("} ;", 4000), "heredocs": strings.Repeat("cat <<E\n{{message}}\nE\n", 60),
	} {
		start := time.Now()
		_, _ = bind(text)
		assert.Less(t, time.Since(start), 10*time.Second, name)
		t.Log(name, time.Since(start))
	}
}

func FuzzBind(f *testing.F) {
	f.Add("echo '{{tool_name}}' \"{{message}}\" $(x `y`) <<E\n{{error}}\nE\n")
	f.Add("case {{tool_args.a[0].b}} in x) ;; esac # {{x")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := bind(text)
		if err != nil {
			return
		}
		list, err := find(text)
		require.NoError(t, err)
		if len(list) == 0 {
			require.Equal(t, text, b.text)
			return
		}
		again, err := bind(text)
		require.NoError(t, err)
		require.Equal(t, b, again)
	})
}
