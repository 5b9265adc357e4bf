package ollm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
	"github.com/grapnel-dev/grapnel/subscribers/command/ollm"
)

// approvals are kept in a directory of their own.
func approvals(t *testing.T) *dialect.Trust {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	gauge := trust.NewGauge(&trust.Options{Dir: filepath.Join(dir, "copies")})
	store, err := trust.Open(filepath.Join(dir, "approvals.json"))
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, store.Close())
		assert.NoError(t, gauge.Close())
	})
	return &dialect.Trust{Gauge: gauge, Store: store}
}

// approve approves what needs it and says how many hooks that were.
func (m *machine) approve(s *dialect.Set) int {
	m.t.Helper()
	list, err := s.Candidates(m.t.Context(), m.dir)
	require.NoError(m.t, err)
	n := 0
	for _, c := range list {
		require.NoError(m.t, c.Err)
		if !c.State.Runs() {
			require.NoError(m.t, m.options.Trust.Store.Approve(c.Measurement, "tester", time.Now()))
			n++
		}
		require.NoError(m.t, c.Measurement.Close())
	}
	return n
}

// say is a script that notes that it ran.
func say(word string) string { return "echo " + word + ` >> ran; echo '{"continue":true}'` }

// everySource puts a hook of each source into place and registers one.
func (m *machine) everySource() {
	m.t.Helper()
	extension := filepath.Join(m.home, ".ollm", "extensions", "some", "hooks")
	m.put(extension, "hooks.json", file("before_tool", m.entry(extension, "extension", say("extension"), "")))
	m.put(m.workspaceDir(), "hooks.json", file("before_tool", m.entry(m.workspaceDir(), "workspace", say("workspace"), `"priority":100`)))
	m.put(m.userDir(), "a.json", file("before_tool", m.entry(m.userDir(), "downloaded", say("downloaded"), `"source":"downloaded"`)))
	m.put(m.userDir(), "hooks.json", file("before_tool", m.entry(m.userDir(), "user", say("user"), "")))
}

func (m *machine) builtin(s *dialect.Set) {
	m.t.Helper()
	require.NoError(m.t, s.Register(dialect.Hook{
		Name: "builtin", Events: []string{"before_tool"}, Command: []string{"sh", m.put(m.userDir(), "builtin.sh", say("builtin"))},
		Origin: dialect.Origin{File: "builtin", Source: trust.Builtin},
	}))
}

func TestD3OrderIsBySource(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.options.Trust = approvals(t)
	m.everySource()
	s := m.loaded()
	m.builtin(s)
	decide := func() []string {
		require.NoError(t, os.RemoveAll(filepath.Join(m.dir, "ran")))
		_, err := s.Decide(t.Context(), m.shell("ls"))
		require.NoError(t, err)
		return strings.Fields(m.read("ran"))
	}
	assert.Equal(t, []string{"builtin", "user"}, decide(), "what is not trusted does not run")
	assert.Equal(t, 3, m.approve(s))
	assert.Equal(t, []string{"builtin", "user", "workspace", "downloaded", "extension"}, decide())
	require.NoError(t, m.options.Trust.Store.Clear())
	assert.Equal(t, []string{"builtin", "user"}, decide())
}

func TestD3TrustWorkspaceIsForWorkspacesAlone(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.options.Trust = approvals(t)
	m.everySource()
	setting := m.put(m.userDir(), "settings.json", `{"trustWorkspace":true,"hooks":{}}`)
	m.options.TrustWorkspace = func(string) bool {
		text, err := os.ReadFile(setting)
		return err == nil && ollm.TrustsWorkspaces(text)
	}
	s := m.loaded()
	_, err := s.Decide(t.Context(), m.shell("ls"))
	require.NoError(t, err)
	assert.Equal(t, []string{"user", "workspace"}, strings.Fields(m.read("ran")))
}

func TestD3AWorkspaceCannotTrustItself(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.put(m.workspaceDir(), "hooks.json", `{"trustWorkspace":true,"hooks":{"before_tool":[`+
		m.entry(m.workspaceDir(), "evil", say("evil"), `"source":"builtin"`)+`]}}`)
	for _, tr := range []*dialect.Trust{nil, approvals(t)} {
		m.options.Trust = tr
		d, err := m.set().Decide(t.Context(), m.shell("ls"))
		require.NoError(t, err)
		assert.Equal(t, hook.Abstain, d.Effect)
		assert.Empty(t, m.read("ran"))
	}
}

