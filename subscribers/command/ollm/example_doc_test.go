package ollm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// each runs a test with our own form of an example, and with the
// documentation's where what it needs is here.
func each(t *testing.T, documented string, f func(t *testing.T, m *machine)) {
	t.Helper()
	run := func(name, program, script string, dir string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			if dir != "" {
				m.path = dir + ":" + m.path
			}
			text := strings.ReplaceAll(testdata(t, script), "/tmp/hook.log", filepath.Join(m.dir, "hook.log"))
			path := m.put(m.userDir(), filepath.Base(script), text)
			entry := `{"id":"example","name":"Example","command":"` + program + `","args":["` + path + `"],"source":"user","sourcePath":"` + path + `"}`
			m.put(m.userDir(), "hooks.json", `{"hooks":{"before_model":[`+entry+`],"before_tool":[`+entry+`],"notification":[`+entry+`]}}`)
			f(t, m)
		})
	}
	base := strings.TrimSuffix(documented, filepath.Ext(documented))
	run("plain", "sh", "plain/"+base+".sh", "")
	program, flags := "node", []string{"-e", "0"}
	if filepath.Ext(documented) == ".py" {
		program, flags = "python3", []string{"-c", "0"}
	}
	if dir, ok := runs(program, t.TempDir(), flags...); ok {
		run("documented", program, "documented/"+documented, dir)
	}
}

func TestD2TheDocumentedExamples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"hook.js", "hook.py"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, name, func(t *testing.T, m *machine) {
				assert.Equal(t, hook.Decision{Context: "Hook executed for model: llama2"}, m.must(m.model()),
					"one of them prints a line before its answer")
				assert.Equal(t, hook.Decision{}, m.must(m.shell("ls")))
			})
		})
	}
}

func TestD2TheDocumentedTemplates(t *testing.T) {
	t.Parallel()
	t.Run("logging", func(t *testing.T) {
		t.Parallel()
		each(t, "logging.js", func(t *testing.T, m *machine) {
			m.must(m.shell("ls -la"))
			assert.Equal(t, `before_tool: {"tool_name":"shell","args":{"command":"ls -la"}}`+"\n", m.read("hook.log"))
			e := m.event(hook.Notification)
			e.Data.Message = "done"
			require.NoError(t, m.loaded().Handle(t.Context(), e))
			assert.Contains(t, m.read("hook.log"), `notification: {"message":"done","type":""}`)
		})
	})
	t.Run("validation", func(t *testing.T) {
		t.Parallel()
		each(t, "validation.js", func(t *testing.T, m *machine) {
			assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "Blocked dangerous command"}, m.must(m.shell("sudo rm -rf /x")))
			assert.Equal(t, hook.Decision{}, m.must(m.shell("ls")))
			assert.Equal(t, hook.Decision{}, m.must(m.model()))
		})
	})
	t.Run("context", func(t *testing.T) {
		t.Parallel()
		each(t, "context.js", func(t *testing.T, m *machine) {
			assert.Regexp(t, `^Current time: 20\d\d-\d\d-\d\dT[\d:.]+Z$`, m.must(m.model()).Context)
			assert.Equal(t, hook.Decision{}, m.must(m.shell("ls")))
		})
	})
}

func TestD2Example1LogsModelCalls(t *testing.T) {
	t.Parallel()
	each(t, "log-model-calls.js", func(t *testing.T, m *machine) {
		assert.Equal(t, hook.Decision{}, m.must(m.model()))
		log, err := os.ReadFile(filepath.Join(m.home, ".ollm", "model-calls.log"))
		require.NoError(t, err)
		assert.Regexp(t, regexp.MustCompile(`^20\S+Z - Model: llama2\n$`), string(log))
	})
}

func TestD2Example2BlocksDangerousCommands(t *testing.T) {
	t.Parallel()
	each(t, "block-dangerous.js", func(t *testing.T, m *machine) {
		for _, pattern := range []string{"rm -rf /", "dd if=", "mkfs", ":(){:|:&};:"} {
			d := m.must(m.shell("sudo " + pattern + " now"))
			assert.Equal(t, hook.Decision{Effect: hook.Deny, Reason: "Blocked dangerous command: " + pattern}, d)
		}
		assert.Equal(t, hook.Decision{}, m.must(m.shell("ls")))
		e := m.shell("rm -rf /")
		e.Data.Tool.Name, e.Data.Tool.Kind = "say", hook.KindOther
		assert.Equal(t, hook.Decision{}, m.must(e), "another tool's command is none of its business")
	})
}

func TestD2Example3AddsContext(t *testing.T) {
	t.Parallel()
	each(t, "add-context.py", func(t *testing.T, m *machine) {
		lines := strings.Split(m.must(m.model()).Context, "\n")
		require.Len(t, lines, 3)
		assert.Contains(t, lines[0], "Current time: 20")
		assert.Equal(t, "Working directory: "+m.dir, lines[1])
		assert.Equal(t, "User: someone", lines[2])
	})
}
