package pack

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// readDirectory reads what is below a directory. Nothing leads out of it, also
// when somebody changes it meanwhile.
func readDirectory(path string, t *tree) (*tree, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil // a file in work trees and submodules
		case d.IsDir():
			return t.directory(name)
		case !d.Type().IsRegular():
			// Before it is opened: opening a pipe waits, and a device may act.
			return fmt.Errorf("%w: %.200q is %s", ErrFormat, name, kindOf(d.Type()))
		}
		return readFile(root, name, t)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func readFile(root *os.Root, name string, t *tree) error {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return t.file(name, info.Mode(), info.Size(), f)
}
