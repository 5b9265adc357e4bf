//go:build !linux

package audit_test

import "errors"

func childFull(string, string) error { return errors.New("this test is for Linux") }
