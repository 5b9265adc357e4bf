package archtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTestsDoNotSleepOrSkip(t *testing.T) {
	t.Parallel()
	tr := load(t)
	for _, f := range tr.files {
		if !f.test && !testOnly(f.dir) {
			continue
		}
		assert.Empty(t, tr.calls(f, "time", "Sleep"), "a sleep is too short on a slow machine and too long on all others: wait for what happens, or use testing/synctest")
		for _, receiver := range []string{"t", "b", "f", "tb"} {
			assert.Empty(t, tr.calls(f, receiver, "Skip", "Skipf", "SkipNow"), "green must mean that it ran")
		}
		assert.Empty(t, tr.calls(f, "testing", "Short"), "green must mean that it ran")
	}
}
