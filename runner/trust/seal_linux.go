package trust

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// sealFile reads f into memory that is then sealed: nobody can change it, shrink
// it or take the seals off, the owner included.
func sealFile(f *os.File, id identity, limit int64) (*content, error) {
	if id.size > limit {
		return nil, tooLarge(f.Name(), limit)
	}
	fd, err := unix.MemfdCreate("grapnel-hook", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3 all such memory is executable
		fd, err = unix.MemfdCreate("grapnel-hook", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: no executable memory (memfd_create: %w; is vm.memfd_noexec set?)", ErrSeal, err)
	}
	memory := os.NewFile(uintptr(fd), "grapnel-hook")
	defer memory.Close()
	c, err := readContent(f, id, limit, onlyWriter{memory})
	if err != nil {
		return nil, err
	}
	seals := unix.F_SEAL_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(memory.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return nil, fmt.Errorf("%w: memory cannot be sealed: %w", ErrSeal, err)
	}
	// A description of its own that is for reading only is what hooks inherit.
	c.sealed, err = os.Open(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return nil, fmt.Errorf("%w: sealed memory cannot be opened (is /proc mounted?): %w", ErrSeal, err)
	}
	return c, nil
}
