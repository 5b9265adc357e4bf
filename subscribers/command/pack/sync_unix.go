//go:build unix

package pack

import (
	"errors"
	"os"
)

// syncDirectory makes the names in a directory last.
func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