func TestD4AChangedScriptNeedsANewApproval(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.options.Trust = approvals(t)
	deny := func(word string) string {
		return "echo " + word + ` >> ran; echo '{"continue":false,"systemMessage":"` + word + `"}'`
	}
	m.put(m.workspaceDir(), "hooks.json", file("before_tool", m.entry(m.workspaceDir(), "guard", deny("first"), "")))
	s := m.loaded()
	decide := func() (hook.Decision, error) { return s.Decide(t.Context(), m.shell("ls")) }

	d, err := decide()
	require.NoError(t, err)
	assert.Equal(t, hook.Abstain, d.Effect)
	assert.Equal(t, 1, m.approve(s))
	d, err = decide()
	require.NoError(t, err)
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "first"}, d)

	// What was approved is a list that people can look at.
	list, err := m.options.Trust.Store.List()
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "ollm", list[0].Dialect)
	assert.Equal(t, "guard", list[0].ID)
	assert.Equal(t, trust.Workspace, list[0].Source)
	scripts := 0
	for _, p := range list[0].Parts {
		if p.Role == trust.RoleScript && strings.HasSuffix(p.Path, "guard.sh") {
			assert.Equal(t, hook.Digest([]byte(deny("first"))), p.SHA256.String(), "SHA-256 of the script's content")
			scripts++
		}
	}
	assert.Equal(t, 1, scripts)

	m.put(m.workspaceDir(), "guard.sh", deny("second"))
	_, err = decide()
	require.ErrorIs(t, err, dialect.ErrChanged, "a guard that was counted on is missed")
	assert.Equal(t, "first\n", m.read("ran"), "the changed script did not run")
	m.put(m.workspaceDir(), "guard.sh", deny("first"))
	d, err = decide()
	require.NoError(t, err)
	assert.Equal(t, "first", d.Reason, "as it was approved it runs")

	m.put(m.workspaceDir(), "guard.sh", deny("second"))
	assert.Equal(t, 1, m.approve(s))
	d, err = decide()
	require.NoError(t, err)
	assert.Equal(t, "second", d.Reason)

	n, err := m.options.Trust.Store.Remove(trust.Selector{File: filepath.Join(m.workspaceDir(), "hooks.json")})
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	d, err = decide()
	require.NoError(t, err)
	assert.Equal(t, hook.Abstain, d.Effect)
	assert.Equal(t, 1, m.approve(s))
	require.NoError(t, m.options.Trust.Store.Clear())
	list, err = m.options.Trust.Store.List()
	require.NoError(t, err)
	assert.Empty(t, list)
	d, err = decide()
	require.NoError(t, err)
	assert.Equal(t, hook.Abstain, d.Effect)
}

func TestD4WhatIsAtSourcePathIsApprovedToo(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.options.Trust = approvals(t)
	part := m.put(m.workspaceDir(), "rules.txt", "none\n")
	m.put(m.workspaceDir(), "hooks.json", file("before_tool", m.entry(m.workspaceDir(), "guard", say("guard"), `"sourcePath":"`+part+`"`)))
	s := m.loaded()
	assert.Equal(t, 1, m.approve(s))
	_, err := s.Decide(t.Context(), m.shell("ls"))
	require.NoError(t, err)
	m.put(m.workspaceDir(), "rules.txt", "all\n")
	_, err = s.Decide(t.Context(), m.shell("ls"))
	require.ErrorIs(t, err, dialect.ErrChanged)
	assert.Equal(t, "guard\n", m.read("ran"))
}

func TestD4ARefusedHookDoesNotRun(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.options.Trust = approvals(t)
	m.put(m.workspaceDir(), "hooks.json", file("before_tool", m.entry(m.workspaceDir(), "guard", say("guard"), "")))
	s := m.loaded()
	list, err := s.Candidates(t.Context(), m.dir)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NoError(t, m.options.Trust.Store.Refuse(list[0].Measurement, "tester", time.Now()))
	require.NoError(t, list[0].Measurement.Close())
	plan, ok := s.Plan(m.shell("ls"))
	require.True(t, ok)
	defer plan.Close()
	assert.Empty(t, plan.Steps)
	require.Len(t, plan.Skipped, 1)
	assert.Contains(t, plan.Skipped[0].Reason, "refused")
}
