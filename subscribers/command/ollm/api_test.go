package ollm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
	"github.com/grapnel-dev/grapnel/runner/trust"
	"github.com/grapnel-dev/grapnel/subscribers/command"
	"github.com/grapnel-dev/grapnel/subscribers/command/dialect"
)

// made is a hook as a program registers it.
func (m *machine) made(id, script string, events ...string) dialect.Hook {
	m.t.Helper()
	return dialect.Hook{Name: id, Description: "Hook " + id, Events: events, Command: []string{"sh", m.put(m.userDir(), id+".sh", script)}}
}

// TestD7 goes through the operations of the API reference, each under its name
// there.
func TestD7TheAPIReference(t *testing.T) {
	t.Parallel()
	operations := []struct {
		name string
		test func(t *testing.T, m *machine, s *dialect.Set)
	}{
		{"HookRegistry.registerHook", func(t *testing.T, m *machine, s *dialect.Set) {
			require.NoError(t, s.Register(m.made("log-model-calls", say("x"), "before_model")))
			require.ErrorIs(t, s.Register(m.made("log-model-calls", say("x"), "before_tool")), dialect.ErrConfig, "an id is unique")
			require.ErrorIs(t, s.Register(m.made("other", say("x"), "before_everything")), dialect.ErrConfig)
			_, err := s.Decide(t.Context(), m.model())
			require.NoError(t, err)
			assert.Equal(t, "x\n", m.read("ran"))
		}},
		{"HookRegistry.getHooksForEvent", func(t *testing.T, m *machine, s *dialect.Set) {
			require.NoError(t, s.Register(m.made("test-hook", say("x"), "before_model")))
			hooks := s.Registered("before_model")
			require.Len(t, hooks, 1)
			assert.Equal(t, "test-hook", hooks[0].Name)
			assert.Equal(t, "sh", hooks[0].Command[0])
			assert.Empty(t, s.Registered("after_model"))
		}},
		{"HookRegistry.unregisterHook", func(t *testing.T, m *machine, s *dialect.Set) {
			require.NoError(t, s.Register(m.made("a", say("x"), "before_model", "before_tool")))
			assert.True(t, s.Unregister("a"))
			assert.False(t, s.Unregister("a"))
			assert.Empty(t, s.Registered("before_tool"))
		}},
		{"HookRegistry.getAllHooks", func(t *testing.T, m *machine, s *dialect.Set) {
			require.NoError(t, s.Register(m.made("a", say("x"), "before_model", "before_tool")))
			require.NoError(t, s.Register(m.made("b", say("x"), "before_model")))
			var names []string
			for _, h := range s.Registered("") {
				names = append(names, h.Name)
			}
			assert.Equal(t, []string{"a", "b"}, names)
		}},
		{"HookRegistry.clearEvent", func(t *testing.T, m *machine, s *dialect.Set) {
			require.NoError(t, s.Register(m.made("a", say("x"), "before_model", "before_tool")))
			s.Clear("before_model")
			assert.Empty(t, s.Registered("before_model"))
			assert.Len(t, s.Registered("before_tool"), 1)
		}},
		{"HookRegistry.clear", func(t *testing.T, m *machine, s *dialect.Set) {
			require.NoError(t, s.Register(m.made("a", say("x"), "before_model")))
			s.Clear("")
			assert.Zero(t, s.Count())
		}},
		{"HookRegistry.getHookCount", func(t *testing.T, m *machine, s *dialect.Set) {
			assert.Zero(t, s.Count())
			require.NoError(t, s.Register(m.made("a", say("x"), "before_model", "before_tool")))
			require.NoError(t, s.Register(m.made("b", say("x"), "before_model")))
			assert.Equal(t, 2, s.Count())
		}},
		{"HookRegistry.hasHook, getHook", func(t *testing.T, m *machine, s *dialect.Set) {
			require.NoError(t, s.Register(m.made("a", say("x"), "before_model")))
			h, has := s.Lookup("a")
			assert.True(t, has)
			assert.Equal(t, "Hook a", h.Description)
			_, has = s.Lookup("b")
			assert.False(t, has)
		}},
		{"HookPlanner.planExecution", func(t *testing.T, m *machine, s *dialect.Set) {
			for i, source := range []trust.Source{trust.User, trust.Builtin, trust.User} {
				h := m.made(fmt.Sprint("h", i), say("x"), "before_model")
				h.Origin = dialect.Origin{File: "api", Source: source}
				require.NoError(t, s.Register(h))
			}
			plan, ok := s.Plan(m.model())
			require.True(t, ok)
			defer plan.Close()
			var names []string
			for _, step := range plan.Steps {
				names = append(names, step.Hook.Name)
			}
			assert.Equal(t, []string{"h1", "h0", "h2"}, names, "by source, then as registered")
			assert.Empty(t, m.read("ran"), "a plan runs nothing")
		}},
		{"HookRunner.executeHook, executeHookWithMetadata", func(t *testing.T, m *machine, s *dialect.Set) {
			require.NoError(t, s.Register(m.made("a", `echo '{"continue":true,"systemMessage":"seen"}'`, "before_model")))
			sum := s.Run(t.Context(), m.model())
			require.Len(t, sum.Results, 1)
			r := sum.Results[0]
			require.NoError(t, r.Err)
			assert.Equal(t, "seen", r.Answer.Message)
			assert.Equal(t, command.Decided, r.Report.Outcome)
			assert.Positive(t, r.Report.DurationMS)
			assert.Zero(t, r.Report.ExitCode)
		}},
		{"HookRunner.executeHooks, executeHooksWithSummary", func(t *testing.T, m *machine, s *dialect.Set) {
			require.NoError(t, s.Register(m.made("a", `echo '{"continue":true,"systemMessage":"one"}'`, "before_model")))
			require.NoError(t, s.Register(m.made("b", `echo '{"continue":false,"systemMessage":"two"}'`, "before_model")))
			require.NoError(t, s.Register(m.made("c", say("c"), "before_model")))
			plan, ok := s.Plan(m.model())
			require.True(t, ok)
			sum := s.Execute(t.Context(), plan)
			require.NoError(t, sum.Err)
			assert.Equal(t, hook.Deny, sum.Decision.Effect)
			assert.Equal(t, "two", sum.Decision.Reason)
			require.Len(t, sum.Results, 3)
			assert.Contains(t, sum.Results[2].Skipped, "hook b ended the chain")
			assert.Empty(t, m.read("ran"))
		}},
		{"HookRunner.setTimeout", func(t *testing.T, m *machine, s *dialect.Set) {
			h := m.made("a", "sleep 1000", "before_model")
			h.Timeout = 100 * time.Millisecond
			require.NoError(t, s.Register(h))
			sum := s.Run(t.Context(), m.model())
			require.ErrorIs(t, sum.Results[0].Err, process.ErrTimedOut)
			assert.Equal(t, command.TimedOut, sum.Results[0].Report.Outcome)
		}},
		{"TrustedHooks.isTrusted, requestApproval, storeApproval, getApprovals, removeApproval", func(t *testing.T, m *machine, s *dialect.Set) {
			h := m.made("a", say("a"), "before_model")
			h.Origin = dialect.Origin{File: "/pack/hooks.json", Source: trust.Downloaded}
			require.NoError(t, s.Register(h))
			s.Run(t.Context(), m.model())
			assert.Empty(t, m.read("ran"))
			assert.Equal(t, 1, m.approve(s))
			s.Run(t.Context(), m.model())
			assert.Equal(t, "a\n", m.read("ran"))
			list, err := m.options.Trust.Store.List()
			require.NoError(t, err)
			assert.Len(t, list, 1)
			n, err := m.options.Trust.Store.Remove(trust.Selector{ID: "a"})
			require.NoError(t, err)
			assert.Equal(t, 1, n)
			s.Run(t.Context(), m.model())
			assert.Equal(t, "a\n", m.read("ran"))
		}},
	}
	for _, o := range operations {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.options.Trust = approvals(t)
			o.test(t, m, m.set())
		})
	}
}

