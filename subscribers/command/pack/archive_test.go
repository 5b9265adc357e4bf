package pack_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/command/pack"
)

// goodPack is a whole pack.
func goodPack(t testing.TB) content {
	c := good()
	return c.with(manifest(t, "1.0.0", c, nil))
}

// tarred makes a tar archive; more adds to it what no good one has.
func (c content) tarred(t testing.TB, prefix string, more ...func(*tar.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(c)) {
		plain, exec := strings.CutSuffix(name, "*")
		h := &tar.Header{Name: prefix + plain, Size: int64(len(c[name])), Mode: 0o644, Typeflag: tar.TypeReg}
		if exec {
			h.Mode = 0o755
		}
		add(t, w, h, c[name])
	}
	for _, f := range more {
		f(w)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func add(t testing.TB, w *tar.Writer, h *tar.Header, text string) {
	t.Helper()
	require.NoError(t, w.WriteHeader(h))
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
}

func zipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func (c content) zip(t testing.TB, more ...func(*zip.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(c)) {
		plain, exec := strings.CutSuffix(name, "*")
		h := &zip.FileHeader{Name: plain, Method: zip.Deflate}
		h.SetMode(0o644)
		if exec {
			h.SetMode(0o755)
		}
		addZip(t, w, h, c[name])
	}
	for _, f := range more {
		f(w)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func addZip(t testing.TB, w *zip.Writer, h *zip.FileHeader, text string) {
	t.Helper()
	f, err := w.CreateHeader(h)
	require.NoError(t, err)
	_, err = io.WriteString(f, text)
	require.NoError(t, err)
}

func openBytes(t testing.TB, b []byte) (*pack.Pack, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pack")
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return pack.Open(path, find)
}

func TestEveryKindOfArchiveIsTheSamePack(t *testing.T) {
	t.Parallel()
	c := goodPack(t)
	dir := func(name string) func(*tar.Writer) {
		return func(w *tar.Writer) {
			add(t, w, &tar.Header{Name: name, Mode: 0o755 | 0o2000, Typeflag: tar.TypeDir}, "")
		}
	}
	want, err := pack.Open(c.directory(t), find)
	require.NoError(t, err)
	for what, b := range map[string][]byte{
		"tar":              c.tarred(t, ""),
		"tar.gz":           zipped(t, c.tarred(t, "")),
		"tar of .":         c.tarred(t, "./", dir("./"), dir("./bin/")),
		"tar of a dir":     c.tarred(t, "no-secrets-1.0.0/", dir("no-secrets-1.0.0/"), dir("no-secrets-1.0.0/bin/")),
		"two gzip streams": append(zipped(t, c.tarred(t, "")[:1000]), zipped(t, c.tarred(t, "")[1000:])...),
		"git archive": c.tarred(t, "x/", func(w *tar.Writer) {
			add(t, w, &tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": "0123"}}, "")
		}),
		"zip": c.zip(t),
		"zip with directories": c.zip(t, func(w *zip.Writer) {
			_, err := w.Create("bin/")
			require.NoError(t, err)
			require.NoError(t, w.SetComment("a comment"))
		}),
	} {
		got, err := openBytes(t, b)
		if assert.NoError(t, err, what) {
			assert.Equal(t, want, got, what)
		}
	}
}

func TestHostileTarArchives(t *testing.T) {
	t.Parallel()
	file := func(name, text string) func(*tar.Writer) {
		return func(w *tar.Writer) {
			add(t, w, &tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg}, text)
		}
	}
	special := func(kind byte, name, target string) func(*tar.Writer) {
		return func(w *tar.Writer) {
			add(t, w, &tar.Header{Name: name, Linkname: target, Mode: 0o777, Typeflag: kind}, "")
		}
	}
	c := goodPack(t)
	for what, test := range map[string]struct {
		more func(*tar.Writer)
		want error
		says string
	}{
		"up":                     {file("../evil", "x"), pack.ErrFormat, `".."`},
		"up inside":              {file("bin/../../evil", "x"), pack.ErrFormat, `".."`},
		"up and back":            {file("bin/../evil", "x"), pack.ErrFormat, `".."`},
		"absolute":               {file("/etc/cron.d/evil", "x"), pack.ErrFormat, "relative"},
		"up of Windows":          {file(`..\evil`, "x"), pack.ErrFormat, "portable"},
		"drive":                  {file(`C:\evil`, "x"), pack.ErrFormat, "portable"},
		"share":                  {file(`//host/share/evil`, "x"), pack.ErrFormat, "relative"},
		"device of Windows":      {file("nul.txt", "x"), pack.ErrFormat, "device"},
		"dot in the middle":      {file("bin/./x", "x"), pack.ErrFormat, `"."`},
		"twice the same":         {file("bin/check.sh", "x"), pack.ErrFormat, "twice"},
		"twice with a dot":       {file("./bin/check.sh", "x"), pack.ErrFormat, "twice"},
		"two manifests":          {file("pack.json", "{}"), pack.ErrFormat, "twice"},
		"manifest in capitals":   {file("PACK.JSON", "{}"), pack.ErrFormat, "one name"},
		"case clash":             {file("bin/Check.sh", "x"), pack.ErrFormat, "one name"},
		"case clash of dirs":     {file("Bin/other.sh", "x"), pack.ErrFormat, "one name"},
		"file as a directory":    {file("bin/check.sh/x", "x"), pack.ErrFormat, "a file and a directory"},
		"directory as a file":    {file("bin", "x"), pack.ErrFormat, "a file and a directory"},
		"composed":               {file("caf\u00e9", "x"), pack.ErrFormat, "portable"},
		"decomposed":             {file("cafe\u0301", "x"), pack.ErrFormat, "portable"},
		"not UTF-8":              {file("caf\xe9", "x"), pack.ErrFormat, "portable"},
		"new line":               {file("a\nb", "x"), pack.ErrFormat, "portable"},
		"Kelvin sign":            {file("bin/chec\u212a.sh", "x"), pack.ErrFormat, "portable"},
		"hidden":                 {file(".git/hooks/post-checkout", "x"), pack.ErrFormat, "portable"},
		"not listed":             {file("bin/extra", "x"), pack.ErrContent, "bin/extra is not in the list"},
		"a symbolic link":        {special(tar.TypeSymlink, "bin/link", "/etc/passwd"), pack.ErrFormat, "a symbolic link"},
		"link over a file":       {special(tar.TypeSymlink, "bin/check.sh", "/etc/passwd"), pack.ErrFormat, "a symbolic link"},
		"a hard link":            {special(tar.TypeLink, "bin/link", "/etc/passwd"), pack.ErrFormat, "a hard link"},
		"hard link inside":       {special(tar.TypeLink, "bin/link", "bin/check.sh"), pack.ErrFormat, "a hard link"},
		"a device":               {special(tar.TypeChar, "bin/null", ""), pack.ErrFormat, "a device"},
		"a disk":                 {special(tar.TypeBlock, "bin/sda", ""), pack.ErrFormat, "a device"},
		"a pipe":                 {special(tar.TypeFifo, "bin/pipe", ""), pack.ErrFormat, "a pipe"},
		"contiguous":             {special(tar.TypeCont, "bin/cont", ""), pack.ErrFormat, "bin/cont"},
		"of a kind of its own":   {special('Z', "bin/z", ""), pack.ErrFormat, "bin/z"},
		"directory outside":      {special(tar.TypeDir, "../x/", ""), pack.ErrFormat, `".."`},
		"many directories":       {many(t, 4*pack.MaxFiles, tar.TypeDir), pack.ErrTooLarge, "entries"},
		"many times a directory": {again(t, 4*pack.MaxFiles, "bin/"), pack.ErrTooLarge, "entries"},
		"many files":             {many(t, pack.MaxFiles, tar.TypeReg), pack.ErrTooLarge, "files"},
		"set-user-id": {func(w *tar.Writer) {
			add(t, w, &tar.Header{Name: "bin/root", Mode: 0o4755, Typeflag: tar.TypeReg}, "")
		}, pack.ErrFormat, "set-user-id"},
		"set-group-id": {func(w *tar.Writer) {
			add(t, w, &tar.Header{Name: "bin/root", Mode: 0o2755, Typeflag: tar.TypeReg}, "")
		}, pack.ErrFormat, "set-user-id"},
		"a mode that says link": {func(w *tar.Writer) {
			add(t, w, &tar.Header{Name: "bin/root", Mode: 0o120777, Typeflag: tar.TypeReg}, "")
		}, pack.ErrFormat, "a symbolic link"},
		"global header": {func(w *tar.Writer) {
			add(t, w, &tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "g", PAXRecords: map[string]string{"path": "../evil"}}, "")
		}, pack.ErrFormat, "global header"},
		"long name": {file(strings.Repeat("a/", 20_000)+"a", ""), pack.ErrFormat, "characters"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for _, b := range [][]byte{c.tarred(t, "", test.more), zipped(t, c.tarred(t, "", test.more))} {
				_, err := openBytes(t, b)
				require.ErrorIs(t, err, test.want)
				assert.ErrorContains(t, err, test.says)
			}
		})
	}
}

func many(t testing.TB, n int, kind byte) func(*tar.Writer) {
	return func(w *tar.Writer) {
		for i := range n {
			add(t, w, &tar.Header{Name: fmt.Sprintf("n%d", i), Mode: 0o755, Typeflag: kind}, "")
		}
	}
}

func again(t testing.TB, n int, name string) func(*tar.Writer) {
	return func(w *tar.Writer) {
		for range n {
			add(t, w, &tar.Header{Name: name, Mode: 0o755, Typeflag: tar.TypeDir}, "")
		}
	}
}

// deflated is a mebibyte of zeros, n times, without compressing it n times.
func deflated(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, w.Flush())
	return append(bytes.Repeat(out.Bytes(), n), 3, 0) // an empty last block
}

func TestBombs(t *testing.T) {
	t.Parallel()
	const mebibytes = pack.MaxFile >> 20
	mebibyte := zipped(t, make([]byte, 1<<20))
	header := func(name string, size int64) []byte {
		var out bytes.Buffer
		require.NoError(t, tar.NewWriter(&out).WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644, Typeflag: tar.TypeReg}))
		return zipped(t, out.Bytes())
	}
	var several []byte
	for i := range 5 {
		several = slices.Concat(several, header(fmt.Sprintf("f%d", i), pack.MaxFile), bytes.Repeat(mebibyte, mebibytes))
	}
	var zipBomb bytes.Buffer
	w := zip.NewWriter(&zipBomb)
	content, checksum := deflated(t, mebibytes), crc32.ChecksumIEEE(make([]byte, pack.MaxFile))
	for i := range 5 {
		f, err := w.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("f%d", i), Method: zip.Deflate, CRC32: checksum,
			CompressedSize64: uint64(len(content)), UncompressedSize64: pack.MaxFile})
		require.NoError(t, err)
		_, err = f.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	for what, b := range map[string][]byte{
		"file that is too large":      header("f", 1<<40),
		"files too large together":    several,
		"padding without end":         append(zipped(t, goodPack(t).tarred(t, "")), bytes.Repeat(mebibyte, pack.MaxArchive>>20)...),
		"zip files too large":         zipBomb.Bytes(),
		"zip with too many entries":   manyZip(t, 4*pack.MaxFiles+1),
		"zip with a list without end": manyZip(t, 60_000),
	} {
		assert.Less(t, len(b), 8<<20, what)
		_, err := openBytes(t, b)
		assert.ErrorIs(t, err, pack.ErrTooLarge, what)
	}
	path := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, pack.MaxArchive+1))
	_, err := pack.Open(path, find)
	require.ErrorIs(t, err, pack.ErrTooLarge)
}

