package place

import (
	"path"
	"strings"
)

// Op is what happens to a path.
type Op string

// The operations.
const (
	Read   Op = "read"   // its content is read
	Write  Op = "write"  // it is created, changed or emptied
	Delete Op = "delete" // it is removed
	Mode   Op = "mode"   // its owner, group or permissions change
	List   Op = "list"   // names in it are read
	Run    Op = "run"    // it is executed
	Send   Op = "send"   // its content leaves the machine
	Link   Op = "link"   // a new name for it is made
	Use    Op = "use"    // it is named to a program that may do anything with it
)

// Path is one path that something happens to.
type Path struct {
	// Raw is the path as it was written, unquoted and expanded.
	Raw string
	// Abs is the absolute path without "." and ".."; links are not followed.
	// It may hold glob characters. Empty when Unknown.
	Abs string
	// Op is what happens to it.
	Op Op
	// Glob says that Abs is a pattern.
	Glob bool
	// Recursive says that everything below it is meant as well.
	Recursive bool
	// Unknown says that the path could not be found out before it is used.
	Unknown bool
	// Partial says that only a leading part of the path is known; Abs ends
	// in "*".
	Partial bool

	resolver *Resolver
	joined   string // absolute, with "." and ".." still in it
	real     string
	expanded *expansion
	known    []membership

	absSpot, realSpot *spot
}

// membership remembers whether a path is in a set: several rules ask.
type membership struct {
	set *Set
	has bool
}

// Base is the last component.
func (p *Path) Base() string {
	if p.Unknown {
		return path.Base(p.Raw)
	}
	return path.Base(p.Abs)
}

// Dir is Abs up to the first component with a glob character in it, or all of
// Abs.
func (p *Path) Dir() string {
	if !p.Glob {
		return p.Abs
	}
	return staticDir(p.Abs)
}

// Real is Abs with links followed; of a glob, that of its Dir with the rest
// appended. A path that is deleted or linked to keeps its last component: the
// link goes, not what it points to.
func (p *Path) Real() string {
	if p.Unknown || p.real != "" {
		return p.real
	}
	dir, rest := p.joined, ""
	if p.Glob {
		dir = staticDir(p.joined)
		rest = strings.TrimPrefix(p.joined[len(dir):], "/")
	} else if p.Op == Delete && !strings.HasSuffix(p.Raw, "/") && !dotted(path.Base(p.joined)) {
		dir, rest = path.Split(p.joined)
	}
	real, ok := p.resolver.follow(dir)
	if !ok {
		p.Unknown = true
		p.resolver.failed = append(p.resolver.failed, p)
		return ""
	}
	p.real = path.Join(real, rest)
	return p.real
}

// InWorkspace reports whether the path leads into the workspace. The
// workspace's own root counts as inside.
func (p *Path) InWorkspace() bool { return p.within(p.resolver.workspaceRoots()) }

// InHome reports whether the path leads into the home directory.
func (p *Path) InHome() bool { return p.within(p.resolver.homeRoots()) }

// InTemp reports whether the path leads into a directory for temporary files.
// The directory itself, and all that is in it at once, do not count.
func (p *Path) InTemp() bool {
	roots := p.resolver.tempRoots()
	return p.within(roots) && !p.coversAny(roots)
}

// Protected reports whether the path leads into a directory that the bus keeps
// for itself, or takes such a directory along.
func (p *Path) Protected() bool {
	roots := p.resolver.protectedRoots()
	return len(roots) > 0 && !p.Unknown &&
		(under(p.Abs, roots) || under(p.Real(), roots) || (p.Recursive || p.Op == Delete) && p.coversAny(roots))
}

// System reports whether the path belongs to the operating system: it is
// neither in the workspace, nor the home directory, nor temporary, and at the
// root of the file system or in one of its standard directories.
func (p *Path) System() bool {
	if p.Unknown || p.InWorkspace() || p.InHome() || p.InTemp() {
		return false
	}
	return system(p.Abs) || system(p.Real())
}

// Device reports whether the path is a device that holds data: a disk, memory,
// a port.
func (p *Path) Device() bool {
	return !p.Unknown && (device(p.Abs) || device(p.Real()))
}