func TestD8Caching(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.user("before_tool", m.entry(m.userDir(), "pure", `echo x >> ran; echo '{"continue":false,"systemMessage":"no"}'`, `"cache":"10m"`))
	s := m.loaded()
	for range 3 {
		d, err := s.Decide(t.Context(), m.shell("ls"))
		require.NoError(t, err)
		assert.Equal(t, hook.Deny, d.Effect)
	}
	assert.Equal(t, "x\n", m.read("ran"))
	_, err := s.Decide(t.Context(), m.shell("pwd"))
	require.NoError(t, err)
	assert.Equal(t, "x\nx\n", m.read("ran"), "another input is asked about")
}

func TestD8Dependencies(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.user("before_tool",
		m.entry(m.userDir(), "last", say("last"), `"after":["first","second"]`),
		m.entry(m.userDir(), "second", say("second"), `"after":["first"]`),
		m.entry(m.userDir(), "first", say("first"), ""),
		m.entry(m.userDir(), "broken", `exit 1`, ""),
		m.entry(m.userDir(), "never", say("never"), `"after":["broken"]`))
	m.must(m.shell("ls"))
	assert.Equal(t, []string{"first", "second", "last"}, strings.Fields(m.read("ran")))
}

func TestD8Priorities(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.user("before_tool",
		m.entry(m.userDir(), "low", say("low"), `"priority":-1`),
		m.entry(m.userDir(), "plain", say("plain"), ""),
		m.entry(m.userDir(), "high", say("high"), `"priority":10`),
		m.entry(m.userDir(), "also", say("also"), ""))
	m.must(m.shell("ls"))
	assert.Equal(t, []string{"high", "plain", "also", "low"}, strings.Fields(m.read("ran")))
}

