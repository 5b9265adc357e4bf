package shell

import (
	"strings"

	"github.com/grapnel-dev/grapnel/subscribers/policy/shell/place"
)

// looksLikePath reports whether a word of a program that is not known may be a
// path.
func looksLikePath(w string) bool {
	return strings.ContainsAny(w, "/~") && !strings.Contains(w, "://") || strings.HasPrefix(w, ".")
}

// operands reads the paths in a command's words. fields is nil when only the
// words as they are count.
func (a *analyzer) operands(sc *scope, c *Command, fields []field, out around) {
	if len(fields) == 0 {
		return
	}
	o := operandReader{a: a, sc: sc, c: c, fields: fields[1:], out: out}
	o.read()
}

// operandReader turns the words of one command into paths.
type operandReader struct {
	a      *analyzer
	sc     *scope
	c      *Command
	fields []field
	out    around
}

func (o *operandReader) add(f field, op place.Op) *place.Path {
	if quiet(f.text) && op != place.Delete {
		return nil
	}
	p := o.a.path(o.sc, f, op)
	o.c.Paths = append(o.c.Paths, p)
	return p
}

// plain returns the words that are no options; options in valued take the next
// word along.
func (o *operandReader) plain(valued string) []field {
	var out []field
	for i := 0; i < len(o.fields); i++ {
		f := o.fields[i]
		switch {
		case f.text == "--" && !f.dynamic:
			return append(out, o.fields[i+1:]...)
		case len(f.text) > 1 && f.text[0] == '-' && !(f.dynamic && f.prefix == 0):
			if contains(valued, f.text) {
				i++
			}
		default:
			out = append(out, f)
		}
	}
	return out
}

// values returns what follows an option, in all its spellings.
func (o *operandReader) values(names ...string) []field {
	var out []field
	for i, f := range o.fields {
		for _, n := range names {
			switch {
			case f.text == n && i+1 < len(o.fields):
				out = append(out, o.fields[i+1])
			case strings.HasPrefix(n, "--") && strings.HasPrefix(f.text, n+"="):
				out = append(out, cut(f, len(n)+1))
			case len(n) == 2 && n[0] == '-' && strings.HasPrefix(f.text, n) && len(f.text) > 2 && f.text[1] != '-':
				out = append(out, cut(f, 2))
			}
		}
	}
	return out
}

func cut(f field, n int) field {
	f.text = f.text[n:]
	f.prefix = max(0, f.prefix-n)
	return f
}

func (o *operandReader) all(op place.Op, fields []field) {
	for _, f := range fields {
		o.add(f, op)
	}
}

func (o *operandReader) allRecursive(op place.Op, fields []field) {
	for _, f := range fields {
		if p := o.add(f, op); p != nil {
			p.Recursive = true
		}
	}
}

// firstThen gives the first operands to one operation and the last to another.
func (o *operandReader) firstThen(first, last place.Op, fields []field, deep bool) {
	if dirs := o.values("-t", "--target-directory"); len(dirs) > 0 {
		o.all(last, dirs)
		for _, f := range fields {
			if f.text != dirs[0].text {
				if p := o.add(f, first); p != nil {
					p.Recursive = deep
				}
			}
		}
		return
	}
	for i, f := range fields {
		op := first
		if i == len(fields)-1 && len(fields) > 1 {
			op = last
		}
		if p := o.add(f, op); p != nil {
			p.Recursive = deep
		}
	}
}

