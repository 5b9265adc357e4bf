package audit

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// index is the search index: an SQLite file beside the log with what the
// envelopes say, and nothing of the payloads. It lags behind the log, can be
// deleted at any time, and is filled by whoever wants to search and, in small
// pieces, by the writer. Several processes may do so at once.
type index struct {
	db *sql.DB
}

const indexSchema = `
CREATE TABLE IF NOT EXISTS records (
	i INTEGER PRIMARY KEY, logged INTEGER NOT NULL, kind TEXT NOT NULL, event TEXT NOT NULL, agent TEXT NOT NULL,
	session TEXT NOT NULL, effect TEXT NOT NULL, tool TEXT NOT NULL, id TEXT NOT NULL,
	parent TEXT NOT NULL, root TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS records_logged ON records(logged);
CREATE INDEX IF NOT EXISTS records_session ON records(session, i);
CREATE INDEX IF NOT EXISTS records_parent ON records(parent, session) WHERE parent <> '';
CREATE INDEX IF NOT EXISTS records_root ON records(root, session) WHERE root <> '';
CREATE INDEX IF NOT EXISTS records_effect ON records(effect, i);
CREATE INDEX IF NOT EXISTS records_id ON records(id);
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL);`

// indexVersion is in the file; another one has the index made anew.
const indexVersion = 2

// openIndex opens the index of the log in dir. Where the directory cannot be
// written, or the file is no index of this log, it is built in memory or anew.
func openIndex(ctx context.Context, dir string) (*index, error) {
	path := filepath.Join(dir, indexName)
	ix, err := openIndexFile(ctx, path)
	if err == nil {
		return ix, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if removeIndex(path) == nil {
		if ix, err = openIndexFile(ctx, path); err == nil {
			return ix, nil
		}
	}
	if ix, memErr := openIndexFile(ctx, ":memory:"); memErr == nil {
		return ix, nil
	}
	return nil, err
}

func removeIndex(path string) error {
	var failed error
	for _, suffix := range []string{"-wal", "-shm", "-journal", ""} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func openIndexFile(ctx context.Context, path string) (*index, error) {
	name := path
	if path != ":memory:" {
		// The driver would make the file with the umask's mode.
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		f.Close()
		name = "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	}
	q := url.Values{"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(OFF)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", name+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	if path == ":memory:" {
		db.SetMaxOpenConns(1)
	}
	ix := &index{db}
	if err := ix.setUp(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("audit: search index: %w", err)
	}
	return ix, nil
}

func (ix *index) setUp(ctx context.Context) error {
	var version int
	if err := ix.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version != 0 && version != indexVersion {
		return fmt.Errorf("it has version %d", version)
	}
	if _, err := ix.db.ExecContext(ctx, indexSchema); err != nil {
		return err
	}
	_, err := ix.db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", indexVersion))
	return err
}

func (ix *index) close() error { return ix.db.Close() }

// indexBatch is how many records one transaction takes.
const indexBatch = 2000

// catchUp indexes up to limit records that are new; 0 means all.
func (ix *index) catchUp(ctx context.Context, r *Reader, limit int) (more bool, err error) {
	for done := 0; limit == 0 || done < limit; {
		n, err := ix.batch(ctx, r)
		if err != nil {
			return false, fmt.Errorf("audit: search index: %w", err)
		}
		if done += n; n < indexBatch {
			return false, nil
		}
	}
	return true, nil
}

// batch indexes the next records in one transaction.
func (ix *index) batch(ctx context.Context, r *Reader) (int, error) {
	tx, err := ix.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	next, err := ix.next(ctx, tx, r)
	if err != nil {
		return 0, err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT OR REPLACE INTO records VALUES (?,?,?,?,?,?,?,?,?,?,?)")
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	n, last := 0, ""
	for f, err := range r.frames(next) {
		if err != nil {
			return 0, err
		}
		e, err := ParseEnvelope(f.leaf)
		if err != nil {
			return 0, err
		}
		if _, err := insert.ExecContext(ctx, e.Index, e.Logged.UnixNano(), string(e.Kind), e.Event, e.Agent, e.Session, e.Effect, e.Subject, e.EventID,
			e.ParentSession, e.RootSession); err != nil {
			return 0, err
		}
		h := leafHash(f.leaf)
		last = fmt.Sprintf("%d %s", e.Index, hex.EncodeToString(h[:]))
		if n++; n == indexBatch {
			break
		}
	}
	if n == 0 {
		return 0, nil
	}
	if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO state VALUES ('last', ?)", last); err != nil {
		return 0, err
	}
	return n, tx.Commit()
}

// next is the first record that is not indexed. An index whose last record is
// not the log's (of a log that was cut off, or of another one) is emptied.
func (ix *index) next(ctx context.Context, tx *sql.Tx, r *Reader) (int64, error) {
	var last string
	err := tx.QueryRowContext(ctx, "SELECT value FROM state WHERE name = 'last'").Scan(&last)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var at int64
	var hash string
	if _, err := fmt.Sscanf(last, "%d %s", &at, &hash); err == nil {
		segments, err := listSegments(r.dir)
		if err != nil {
			return 0, err
		}
		if _, f, err := locate(r.dir, segments, at); err == nil {
			if h := leafHash(f.leaf); hex.EncodeToString(h[:]) == hash {
				return at + 1, nil
			}
		}
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM records; DELETE FROM state")
	return 0, err
}

// keepIndex fills the index while the log is written. It rests three times as
// long as it works, at least a second: searching must not slow down verdicts.
func (l *Log) keepIndex(ctx context.Context) {
	defer close(l.indexDone)
	if l.o.NoIndex {
		return
	}
	r := &Reader{dir: l.dir}
	defer r.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.indexWake:
		}
		for more := true; more; {
			began := time.Now()
			ix, err := r.index(ctx)
			if err == nil {
				more, err = ix.catchUp(ctx, r, indexBatch)
			}
			if err != nil {
				more = false
				if ctx.Err() == nil {
					l.o.Logger.Warn("audit: the search index is not filled", slog.Any("error", err))
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(time.Second, 3*time.Since(began))):
			}
		}
	}
}

// index opens the search index at first use.
func (r *Reader) index(ctx context.Context) (*index, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ix == nil {
		ix, err := openIndex(ctx, r.dir)
		if err != nil {
			return nil, err
		}
		r.ix = ix
	}
	return r.ix, nil
}
