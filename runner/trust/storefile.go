package trust

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/grapnel-dev/grapnel/internal/filelock"
)

// lockLimit is how long a writer waits for those of other processes.
const lockLimit = 30 * time.Second

// load reads the file of approvals. There being none is no error.
func (s *Store) load() (index map[hookKey]*Approval, l *ledger, id identity, err error) {
	f, err := s.root.OpenFile(s.name, os.O_RDONLY|openFlags, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, &ledger{}, identity{}, nil
	}
	bad := func(id identity, err error) (map[hookKey]*Approval, *ledger, identity, error) {
		return nil, nil, id, fmt.Errorf("%w: %s: %w; no hook counts as approved; repair the file, or clear all approvals", ErrStore, s.path, err)
	}
	if err != nil {
		return bad(identity{}, err)
	}
	defer f.Close()
	if id, err = identify(f); err != nil {
		return bad(identity{}, err)
	}
	switch {
	case !id.mode.IsRegular():
		return bad(id, fmt.Errorf("it is not a regular file but %s", kindOf(id.mode)))
	case !id.private(os.Geteuid()):
		return bad(id, errors.New("it belongs to somebody else, or others may write to it"))
	case id.size > maxStore:
		return bad(id, fmt.Errorf("it has more than %d bytes", maxStore))
	}
	b, err := io.ReadAll(io.LimitReader(f, maxStore+1))
	if err != nil {
		return bad(id, err)
	}
	index, l, err = parseLedger(b)
	if err != nil {
		return bad(id, err)
	}
	return index, l, id, nil
}

// locked calls f while no other writer, of this process or another, is at work.
func (s *Store) locked(f func() error) (err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return fmt.Errorf("%w: the store of approvals", ErrClosed)
	}
	lock, err := s.root.OpenFile(s.name+".lock", os.O_RDWR|os.O_CREATE|openFlags, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	deadline := time.Now().Add(lockLimit)
	for wait := time.Millisecond; ; wait = min(2*wait, 8*time.Millisecond) {
		taken, err := filelock.Try(lock)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrStore, err)
		}
		if taken {
			return f()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %s, for more than %s", ErrBusy, s.path, lockLimit)
		}
		<-time.After(wait)
	}
}

// write replaces the file: the old one or the new one is there, whole, whatever
// happens. The caller has the lock.
func (s *Store) write(l *ledger) (err error) {
	b, err := l.encode()
	if err != nil {
		return err
	}
	temporary := s.name + "." + rand.Text()
	f, err := s.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = s.root.Rename(temporary, s.name)
	}
	if err != nil {
		return fmt.Errorf("%w: %s could not be written: %w", ErrStore, s.path, errors.Join(err, s.root.Remove(temporary)))
	}
	return s.syncDir()
}

// syncDir makes the new name last.
func (s *Store) syncDir() error {
	d, err := s.root.Open(".")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	if err = errors.Join(syncDirectory(d), d.Close()); err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	return nil
}