func (o *operandReader) read() {
	c := o.c
	name := c.Name
	if strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "newfs_") {
		name = "mkfs"
	}
	switch name {
	case "rm", "rmdir", "unlink", "srm", "trash", "gio", "rimraf", "trash-put", "del", "rd", "grm":
		deep := c.Name == "rimraf" || c.HasFlag("r", "R", "recursive")
		for _, f := range o.plain("") {
			if p := o.add(f, place.Delete); p != nil {
				p.Recursive = deep
				if p.Unknown && deep {
					o.a.because(c, ReasonArgs, f.text)
				}
			}
		}
	case "shred", "wipefs", "blkdiscard", "wipe":
		o.all(place.Delete, o.plain("-n -s --iterations --size"))
	case "truncate":
		o.all(place.Write, o.plain("-s -r --size --reference"))
	case "mkfs", "mke2fs", "mkswap", "newfs", "fdisk", "parted", "sfdisk", "sgdisk", "gdisk", "cfdisk", "hdparm", "cryptsetup", "pvcreate", "vgremove", "zpool":
		o.all(place.Write, o.plain(""))
	case "diskutil":
		o.all(place.Write, o.plain(""))
	case "dd":
		for _, f := range o.fields {
			if strings.HasPrefix(f.text, "of=") {
				o.add(cut(f, 3), place.Write)
			} else if strings.HasPrefix(f.text, "if=") {
				o.add(cut(f, 3), place.Read)
			}
		}
	case "mv", "gmv":
		o.firstThen(place.Delete, place.Write, o.plain("-t -S --suffix --target-directory"), false)
		for _, p := range c.Paths { // what is moved is read as well
			if p.Op == place.Delete && p.Raw != "" {
				o.noteMoved(p)
			}
		}
	case "cp", "gcp", "install", "ditto":
		fields := o.plain("-t -S -m -o -g --target-directory --suffix --mode --owner --group")
		o.firstThen(place.Read, place.Write, fields, c.HasFlag("r", "R", "a", "recursive", "archive"))
		o.copied(fields)
	case "ln", "gln":
		fields := o.plain("-t -S --target-directory --suffix")
		o.firstThen(place.Link, place.Write, fields, false)
		o.linked(fields)
	case "rsync", "scp", "sftp":
		o.transfer()
	case "chmod", "chown", "chgrp", "chattr", "chflags", "setfacl", "xattr":
		fields := o.plain("-m -x --reference")
		if len(fields) > 1 && len(o.values("--reference")) == 0 && c.Name != "setfacl" {
			fields = fields[1:]
		}
		for _, f := range fields {
			if p := o.add(f, place.Mode); p != nil {
				p.Recursive = c.HasFlag("R", "recursive")
			}
		}
	case "touch", "mkdir", "mkfifo", "mknod", "tee", "sponge", "gtee":
		o.all(place.Write, o.plain("-m -d -r -t --mode --date --reference"))
	case "cat", "tac", "nl", "less", "more", "most", "bat", "batcat", "view", "base64", "base32", "xxd", "od", "hexdump", "strings", "head", "tail", "sort", "uniq", "wc",
		"cut", "paste", "comm", "join", "fold", "fmt", "rev", "column", "expand", "md5sum", "sha256sum", "shasum", "cksum", "diff", "cmp", "delta", "zcat", "gzcat",
		"bzcat", "xzcat", "gzip", "gunzip", "bzip2", "xz", "zstd", "split", "csplit", "pr", "iconv", "dos2unix", "glow", "mdcat", "csvlook", "pbcopy", "xclip",
		"open", "xdg-open", "code", "source-highlight", "pygmentize", "vim", "vi", "nvim", "nano", "emacs", "ed", "pico", "micro", "hx", "ggrep", "zip", "lp", "lpr", "ccrypt":
		for _, f := range o.plain("-n -c -f -d -k -t -w -s -b -l --lines --bytes --fields --delimiter --key --width --wrap -e --output-error") {
			if !numeric(f.text) {
				if p := o.add(f, place.Read); p != nil && (c.Name == "zip" && c.HasFlag("r") || c.Name == "diff" && c.HasFlag("r")) {
					p.Recursive = true
				}
			}
		}
		if c.Name == "sort" {
			o.all(place.Write, o.values("-o", "--output"))
		}
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep":
		o.search()
	case "sed", "gsed":
		o.sed()
	case "jq", "yq", "gojq", "xmllint", "xq", "mlr", "dasel":
		fields := o.plain("--arg --argjson --indent -L")
		if c.HasFlag("f", "from-file") || len(fields) == 0 {
			o.all(place.Read, fields)
		} else {
			o.all(place.Read, fields[1:])
		}
		if c.HasFlag("i", "inplace") && c.Name == "yq" {
			o.all(place.Write, fields[min(1, len(fields)):])
		}
	case "tar", "gtar", "bsdtar":
		o.tar()
	case "curl", "wget", "http", "https", "xh", "aria2c", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "openssl", "curlie", "httpie", "mail", "mutt", "sendmail", "nslookup", "dig", "host":
		o.network()
	case "git":
		o.git()
	case "ssh-keygen", "ssh-add", "gpg", "age", "sops":
		// They handle keys as they are meant to be handled.
	case "ls", "tree", "exa", "eza", "du", "stat", "file", "lsd":
		o.all(place.List, o.plain("-I -d -L --level --ignore"))
	case "echo", "printf", "test", "[", "true", "false", "export", "kill", "pkill", "killall", "which", "type", "sleep", "date", "basename",
		"dirname", "realpath", "readlink", "df", "pwd", "whoami", "id", "uname", "hostname", "ps", "top", "man", "hash", "wait", "exit", "return", "seq", "yes", "expr":
	case "grapnel", "grapnel-hook", "systemctl", "launchctl", "service", "crontab":
		c.Sub = firstWord(c.Args)
	case "aws", "gsutil", "rclone", "s3cmd", "gcloud", "az", "gh", "glab":
		o.upload()
	default:
		o.unknown()
	}
}

func firstWord(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return ""
}

func numeric(w string) bool { return w != "" && strings.Trim(w, "0123456789+-.,%kKmMgG") == "" }

// unknown reads a program that is not known: every word that may be a path is
// used by it.
func (o *operandReader) unknown() {
	if o.c.Sub == "" {
		switch o.c.Name {
		case "npm", "pnpm", "yarn", "docker", "podman", "kubectl", "helm", "gh", "cargo", "go", "pip", "aws", "gcloud", "terraform", "brew", "apt", "apt-get":
			o.c.Sub = firstWord(o.c.Args)
		}
	}
	for _, f := range o.fields {
		w := f.text
		if strings.HasPrefix(w, "-") {
			i := strings.IndexByte(w, '=')
			if i < 0 || !looksLikePath(w[i+1:]) || f.dynamic {
				continue
			}
			f = cut(f, i+1)
			w = f.text
		}
		if i := strings.LastIndexByte(w, '@'); i >= 0 && strings.HasPrefix(w[i+1:], "/") {
			f = cut(f, i+1)
		}
		if looksLikePath(f.text) && len(o.c.Paths) < 200 && (!f.dynamic || f.prefix > 0) {
			o.add(f, place.Use)
		}
	}
}
