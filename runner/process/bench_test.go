package process_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/runner/process"
)

// BenchmarkOverhead runs each command plainly, through a runner, and through a
// runner in a sandbox that has everything, one after the other, and reports the
// ratios of the times: at most 1.5 is wanted without a sandbox and 5 with one.
func BenchmarkOverhead(b *testing.B) {
	env := process.Environment(os.Environ(), process.CleanPath(os.Getenv("PATH")), nil, nil)
	stdin := bytes.Repeat([]byte("x"), 2000)
	for _, how := range []struct {
		name string
		o    process.Options
	}{
		{"supervised", process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}}},
		{"namespace", process.Options{Supervisor: []string{"/proc/self/exe", "supervise"}, Namespace: true}},
		{"group", process.Options{}},
	} {
		for _, text := range []string{"", "true", "cat >/dev/null; echo '{}'", "setsid -f sleep 100"} {
			b.Run(fmt.Sprintf("%s/%s", how.name, text), func(b *testing.B) {
				r := process.New(&how.o)
				defer r.Close()
				if _, err := r.Check(b.Context()); err != nil {
					b.Fatal(err)
				}
				s := process.Spec{Shell: text, Dir: "/", Env: env, Stdin: stdin}
				argv := []string{"/bin/sh", "-c", text, "hook"}
				if text == "" {
					argv = []string{"/bin/true"}
					s.Shell, s.Command = "", argv
				}
				leaves := text == "setsid -f sleep 100" // nothing plain to compare it with
				boxed := s
				boxed.Sandbox = process.Sandbox{
					Mode: process.SandboxRequired, ReadOnly: []string{"/usr"}, NoNetwork: true,
					Limits: process.Limits{CPU: hook.Duration(time.Minute), Memory: 4 << 30, FileSize: 1 << 30, OpenFiles: 256},
				}
				if len(how.o.Supervisor) == 0 {
					boxed.Sandbox = process.Sandbox{} // none to be had
				} else if _, err := r.Run(b.Context(), boxed); err != nil { // the first starts a supervisor
					b.Fatal(err)
				}
				var plain, ours, sandboxed []time.Duration
				run := func(s process.Spec) time.Duration {
					started := time.Now()
					if _, err := r.Run(b.Context(), s); err != nil {
						b.Fatal(err)
					}
					return time.Since(started)
				}
				for b.Loop() {
					if !leaves {
						plain = append(plain, runPlainly(b, argv, env, stdin))
					}
					ours = append(ours, run(s))
					if boxed.Sandbox.Mode != "" {
						sandboxed = append(sandboxed, run(boxed))
					}
				}
				report(b, "ours", ours)
				if len(sandboxed) > 0 {
					report(b, "sandbox", sandboxed)
				}
				if !leaves {
					report(b, "plain", plain)
					b.ReportMetric(float64(median(ours))/float64(median(plain)), "ratio-p50")
					if len(sandboxed) > 0 {
						b.ReportMetric(float64(median(sandboxed))/float64(median(plain)), "sandbox-ratio-p50")
					}
				}
			})
		}
	}
}

func runPlainly(b *testing.B, argv, env []string, stdin []byte) time.Duration {
	started := time.Now()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = "/", env, bytes.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(started)
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

func report(b *testing.B, name string, list []time.Duration) {
	b.ReportMetric(float64(median(list).Microseconds()), name+"-p50-µs")
	b.ReportMetric(float64(list[len(list)*99/100].Microseconds()), name+"-p99-µs")
}
