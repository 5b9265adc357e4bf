package natsd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/grapnel-dev/grapnel/internal/filelock"
)

// ErrLocked means that another process runs on the state directory.
var ErrLocked = errors.New("another grapnel runs on this state directory")

// lock is a lock on a file that the operating system gives up with the
// process, whatever way it ends.
type lock struct{ file *os.File }

func acquire(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if taken, err := filelock.Try(f); !taken {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		_ = f.Close()
		if err == nil {
			return nil, fmt.Errorf("%w: %s is held by process %s; stop it with `grapnel down`, or use another --state", ErrLocked, path, strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := f.Truncate(0); err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
	return &lock{f}, nil
}

// release gives the lock up. The file stays: removing it would let two
// processes lock two different files under one name.
func (l *lock) release() { _ = l.file.Close() }