func manyZip(t testing.TB, n int) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := range n {
		_, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("f%d", i), Method: zip.Store})
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestHostileZipArchives(t *testing.T) {
	t.Parallel()
	file := func(name string, mode fs.FileMode) func(*zip.Writer) {
		return func(w *zip.Writer) {
			h := &zip.FileHeader{Name: name, Method: zip.Store}
			h.SetMode(mode)
			addZip(t, w, h, "x")
		}
	}
	c := goodPack(t)
	for what, test := range map[string]struct {
		more func(*zip.Writer)
		want error
		says string
	}{
		"up":               {file("../evil", 0o644), pack.ErrFormat, `".."`},
		"absolute":         {file("/evil", 0o644), pack.ErrFormat, "relative"},
		"of Windows":       {file(`..\..\evil`, 0o644), pack.ErrFormat, ""},
		"twice":            {file("bin/check.sh", 0o755), pack.ErrFormat, "twice"},
		"case clash":       {file("bin/CHECK.sh", 0o755), pack.ErrFormat, "one name"},
		"a symbolic link":  {file("bin/link", 0o777|fs.ModeSymlink), pack.ErrFormat, "a symbolic link"},
		"a pipe":           {file("bin/pipe", 0o777|fs.ModeNamedPipe), pack.ErrFormat, "a pipe"},
		"a device":         {file("bin/dev", 0o777|fs.ModeDevice), pack.ErrFormat, "a device"},
		"a socket":         {file("bin/socket", 0o777|fs.ModeSocket), pack.ErrFormat, "a socket"},
		"set-user-id":      {file("bin/root", 0o755|fs.ModeSetuid), pack.ErrFormat, "set-user-id"},
		"not listed":       {file("bin/extra", 0o755), pack.ErrContent, "not in the list"},
		"directory's data": {file("bin/x", 0o755|fs.ModeDir), pack.ErrFormat, "no directory"},
		"not as long as it says": {func(w *zip.Writer) {
			f, err := w.CreateRaw(&zip.FileHeader{Name: "short", Method: zip.Store, CompressedSize64: 1, UncompressedSize64: 5})
			require.NoError(t, err)
			_, err = f.Write([]byte("x"))
			require.NoError(t, err)
		}, pack.ErrFormat, "short"},
		"encrypted": {func(w *zip.Writer) {
			_, err := w.CreateRaw(&zip.FileHeader{Name: "secret", Method: zip.Store, Flags: 1})
			require.NoError(t, err)
		}, pack.ErrFormat, "encrypted"},
		"method that nobody knows": {func(w *zip.Writer) {
			_, err := w.CreateRaw(&zip.FileHeader{Name: "x", Method: 99})
			require.NoError(t, err)
		}, pack.ErrFormat, ""},
		"larger than it says": {func(w *zip.Writer) {
			_, err := w.CreateRaw(&zip.FileHeader{Name: "x", Method: zip.Store, UncompressedSize64: 1 << 60})
			require.NoError(t, err)
		}, pack.ErrTooLarge, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			_, err := openBytes(t, c.zip(t, test.more))
			require.ErrorIs(t, err, test.want)
			assert.ErrorContains(t, err, test.says)
		})
	}
}

