//go:build !linux

package process_test

import "errors"

func runElsewhere() error { return errors.New("only Linux can do without parts of itself") }