func TestD8ResourceLimits(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	script := `ulimit -n > files; echo '{"continue":true}'`
	m.user("before_tool", m.entry(m.userDir(), "limited", script, `"sandbox":{"mode":"best-effort","limits":{"open_files":37,"cpu":"5s"}}`))
	sum := m.loaded().Run(t.Context(), m.shell("ls"))
	require.Len(t, sum.Results, 1)
	require.NoError(t, sum.Results[0].Err)
	on := sum.Results[0].Report.Sandbox
	assert.Equal(t, process.SandboxBestEffort, on.Mode)
	for _, limit := range on.Limits {
		if limit == "open_files" {
			assert.Equal(t, "37\n", m.read("files"))
		}
	}
	assert.NotEmpty(t, append(on.Limits, on.Missing...), "the record says what was on and what was not")
}

func TestD8Sandboxing(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	outside := filepath.Join(m.home, "outside")
	script := `touch "` + outside + `" 2>/dev/null; echo '{"continue":true}'`
	m.user("before_tool", m.entry(m.userDir(), "closed", script, `"sandbox":{"mode":"best-effort","read_only":["/usr","/bin","/lib","`+m.userDir()+`"],"read_write":["`+m.dir+`"]}`))
	hooks, problems := m.set().Hooks(m.dir)
	require.Empty(t, problems)
	require.Len(t, hooks, 1)
	assert.Equal(t, process.SandboxBestEffort, hooks[0].Sandbox.Mode)
	sum := m.set().Run(t.Context(), m.shell("ls"))
	require.Len(t, sum.Results, 1)
	_, err := os.Stat(outside)
	if sum.Results[0].Report.Sandbox.Files {
		assert.ErrorIs(t, err, os.ErrNotExist)
	} else {
		assert.NotEmpty(t, sum.Results[0].Report.Sandbox.Missing)
	}
}

func TestD8Metrics(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.user("before_tool",
		m.entry(m.userDir(), "bad", `exit 1`, ""),
		m.entry(m.userDir(), "guard", `echo '{"continue":false,"systemMessage":"no"}'`, ""))
	s := m.loaded()
	for range 2 {
		_, err := s.Decide(t.Context(), m.shell("ls"))
		require.NoError(t, err)
	}
	got := map[string]dialect.Metrics{}
	for _, x := range s.Metrics() {
		got[x.Hook] = x
	}
	assert.EqualValues(t, 2, got["bad"].Runs)
	assert.EqualValues(t, 2, got["bad"].Failures)
	assert.EqualValues(t, 2, got["guard"].Denials)
	assert.Positive(t, got["guard"].TotalMS)
}

func TestD8Versioning(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.options.Trust = approvals(t)
	write := func(version string) {
		m.put(m.workspaceDir(), "hooks.json", file("before_tool", m.entry(m.workspaceDir(), "guard", say("guard"), `"version":"`+version+`"`)))
	}
	write("1.0.0")
	s := m.loaded()
	hooks, _ := s.Hooks(m.dir)
	assert.Equal(t, "1.0.0", hooks[0].Version)
	assert.Equal(t, 1, m.approve(s))
	write("1.10.0")
	_, err := s.Decide(t.Context(), m.shell("ls"))
	require.ErrorIs(t, err, dialect.ErrChanged, "a new version is a new approval")
	assert.Empty(t, m.read("ran"))
}

func TestD8Composition(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	// Three hooks make one check: what is found, what it is worth, what follows.
	m.user("before_tool",
		m.entry(m.userDir(), "decide", `cat | grep -q '"risk":"high"' && echo '{"continue":false,"systemMessage":"too risky"}' || echo '{"continue":true}'`, `"after":["rate"]`),
		m.entry(m.userDir(), "rate", `cat | grep -q '"network":true' && echo '{"continue":true,"data":{"risk":"high"}}' || echo '{"continue":true}'`, `"after":["look"]`),
		m.entry(m.userDir(), "look", `cat | grep -q curl && echo '{"continue":true,"data":{"network":true}}' || echo '{"continue":true}'`, ""))
	assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "too risky"}, m.must(m.shell("curl http://x")))
	assert.Equal(t, hook.Decision{}, m.must(m.shell("ls")))
}

func TestD8ConditionsAndAsync(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.options.When = func(expression string) (func(hook.Event) (bool, error), error) {
		return func(e hook.Event) (bool, error) { return expression == "asked" && e.SessionID == "abc123", nil }, nil
	}
	m.user("before_tool",
		m.entry(m.userDir(), "yes", say("yes"), `"when":"asked"`),
		m.entry(m.userDir(), "no", say("no"), `"when":"never"`),
		m.entry(m.userDir(), "later", `while ! test -e go; do sleep 0.02; done; touch gone; echo '{"continue":false}'`, `"async":true`))
	s := m.loaded()
	d, err := s.Decide(t.Context(), m.shell("ls"))
	require.NoError(t, err)
	assert.Equal(t, hook.Decision{}, d, "what runs in the background decides nothing")
	assert.Equal(t, "yes\n", m.read("ran"))
	m.put(m.dir, "go", "")
	require.Eventually(t, func() bool { return m.exists("gone") }, 30*time.Second, 10*time.Millisecond)
}

func (m *machine) exists(name string) bool {
	_, err := os.Stat(filepath.Join(m.dir, name))
	return err == nil
}
