package policy

import (
	"fmt"
	"os"
)

// writableByAll refuses a policy file that anybody on the machine can change.
func writableByAll(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("policy file %s: %w", file, err)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("policy file %s: everybody on this machine may write to it (mode %04o); run chmod o-w on it", file, info.Mode().Perm())
	}
	return nil
}
