package trust

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Store keeps approvals in a file. All methods may be called concurrently, and
// by several processes for one file.
type Store struct {
	path string
	name string
	root *os.Root

	writing sync.Mutex // one writer in this process

	mu     sync.Mutex
	closed bool
	known  identity // of the file that was read last
	read   bool     // whether one was
	index  map[hookKey]*Approval
	err    error // why that one is not to be trusted
}

// Open returns the store in the file at path, an absolute path. The file need
// not be there; its directory is made with mode 0700. It fails when others than
// this user may write to the directory. The error wraps ErrStore.
func Open(path string) (*Store, error) {
	fail := func(err error) (*Store, error) { return nil, fmt.Errorf("%w: %w", ErrStore, err) }
	if !filepath.IsAbs(path) {
		return fail(fmt.Errorf("%.200q is not an absolute path", path))
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fail(err)
	}
	if err := checkPrivate(dir); err != nil {
		return fail(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fail(err)
	}
	return &Store{path: path, name: filepath.Base(path), root: root}, nil
}

// Close gives the directory up. It is idempotent.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.root.Close()
}

// Check says whether the measured hook may run. It never honours trustWorkspace:
// ask [Source.NeedsApproval] first.
//
// When the file of approvals is damaged or could have been written by others,
// the error wraps ErrStore and the state is New, for every hook that needs
// approval. The file is read again only when it changed.
func (s *Store) Check(m *Measurement) (State, error) {
	if !m.definition.Source.NeedsApproval(false) {
		return Trusted, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return New, err
	}
	switch a := s.index[m.definition.key()]; {
	case a == nil:
		return New, nil
	case a.Digest != m.digest:
		return Changed, nil
	case a.Refused:
		return Refused, nil
	}
	return Approved, nil
}

// Find returns the answer about the hook that d defines, as it was or is.
func (s *Store) Find(d Definition) (a Approval, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return a, false, err
	}
	if found := s.index[d.key()]; found != nil {
		return found.clone(), true, nil
	}
	return a, false, nil
}

// List returns all answers, by file, dialect and id.
func (s *Store) List() ([]Approval, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(); err != nil {
		return nil, err
	}
	list := make([]Approval, 0, len(s.index))
	for _, a := range s.index {
		list = append(list, a.clone())
	}
	slices.SortFunc(list, compare)
	return list, nil
}

func compare(a, b Approval) int {
	return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Dialect, b.Dialect), strings.Compare(a.ID, b.ID))
}

func (a *Approval) clone() Approval {
	c := *a
	c.Parts, c.Unpinned = slices.Clone(a.Parts), slices.Clone(a.Unpinned)
	return c
}

// Approve puts down that by approved at that time what was measured. It takes
// the place of an earlier answer about the same hook. It is on disk when Approve
// returns.
//
// The error wraps ErrStore when the file cannot be trusted (see [Store.Clear]),
// ErrFull, or ErrBusy.
func (s *Store) Approve(m *Measurement, by string, at time.Time) error {
	return s.answer(m, false, by, at)
}

// Refuse puts down that by refused it: nobody is to be asked again unless it
// changes. The rest is as with Approve.
func (s *Store) Refuse(m *Measurement, by string, at time.Time) error {
	return s.answer(m, true, by, at)
}

func (s *Store) answer(m *Measurement, refused bool, by string, at time.Time) error {
	d := &m.definition
	a := Approval{
		Dialect: d.Dialect, File: d.File, ID: d.ID, Name: d.Name, Source: d.Source,
		Digest: m.digest, Refused: refused, By: by, At: at.UTC().Round(0), Parts: m.Parts(), Unpinned: m.Unpinned(),
	}
	if err := a.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrDefinition, err)
	}
	return s.change(func(l *ledger) error {
		l.Approvals = slices.DeleteFunc(l.Approvals, func(o Approval) bool { return o.key() == a.key() })
		if len(l.Approvals) >= MaxApprovals {
			return fmt.Errorf("%w: %s has %d; remove those that are not needed", ErrFull, s.path, MaxApprovals)
		}
		l.Approvals = append(l.Approvals, a)
		return nil
	})
}

// Remove forgets the answers that the selector chooses, and says how many. The
// hooks are New again.
func (s *Store) Remove(sel Selector) (n int, err error) {
	if err := sel.check(); err != nil {
		return 0, err
	}
	err = s.change(func(l *ledger) error {
		before := len(l.Approvals)
		l.Approvals = slices.DeleteFunc(l.Approvals, func(a Approval) bool { return sel.matches(&a) })
		n = before - len(l.Approvals)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// Clear forgets all answers. It also replaces a file that is damaged or that
// others could have written.
func (s *Store) Clear() error {
	return s.locked(func() error { return s.write(&ledger{}) })
}

// change reads the file, lets edit change what it says, and replaces it.
func (s *Store) change(edit func(*ledger) error) error {
	return s.locked(func() error {
		_, l, _, err := s.load()
		if err != nil {
			return err
		}
		if err := edit(l); err != nil {
			return err
		}
		return s.write(l)
	})
}

// refresh reads the file again if it changed. The caller has the lock.
func (s *Store) refresh() error {
	if s.closed {
		return fmt.Errorf("%w: the store of approvals", ErrClosed)
	}
	if s.read {
		if id, err := s.stat(); err == nil && id == s.known {
			return s.err
		}
	}
	index, _, id, err := s.load()
	s.index, s.err, s.known = index, err, id
	s.read = id.settled(time.Now())
	return s.err
}

// stat identifies the file without reading it.
func (s *Store) stat() (identity, error) {
	f, err := s.root.OpenFile(s.name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return identity{}, err
	}
	id, err := identify(f)
	return id, errors.Join(err, f.Close())
}
