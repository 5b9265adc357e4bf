package codeforge

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// ErrSave is wrapped by the errors of saving.
var ErrSave = errors.New("code-forge: hooks cannot be saved")

// SaveUser writes the person's own file below the home directory, and
// SaveProject a project's below its root. The file is replaced as a whole or
// not at all; nothing outside of the directory is written, whatever links are in
// it. What the dialect has no word for is in lost. The error wraps [ErrSave].
func SaveUser(home string, hooks []dialect.Hook) (lost []string, err error) {
	return save(home, UserFile, hooks)
}

// SaveProject is as [SaveUser] for a project.
func SaveProject(root string, hooks []dialect.Hook) (lost []string, err error) {
	return save(root, ProjectFile, hooks)
}

func save(base, file string, hooks []dialect.Hook) ([]string, error) {
	text, lost, err := Write(hooks)
	if err != nil {
		return lost, fmt.Errorf("%w: %w", ErrSave, err)
	}
	if len(text) > dialect.MaxFile || len(hooks) > dialect.MaxHooks {
		return lost, fmt.Errorf("%w: %d hooks in %d bytes would not be read again", ErrSave, len(hooks), len(text))
	}
	if err := replace(base, file, text); err != nil {
		return lost, fmt.Errorf("%w: %w", ErrSave, err)
	}
	return lost, nil
}

// replace writes a file beside the old one and puts it in its place.
func replace(base, file string, text []byte) (err error) {
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.MkdirAll(path.Dir(file), 0o700); err != nil {
		return err
	}
	fresh := file + "." + rand.Text()[:8]
	f, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(fresh, file)
	}
	if err != nil {
		return errors.Join(err, root.Remove(fresh))
	}
	return nil
}
