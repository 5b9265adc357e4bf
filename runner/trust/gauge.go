package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// coarseness is how long a write may go without showing in a file's times:
// those of some file systems are whole seconds, or two.
const coarseness = 2 * time.Second

// Options tune a Gauge. The zero value works on Linux.
type Options struct {
	// Dir is an absolute path for private copies of files; it is made, with
	// mode 0700, when it is first needed. Required where there is no sealed
	// memory: everywhere but on Linux. There it is used for links by which a
	// command that does different things under different names (busybox) keeps
	// its name; without it such a command is measured and run by path.
	Dir string
	// CachedFiles is how many files are kept between measurements. Defaults to
	// 128; each may hold a descriptor.
	CachedFiles int
	// CachedBytes is how much memory these may take. Defaults to 512 MiB.
	CachedBytes int64
}

// Gauge measures hooks, and keeps what it read for as long as the files do not
// change. All methods may be called concurrently.
type Gauge struct {
	options Options
	user    int  // whose write access counts; tests change it
	copies  bool // do without sealed memory; tests set it

	mu      sync.Mutex
	closed  bool
	private string // the directory in options.Dir, once there is one
	cached  map[cacheKey]*cacheEntry
	clock   uint64 // counts uses
	bytes   int64
}

// cacheKey tells bytes apart without reading them. The same file can be named in
// a way that needs its bytes kept, and in one that does not.
type cacheKey struct {
	identity
	kept bool
}

type cacheEntry struct {
	*content
	used    uint64
	settled bool
}

// NewGauge returns a gauge; nil options are the zero ones. Close it.
func NewGauge(o *Options) *Gauge {
	g := &Gauge{user: os.Geteuid(), cached: map[cacheKey]*cacheEntry{}}
	if o != nil {
		g.options = *o
	}
	if g.options.CachedFiles <= 0 {
		g.options.CachedFiles = 128
	}
	if g.options.CachedBytes <= 0 {
		g.options.CachedBytes = 512 << 20
	}
	return g
}

// Close gives up what is kept and removes private copies. Close the measurements
// first. It is idempotent.
func (g *Gauge) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	var errs []error
	for key := range g.cached {
		errs = append(errs, g.forget(key))
	}
	if g.private != "" {
		errs = append(errs, os.RemoveAll(g.private))
		g.private = ""
	}
	return errors.Join(errs...)
}

// read opens what path leads to and returns its bytes, from an earlier reading
// when the file did not change since. The caller releases it.
func (g *Gauge) read(path string, limit int64) (f *file, err error) {
	byPath := onlyRootWrites(path, g.user)
	for attempt := 1; ; attempt++ {
		opened, real, id, err := openRegular(path)
		if err != nil {
			return nil, err
		}
		c, err := g.contentOf(opened, cacheKey{id, !byPath || !onlyRootWrites(real, g.user)}, limit)
		if err := errors.Join(err, opened.Close()); errors.Is(err, ErrUnstable) && attempt < attempts {
			continue
		} else if err != nil {
			return nil, err
		}
		return &file{path, real, c}, nil
	}
}

// contentOf returns what f holds, with a reference for the caller.
func (g *Gauge) contentOf(f *os.File, key cacheKey, limit int64) (*content, error) {
	if key.size > limit {
		return nil, tooLarge(f.Name(), limit)
	}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil, fmt.Errorf("%w: the gauge", ErrClosed)
	}
	if e := g.cached[key]; e != nil && e.settled {
		g.clock++
		e.used = g.clock
		e.refs++
		g.mu.Unlock()
		return e.content, nil
	}
	g.mu.Unlock()

	settled := key.settled(time.Now()) // before the reading: what is written from here on shows
	c, err := g.take(f, key, limit)
	if err != nil {
		return nil, err
	}
	if after, err := identify(f); err != nil || after != key.identity {
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrUnstable, f.Name()), err, c.free())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, errors.Join(fmt.Errorf("%w: the gauge", ErrClosed), c.free())
	}
	return c, g.keep(key, c, settled)
}

// take reads the bytes into sealed memory, or a private copy, or only hashes
// them where nobody can change the file.
func (g *Gauge) take(f *os.File, key cacheKey, limit int64) (*content, error) {
	if !key.kept {
		return readContent(f, key.identity, limit, nil)
	}
	if !g.copies {
		c, err := sealFile(f, key.identity, limit)
		if !errors.Is(err, ErrSeal) || g.options.Dir == "" {
			return c, err
		}
		if _, err := f.Seek(0, 0); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrFile, f.Name(), err)
		}
	}
	dir, err := g.privateDir()
	if err != nil {
		return nil, err
	}
	return copyFile(dir, f, key.identity, limit)
}

// keep puts the content into the cache in place of an older one, and gives the
// caller a reference. The caller has the lock.
func (g *Gauge) keep(key cacheKey, c *content, settled bool) error {
	var errs []error
	if g.cached[key] != nil {
		errs = append(errs, g.forget(key))
	}
	g.clock++
	g.cached[key] = &cacheEntry{c, g.clock, settled}
	g.bytes += c.held()
	c.refs = 2 // the cache's and the caller's
	for len(g.cached) > g.options.CachedFiles || g.bytes > g.options.CachedBytes {
		oldest := key
		for k, e := range g.cached {
			if e.used < g.cached[oldest].used {
				oldest = k
			}
		}
		errs = append(errs, g.forget(oldest))
	}
	return errors.Join(errs...)
}

// forget takes one out of the cache. The caller has the lock.
func (g *Gauge) forget(key cacheKey) error {
	c := g.cached[key].content
	delete(g.cached, key)
	g.bytes -= c.held()
	return g.drop(c)
}

// release gives a reference back.
func (g *Gauge) release(c *content) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.drop(c)
}

func (g *Gauge) drop(c *content) error {
	if c.refs--; c.refs > 0 {
		return nil
	}
	return c.free()
}

// held is how much memory or disk the content takes.
func (c *content) held() int64 {
	if c.byPath() {
		return 0
	}
	return c.size
}

// free gives up what the content holds. Nobody may use it any more.
func (c *content) free() error {
	switch {
	case c.sealed != nil:
		return c.sealed.Close()
	case c.copied != "":
		return os.RemoveAll(filepath.Dir(c.copied))
	}
	return nil
}
