package trust

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// Limits of one measurement.
const (
	// MaxFiles is how many files a hook may have, declared and found.
	MaxFiles = 64
	// MaxFileSize is how large each may be, in bytes.
	MaxFileSize = 64 << 20
	// MaxProgramSize is how large a binary may be, in bytes: that of an
	// interpreter may well be 120 MB.
	MaxProgramSize = 256 << 20
	// MaxTotalSize bounds all of them together, in bytes.
	MaxTotalSize = 512 << 20
)

// attempts is how often a file that changes while it is read is read again.
const attempts = 3

// file is a measured file: its name at the moment, and its bytes.
type file struct {
	path string // as looked up, absolute
	real string // with symbolic links resolved
	*content
}

// content are the bytes of a file as they were read once. Exactly one of sealed
// and copied is set, or none when only root could change the file.
type content struct {
	sum    Digest
	size   int64
	head   []byte // the first maxShebang bytes
	mode   os.FileMode
	sealed *os.File // opened for reading; of sealed memory
	copied string   // the path of a private copy
	refs   int      // guarded by Gauge.mu
}

// byPath says that the file is run under its own path.
func (c *content) byPath() bool { return c.sealed == nil && c.copied == "" }

// openRegular opens the file that path leads to, if it is a regular one. It does
// not wait for a FIFO's writer, nor touch a device.
func openRegular(path string) (f *os.File, real string, id identity, err error) {
	fail := func(err error) (*os.File, string, identity, error) {
		if errors.Is(err, os.ErrNotExist) {
			return nil, "", identity{}, fmt.Errorf("%w: %s", process.ErrNotFound, path)
		}
		return nil, "", identity{}, fmt.Errorf("%w: %s: %w", ErrFile, path, err)
	}
	if real, err = filepath.EvalSymlinks(path); err != nil {
		return fail(err)
	}
	info, err := os.Lstat(real)
	if err != nil {
		return fail(err)
	}
	if !info.Mode().IsRegular() {
		return fail(fmt.Errorf("it is not a regular file but %s", kindOf(info.Mode())))
	}
	if f, err = os.OpenFile(real, os.O_RDONLY|openFlags, 0); err != nil {
		return fail(err)
	}
	id, err = identify(f)
	if err == nil && !id.mode.IsRegular() { // it was swapped in between
		err = fmt.Errorf("it is not a regular file but %s", kindOf(id.mode))
	}
	if err != nil {
		_ = f.Close()
		return fail(err)
	}
	return f, real, id, nil
}

func kindOf(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&os.ModeNamedPipe != 0:
		return "a named pipe"
	case m&os.ModeSocket != 0:
		return "a socket"
	case m&os.ModeDevice != 0:
		return "a device"
	case m&os.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "something else"
}

// readContent reads f once: what is hashed is what is kept. At most limit bytes
// are read. keep is given the same bytes, and may be nil.
func readContent(f *os.File, id identity, limit int64, keep io.Writer) (*content, error) {
	c := &content{mode: id.mode}
	h := sha256.New()
	head := &headWriter{}
	writers := []io.Writer{h, head}
	if keep != nil {
		writers = append(writers, keep)
	}
	n, err := io.Copy(io.MultiWriter(writers...), io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFile, f.Name(), err)
	}
	if n > limit {
		return nil, tooLarge(f.Name(), limit)
	}
	c.size, c.sum, c.head = n, Digest(h.Sum(nil)), head.b
	return c, nil
}

func tooLarge(path string, limit int64) error {
	return fmt.Errorf("%w: %s has more than %d bytes", ErrTooLarge, path, limit)
}

// headWriter keeps the first bytes.
type headWriter struct{ b []byte }

func (w *headWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p[:min(len(p), maxShebang-len(w.b))]...)
	return len(p), nil
}

// onlyWriter hides the file's other methods: io.Copy would have the kernel copy
// past the hash.
type onlyWriter struct{ io.Writer }