// CoversWorkspace reports whether the path is the workspace's root, a
// directory above it, or a glob for all that is in one of them.
func (p *Path) CoversWorkspace() bool { return p.coversAny(p.resolver.workspaceRoots()) }

// CoversHome is CoversWorkspace for the home directory.
func (p *Path) CoversHome() bool { return p.coversAny(p.resolver.homeRoots()) }

// Under reports whether the path is dir or below it; dir is absolute or begins
// with "~/".
func (p *Path) Under(dir string) bool {
	if p.Unknown {
		return false
	}
	dir = p.resolver.expandHome(dir)
	return below(p.Abs, dir) || below(p.Real(), dir)
}

// within demands it of the real path: a link in the workspace that leads
// elsewhere is elsewhere. Of a glob it demands it of everything that it names.
func (p *Path) within(roots []string) bool {
	if p.Unknown || len(roots) == 0 || !under(p.Real(), roots) {
		return false
	}
	if !p.Glob || p.Partial || p.search() || p.lastOnly() {
		return true
	}
	found := p.expand()
	for _, real := range found.elsewhere {
		if !under(real, roots) {
			return false
		}
	}
	return found.whole
}

// lastOnly says that only the last component is a glob, and that what happens
// to the path happens to the name itself.
func (p *Path) lastOnly() bool {
	return p.Op == Delete && !strings.ContainsAny(path.Dir(p.Abs), "*?[") && !strings.HasSuffix(p.Raw, "/")
}

func (p *Path) coversAny(roots []string) bool {
	if p.Unknown {
		return false
	}
	for _, at := range []string{p.Abs, p.Real()} {
		whole := wholeDir(at)
		for _, root := range roots {
			if below(root, at) || whole != "" && below(root, whole) {
				return true
			}
			if p.Glob && whole == "" && globCovers(at, root) {
				return true
			}
		}
	}
	return false
}

// globCovers reports whether a glob can name root or a directory above it.
func globCovers(glob, root string) bool {
	g, r := split(glob), split(root)
	if len(g) > len(r) {
		return false
	}
	for i, c := range g {
		if !component(c, r[i]) {
			return false
		}
	}
	return true
}

// wholeDir returns the directory of which a glob names everything, or "".
func wholeDir(glob string) string {
	dir, last := path.Split(glob)
	switch last {
	case "*", "**", ".*", "?*", "*.*", ".[!.]*", ".??*", ".[^.]*":
		return path.Clean(dir)
	}
	return ""
}

func dotted(base string) bool { return base == "." || base == ".." || base == "/" }

func under(p string, roots []string) bool {
	for _, root := range roots {
		if below(p, root) {
			return true
		}
	}
	return false
}

// below reports whether p is dir or below it; both are clean.
func below(p, dir string) bool {
	if dir == "/" {
		return strings.HasPrefix(p, "/")
	}
	return dir != "" && strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}

func system(p string) bool {
	first := p
	if i := strings.IndexByte(p[min(1, len(p)):], '/'); i >= 0 {
		first = p[:i+1]
	}
	switch strings.ToLower(first) {
	case "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/media", "/mnt", "/nix", "/opt", "/proc",
		"/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var", "/system", "/library", "/applications", "/users", "/private",
		"/volumes", "/cores", "/efi", "/snap":
		return true
	}
	return strings.ContainsAny(first, "*?[") || driveRoot(p)
}

// driveRoot knows Windows: a drive's root and its system directories.
func driveRoot(p string) bool {
	if len(p) < 2 || p[1] != ':' {
		return false
	}
	switch rest := strings.ToLower(strings.Trim(p[2:], "/")); {
	case rest == "", rest == "*", rest == "users":
		return true
	default:
		return below(rest, "windows") || strings.HasPrefix(rest, "program") || below(rest, "system32")
	}
}

func device(p string) bool {
	name, ok := strings.CutPrefix(p, "/dev/")
	if !ok {
		return false
	}
	for _, prefix := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "dm-", "md", "loop",
		"mem", "kmem", "port", "nbd", "zd", "mtd", "sr", "block/", "*"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
