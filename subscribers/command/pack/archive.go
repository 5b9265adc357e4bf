package pack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// errBomb is wrapped by ErrTooLarge where an archive decompresses to more than
// it may.
var errBomb = fmt.Errorf("%w: the archive holds more than %d bytes", ErrTooLarge, MaxArchive)

// maxListing bounds what is read to list the files of a zip archive: its
// library keeps all of that in memory, several times over.
const maxListing = 4 << 20

// readArchive reads an archive. What it is, its first bytes say.
func readArchive(path string) (*tree, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: it is not a regular file", ErrFormat)
	}
	return readArchiveFrom(f, info.Size())
}

func readArchiveFrom(f io.ReaderAt, size int64) (*tree, error) {
	if size > MaxArchive {
		return nil, fmt.Errorf("%w: the archive has more than %d bytes", ErrTooLarge, MaxArchive)
	}
	head := make([]byte, 4)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	t, all := newTree(), io.NewSectionReader(f, 0, size)
	switch head = head[:n]; {
	case bytes.Equal(head, []byte("PK\x03\x04")), bytes.Equal(head, []byte("PK\x05\x06")):
		err = t.zip(f, size)
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		var z *gzip.Reader
		if z, err = gzip.NewReader(all); err == nil {
			err = t.tar(z)
		}
	default:
		err = t.tar(all)
	}
	if err != nil {
		if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrTooLarge) {
			err = fmt.Errorf("%w: it is neither a directory nor a tar, tar.gz or zip archive that can be read: %w", ErrFormat, err)
		}
		return nil, err
	}
	t.unwrap()
	return t, nil
}

// bounded fails when more is read than an archive may hold.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errBomb
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// tar reads all files of a tar archive, and the rest of what r holds.
func (t *tree) tar(r io.Reader) error {
	b := &bounded{r, MaxArchive}
	a := tar.NewReader(b)
	for {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			return rest(b)
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) { // names are checked here
			return err
		}
		if err := t.tarEntry(h, a); err != nil {
			return err
		}
	}
}

func (t *tree) tarEntry(h *tar.Header, r io.Reader) error {
	name := strings.TrimPrefix(h.Name, "./")
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return fmt.Errorf("%w: %.200q is a file with holes", ErrFormat, name)
		}
	}
	switch h.Typeflag {
	case tar.TypeReg:
		return t.file(name, h.FileInfo().Mode(), h.Size, r)
	case tar.TypeDir:
		return t.directory(strings.TrimSuffix(name, "/"))
	case tar.TypeXGlobalHeader:
		// git archive says its commit there. Anything else could change the
		// files that follow.
		for key := range h.PAXRecords {
			if key != "comment" {
				return fmt.Errorf("%w: there is a global header with %.40q", ErrFormat, key)
			}
		}
		return t.count()
	case tar.TypeLink:
		return fmt.Errorf("%w: %.200q is a hard link", ErrFormat, name)
	}
	return fmt.Errorf("%w: %.200q is %s", ErrFormat, name, kindOf(h.FileInfo().Mode()))
}

// rest reads what follows the end of a tar archive, which is padding. It also
// makes the decompressor compare its checksum.
func rest(r io.Reader) error {
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		if len(bytes.Trim(buffer[:n], "\x00")) > 0 {
			return fmt.Errorf("%w: there is something after the end of the archive", ErrFormat)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// budget is a file that can be read only so much.
type budget struct {
	io.ReaderAt
	left int64
}

func (b *budget) ReadAt(p []byte, at int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, fmt.Errorf("%w: the archive's list of files has more than %d bytes", ErrTooLarge, maxListing)
	}
	return b.ReaderAt.ReadAt(p, at)
}

// zip reads all files of a zip archive.
func (t *tree) zip(r io.ReaderAt, size int64) error {
	b := &budget{r, maxListing}
	a, err := zip.NewReader(b, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	if len(a.File) > maxEntries {
		return fmt.Errorf("%w: there are more than %d entries", ErrTooLarge, maxEntries)
	}
	b.left = 2 * MaxArchive // entries may overlap; what they hold counts in file
	for _, f := range a.File {
		if err := t.zipEntry(f); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) zipEntry(f *zip.File) error {
	name := strings.TrimPrefix(f.Name, "./")
	switch mode := f.Mode(); {
	case f.Flags&1 != 0:
		return fmt.Errorf("%w: %.200q is encrypted", ErrFormat, name)
	case mode.IsDir() || strings.HasSuffix(name, "/"):
		if f.UncompressedSize64 != 0 || mode&fs.ModeType&^fs.ModeDir != 0 {
			return fmt.Errorf("%w: %.200q is no directory", ErrFormat, name)
		}
		return t.directory(strings.TrimSuffix(name, "/"))
	case !mode.IsRegular():
		return fmt.Errorf("%w: %.200q is %s", ErrFormat, name, kindOf(mode))
	case f.UncompressedSize64 > MaxFile:
		return fmt.Errorf("%w: %.200q has more than %d bytes", ErrTooLarge, name, MaxFile)
	}
	content, err := f.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	return t.file(name, f.Mode(), int64(f.UncompressedSize64), content)
}
