package place

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Limits of one resolver.
const (
	MaxLinks   = 40     // links followed for one path
	MaxLookups = 20_000 // look-ups in the file system altogether
)

// Roots are the places that paths are held against. All are absolute; empty
// ones match nothing.
type Roots struct {
	// Workspace is the project's root. The file system's root is no
	// workspace.
	Workspace string
	// Home is the person's home directory.
	Home string
	// Temp are the directories for temporary files.
	Temp []string
	// Protected are the directories that the bus keeps for itself.
	Protected []string
}

// Resolver makes paths for one event. See the package comment.
type Resolver struct {
	roots   Roots
	lookups int
	links   map[string]string // directory or file -> its target, "" when it is no link
	failed  []*Path           // became unknown

	workspace, home, temp, protected []string

	lowHome   string // the home directory in lower case, as it was given
	cleanHome string // the same, clean
	homeDepth int    // its components
}

// NewResolver returns a resolver for the given places.
func NewResolver(roots Roots) *Resolver {
	r := &Resolver{roots: roots}
	r.roots.Workspace = Slash(roots.Workspace)
	r.roots.Home = Slash(roots.Home)
	if !absolute(r.roots.Workspace) || path.Clean(r.roots.Workspace) == "/" {
		r.roots.Workspace = ""
	}
	if !absolute(r.roots.Home) || path.Clean(r.roots.Home) == "/" {
		r.roots.Home = ""
	}
	if r.roots.Home != "" {
		r.lowHome = strings.ToLower(r.roots.Home)
		r.cleanHome = path.Clean(r.lowHome)
		r.homeDepth = len(split(r.lowHome))
	}
	return r
}

// Path returns what raw means in dir. dir may be empty when it is not known: a
// relative path is then unknown.
func (r *Resolver) Path(raw, dir string, op Op) *Path {
	p := &Path{Raw: raw, Op: op, resolver: r}
	at := Slash(raw)
	if !absolute(at) {
		if dir == "" {
			p.Unknown = true
			return p
		}
		at = dir + "/" + at
	}
	if len(at) > 4096 || strings.IndexByte(at, 0) >= 0 {
		p.Unknown = true
		return p
	}
	p.joined = at
	p.Abs = clean(at)
	return p
}

// GlobPath is Path for a word that holds unquoted glob characters.
func (r *Resolver) GlobPath(raw, dir string, op Op) *Path {
	p := r.Path(raw, dir, op)
	p.Glob = !p.Unknown
	return p
}

// Slash writes a path of this system with forward slashes.
func Slash(p string) string {
	if runtime.GOOS == "windows" {
		return filepath.ToSlash(p)
	}
	return p
}

func absolute(p string) bool {
	return strings.HasPrefix(p, "/") ||
		runtime.GOOS == "windows" && len(p) >= 3 && p[1] == ':' && p[2] == '/' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// clean is path.Clean that keeps the root of a drive a root.
func clean(p string) string {
	if p = path.Clean(p); runtime.GOOS == "windows" && len(p) == 2 && p[1] == ':' {
		p += "/"
	}
	return p
}

// Failed counts the paths that became unknown when their links were followed.
func (r *Resolver) Failed() int { return len(r.failed) }

// Retract makes the paths that failed after the first n as they were before.
func (r *Resolver) Retract(n int) {
	for _, p := range r.failed[n:] {
		p.Unknown, p.known, p.expanded, p.realSpot = false, nil, nil, nil
	}
	r.failed = r.failed[:n]
}

func (r *Resolver) expandHome(p string) string {
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = r.roots.Home + p[1:]
	}
	return clean(p)
}

func (r *Resolver) workspaceRoots() []string {
	if r.workspace == nil {
		r.workspace = r.both(r.roots.Workspace)
	}
	return r.workspace
}

func (r *Resolver) homeRoots() []string {
	if r.home == nil {
		r.home = r.both(r.roots.Home)
	}
	return r.home
}

func (r *Resolver) tempRoots() []string {
	if r.temp == nil {
		r.temp = r.both(r.roots.Temp...)
	}
	return r.temp
}

func (r *Resolver) protectedRoots() []string {
	if r.protected == nil {
		r.protected = r.both(r.roots.Protected...)
	}
	return r.protected
}

// both returns each directory as written and with its links followed; never
// nil.
func (r *Resolver) both(dirs ...string) []string {
	out := []string{}
	for _, dir := range dirs {
		dir = Slash(dir)
		if !absolute(dir) {
			continue
		}
		dir = clean(dir)
		out = append(out, dir)
		if real, ok := r.follow(dir); ok && real != dir {
			out = append(out, real)
		}
	}
	return out
}

// follow resolves the links of an absolute path, component by component.
func (r *Resolver) follow(abs string) (string, bool) {
	at := "/"
	if !strings.HasPrefix(abs, "/") { // a drive
		at, abs = abs[:3], abs[3:]
	}
	rest := abs
	for links := 0; rest != ""; {
		var c string
		c, rest, _ = strings.Cut(rest, "/")
		switch c {
		case "", ".":
			continue
		case "..":
			if up := path.Dir(at); up != "." { // a drive has no parent
				at = up
			}
			continue
		}
		next := path.Join(at, c)
		target, exists, ok := r.link(next)
		if !ok {
			return "", false
		}
		if !exists {
			return path.Join(next, rest), true
		}
		if target == "" {
			at = next
			continue
		}
		if links++; links > MaxLinks {
			return "", false
		}
		if target = Slash(target); absolute(target) {
			if at = "/"; target[0] != '/' {
				at, target = target[:3], target[3:]
			}
		}
		rest = target + "/" + rest
	}
	return at, true
}

// link reads one link; target is empty for what is none.
func (r *Resolver) link(p string) (target string, exists, ok bool) {
	if target, known := r.links[p]; known {
		return target, true, true
	}
	if r.lookups++; r.lookups > MaxLookups {
		return "", false, false
	}
	target, err := os.Readlink(p)
	if err != nil {
		// Only "not there" ends the walk. What cannot be looked at (no
		// permission) is taken as it is written.
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return "", false, true
		}
		target = ""
	}
	if r.links == nil {
		r.links = make(map[string]string, 16)
	}
	r.links[p] = target
	return target, true, true
}
