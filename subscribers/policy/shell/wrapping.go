package shell

// wrapping says how a program passes on a command in its arguments.
type wrapping struct {
	short   string // letters of options that take a value
	long    string // long options that take a value, space-separated
	skip    int    // words before the command
	assigns bool   // NAME=value words before the command
	remote  bool   // the command runs elsewhere
	text    bool   // the words are joined and run by a shell
	sub     string // subcommand that has to stand first
	dashes  bool   // the command comes after "--"
}

func wrapperOf(name, sub string) (wrapping, bool) {
	switch name {
	case "sudo", "doas":
		return wrapping{short: "ugpCcDhRrtTU", long: "user group prompt chdir chroot host role type other-user close-from command-timeout", assigns: true}, true
	case "env":
		return wrapping{short: "uCS", long: "unset chdir split-string", assigns: true}, true
	case "nohup", "setsid", "builtin", "busybox", "toybox", "unbuffer", "catchsegv", "chronic", "fakeroot", "eatmydata", "rtk",
		"caffeinate", "noglob", "nocorrect", "nx-exec", "rlwrap", "pkexec", "gosu-exec", "uvx", "winpty", "coproc":
		return wrapping{}, true
	case "command":
		return wrapping{}, true
	case "exec":
		return wrapping{short: "a"}, true
	case "time", "gtime":
		return wrapping{short: "fo", long: "format output"}, true
	case "timeout", "gtimeout":
		return wrapping{short: "ks", long: "kill-after signal", skip: 1}, true
	case "nice", "gnice":
		return wrapping{short: "n", long: "adjustment"}, true
	case "ionice":
		return wrapping{short: "cnpPu", long: "class classdata pid"}, true
	case "chrt":
		return wrapping{short: "TPD", skip: 1}, true
	case "taskset":
		return wrapping{skip: 1}, true
	case "stdbuf", "gstdbuf":
		return wrapping{short: "ioe", long: "input output error"}, true
	case "xargs", "gxargs":
		return wrapping{short: "aEdIiLlnPs", long: "arg-file delimiter eof replace max-lines max-args max-procs max-chars process-slot-var"}, true
	case "chroot":
		return wrapping{long: "userspec groups", skip: 1}, true
	case "unshare", "nsenter":
		return wrapping{short: "tSGRwW", long: "target setuid setgid root wd map-user map-group"}, true
	case "flock":
		return wrapping{short: "wEc", long: "timeout wait conflict-exit-code", skip: 1}, true
	case "strace", "ltrace":
		return wrapping{short: "aeEIoOpPsSuUX", long: "output expr attach"}, true
	case "firejail", "bwrap", "systemd-run", "proxychains", "proxychains4", "torsocks", "arch", "dbus-run-session", "dbus-launch",
		"xvfb-run", "sshpass", "op", "doppler", "infisical", "dotenv", "dotenvx", "aws-vault", "chamber", "with-contenv", "s6-setuidgid":
		return wrapping{short: "pnsue", long: "unit property uid gid setenv env profile bind ro-bind dev-bind tmpfs proc dev chdir", dashes: name == "op" || name == "doppler" || name == "infisical" || name == "aws-vault" || name == "chamber"}, true
	case "watch":
		return wrapping{short: "nqw", long: "interval", text: true}, true
	case "script":
		return wrapping{short: "cEIOBTmo", long: "command"}, true
	case "parallel":
		return wrapping{short: "jIaNnLsSP", long: "jobs colsep delay timeout retries joblog results tmpdir", text: true}, true
	case "ssh":
		return wrapping{short: "BbcDEeFIiJLlmOopQRSWw", skip: 1, remote: true, text: true}, true
	case "npx", "bunx", "pnpx":
		return wrapping{short: "pc", long: "package call"}, true
	case "npm", "pnpm", "yarn", "bun", "poetry", "pipenv", "uv", "bundle", "mise", "asdf", "rye", "hatch", "pdm", "direnv", "devbox", "nix", "volta", "pixi", "conda", "mamba", "dotnet", "cargo":
		switch sub {
		case "exec", "dlx", "x", "run", "tool":
			if sub == "run" && (name == "npm" || name == "pnpm" || name == "yarn" || name == "bun" || name == "nix" || name == "cargo" || name == "dotnet" || name == "pixi") {
				return wrapping{}, false
			}
			w := wrapping{sub: sub, short: "pnC", long: "package with python prefix name directory extra group from env-file"}
			w.dashes = name == "mise" || name == "npm" && sub == "exec"
			if name == "direnv" {
				w.skip = 1
			}
			return w, true
		}
	case "docker", "podman", "nerdctl":
		switch sub {
		case "exec":
			return wrapping{sub: sub, short: "euw", long: "env env-file user workdir detach-keys", skip: 1, remote: true}, true
		case "run":
			return wrapping{sub: sub, short: "aceuwvplhm", long: "attach add-host env env-file user workdir volume publish label hostname memory name network entrypoint mount platform cpus pull restart ipc pid device gpus cap-add cap-drop security-opt tmpfs ulimit shm-size log-driver dns link", skip: 1, remote: true}, true
		}
	case "kubectl", "oc":
		if sub == "exec" {
			return wrapping{sub: sub, short: "ncf", long: "namespace container", dashes: true, remote: true}, true
		}
	}
	return wrapping{}, false
}

// ordinary knows programs for which the words rm, dd and sh are only words.
func ordinary(name string) bool {
	switch name {
	case "", "echo", "printf", "git", "gh", "glab", "jj", "hg", "svn", "grep", "egrep", "fgrep", "rg", "ag", "ack", "man", "which", "whereis", "type", "whatis", "apropos",
		"hash", "test", "[", "docker", "podman", "nerdctl", "docker-compose", "kubectl", "helm", "npm", "pnpm", "yarn", "bun", "pip", "pip3", "cargo", "go",
		"apt", "apt-get", "dnf", "yum", "apk", "brew", "pacman", "snap", "aws", "gcloud", "gsutil", "az", "terraform", "conda", "mamba",
		"sed", "awk", "cat", "ls", "less", "head", "tail", "diff", "cp", "mv", "ln", "mkdir", "touch", "chmod", "chown", "rm", "dd", "shred", "rimraf",
		"curl", "wget", "tldr", "help", "info", "say", "logger", "basename", "dirname", "readlink", "realpath", "stat", "file", "command", "pgrep", "pkill", "killall",
		"ps", "kill", "fly", "flyctl", "heroku", "vercel", "rclone", "mc", "s3cmd", "restic", "ipfs", "vault", "consul", "nomad", "bd", "task", "make", "just",
		"nix-env", "shellcheck", "shfmt", "jq", "yq", "vagrant", "virsh", "lxc", "multipass", "zfs", "btrfs", "lvm", "uv", "poetry", "gem", "bundle", "mise", "asdf", "cd",
		"ip", "nmcli", "ssh-add", "ssh-keygen", "gpg", "tmux", "screen", "systemctl", "service", "crontab", "launchctl", "dpkg", "rpm", "code", "cursor", "grapnel", "dvc":
		return true
	}
	return false
}