// TestDamagedArchives cuts archives short at every place that matters and
// changes bytes.
func TestDamagedArchives(t *testing.T) {
	t.Parallel()
	c := goodPack(t)
	plain := c.tarred(t, "")
	for what, b := range map[string][]byte{"tar.gz": zipped(t, plain), "zip": c.zip(t)} {
		for n := 0; n < len(b); n += 7 {
			_, err := openBytes(t, b[:n])
			assert.Error(t, err, "%s cut after %d bytes", what, n)
		}
	}
	want, err := openBytes(t, plain)
	require.NoError(t, err)
	for n := 0; n < len(plain); n += 100 {
		if got, err := openBytes(t, plain[:n]); err == nil {
			assert.Equal(t, want, got, "only padding may be missing: tar cut after %d bytes", n)
		}
	}
	_, err = openBytes(t, append(zipped(t, plain), "more"...))
	assert.ErrorIs(t, err, pack.ErrFormat, "after the stream")
	_, err = openBytes(t, zipped(t, append(slices.Clone(plain), "more"...)))
	require.ErrorIs(t, err, pack.ErrFormat)
	assert.ErrorContains(t, err, "after the end")
	// A checksum at the end is looked at, too.
	b := zipped(t, plain)
	b[len(b)-5] ^= 1
	_, err = openBytes(t, b)
	assert.ErrorIs(t, err, pack.ErrFormat)
	for _, text := range []string{"", "PK", "PK\x03\x04", "PK\x05\x06", "\x1f\x8b", "hello, this is no archive", strings.Repeat("x", 2000)} {
		_, err := openBytes(t, []byte(text))
		assert.ErrorIs(t, err, pack.ErrFormat, "%q", text)
	}
}
