//go:build unix

package trust

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from waiting for anything and from following a link
// that came in since it was resolved.
const openFlags = unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_NOCTTY

// identity is what shows that a file is another one, or was written to. The
// change time cannot be set back by who writes.
type identity struct {
	device, inode    uint64
	size             int64
	modified, change int64 // nanoseconds since 1970
	mode             os.FileMode
	owner            uint32
}

func identify(f *os.File) (identity, error) {
	info, err := f.Stat()
	if err != nil {
		return identity{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return identity{}, &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return identity{
		device: uint64(st.Dev), inode: st.Ino, size: st.Size,
		modified: st.Mtim.Nano(), change: st.Ctim.Nano(),
		mode: info.Mode(), owner: st.Uid,
	}, nil
}

// settled says whether a later write to the file would show in its times: they
// are as coarse as the file system's clock.
func (i identity) settled(now time.Time) bool {
	return now.UnixNano()-i.change > int64(coarseness)
}

// private says whether nobody but user could have written the file.
func (i identity) private(user int) bool {
	return int(i.owner) == user && i.mode.Perm()&0o022 == 0
}

func syncDirectory(d *os.File) error { return d.Sync() }
