package pack

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
)

// Limits of names: with these below them, the usual directories fit into the
// 260 characters of Windows.
const (
	maxName    = 200
	maxElement = 100
	maxDepth   = 16
)

var (
	elementPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+@,=-]*$`)
	devicePattern  = regexp.MustCompile(`^(?i:con|prn|aux|nul|conin|conout|com[0-9]|lpt[0-9])(\.|$)`)
)

// checkName reports why a name cannot be a file's in a pack. Names are the same
// bytes on all systems: ASCII has no second way to write a letter.
func checkName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("the name %.80q… has more than %d characters", name, maxName)
	}
	elements := strings.Split(name, "/")
	if len(elements) > maxDepth {
		return fmt.Errorf("%q is more than %d directories deep", name, maxDepth)
	}
	for _, e := range elements {
		if err := checkElement(e); err != nil {
			return err
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("%q leads out of the pack", name)
	}
	return nil
}

func checkElement(e string) error {
	switch {
	case e == "" || e == "." || e == "..":
		return fmt.Errorf("there is %q in a path, which must be relative and plain", e)
	case len(e) > maxElement:
		return fmt.Errorf("the name %.80q… has more than %d characters", e, maxElement)
	case !elementPattern.MatchString(e), strings.HasSuffix(e, "."):
		return fmt.Errorf("the name %.100q is not portable: use letters, digits and ._+@,=- and begin with a letter or digit", e)
	case devicePattern.MatchString(e):
		return fmt.Errorf("the name %q means a device on Windows", e)
	}
	return nil
}

// kindOf says in words what a file is.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode.IsDir():
		return "a directory"
	case mode.IsRegular():
		return "a file"
	}
	return "something else"
}
