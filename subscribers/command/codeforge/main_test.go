package codeforge_test

import (
	"testing"

	"github.com/grapnel-dev/grapnel/subscribers/command/dialect/dialecttest"
)

func TestMain(m *testing.M) { dialecttest.Main(m) }
