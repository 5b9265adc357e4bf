//go:build unix

package trust

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// onlyRootWrites says whether nobody but root can change what path leads to:
// every directory and link on the way and the file itself are root's, and no one
// else may write to them. Where user is root it says no: what we may write, an
// agent that runs as we do may write as well.
func onlyRootWrites(path string, user int) bool {
	return user != 0 && filepath.IsAbs(path) && rootOwned(filepath.Clean(path), 0)
}

func rootOwned(path string, links int) bool {
	if links > 40 || !rootOwns("/", false) {
		return false
	}
	at := "/"
	names := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, name := range names {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if err != nil {
			return false
		}
		if info.Mode()&os.ModeSymlink == 0 {
			if !rootOwns(at, i == len(names)-1) {
				return false
			}
			continue
		}
		target, err := os.Readlink(at)
		if err != nil || !rootOwnsLink(info) {
			return false
		}
		if !filepath.IsAbs(target) {
			// Join would take ".." off by name; what comes before it has been
			// followed already and is a directory, never a link.
			target = filepath.Join(filepath.Dir(at), target)
		}
		return rootOwned(filepath.Join(append([]string{target}, names[i+1:]...)...), links+1)
	}
	return true
}

func rootOwnsLink(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0
}

func rootOwns(path string, last bool) bool {
	info, err := os.Lstat(path)
	if err != nil || !rootOwnsLink(info) || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	return info.IsDir() != last
}
