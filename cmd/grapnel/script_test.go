//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs every file in testdata/script against the built programs.
// Beside testscript's own commands there are those of stage_test.go.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(8 * time.Minute), // all of them together
		Setup:               setUp,
		Cmds:                stageCommands(),
	})
}

// setUp gives each script a machine of its own.
func setUp(env *testscript.Env) error {
	run, err := os.MkdirTemp("", "gr")
	if err != nil {
		return err
	}
	work, err := filepath.EvalSymlinks(env.WorkDir)
	if err != nil {
		return err
	}
	for _, name := range []string{"home", "state", "config/grapnel", "tmp"} {
		if err := os.MkdirAll(filepath.Join(work, name), 0o700); err != nil {
			return err
		}
	}
	env.Vars = append(env.Vars, environment(work, run)...)
	env.Vars = append(env.Vars, "STATE="+filepath.Join(work, "state/grapnel"), "CONFIG="+filepath.Join(work, "config/grapnel"),
		"SETTINGS="+filepath.Join(work, "home/.claude/settings.json"), "PROGRAMS="+programs())
	s := &stage{work: work, env: env.Vars}
	env.Values[stageKey{}] = s
	env.Defer(func() {
		left := s.close()
		_ = os.RemoveAll(run)
		if len(left) > 0 {
			env.T().Fatal("processes outlived the script:", left)
		}
	})
	return nil
}
