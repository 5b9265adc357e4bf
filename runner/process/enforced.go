package process

import (
	"fmt"
	"slices"
	"strings"
)

// Enforced is what was on of a [Sandbox] while a command ran, as the process
// that set it up found. The zero value is no sandbox.
type Enforced struct {
	// Mode is what was asked for; empty when nothing was.
	Mode SandboxMode `json:"mode,omitempty"`
	// NoNewPrivileges: no file gives the command rights that it did not have,
	// and root's powers are down to those over files.
	NoNewPrivileges bool `json:"no_new_privileges,omitempty"`
	// PIDNamespace: the command sees and signals no process outside by its id.
	PIDNamespace bool `json:"pid_namespace,omitempty"`
	// Landlock is the version of the kernel's Landlock interface that holds the
	// three below; zero when none of them is on.
	Landlock int `json:"landlock,omitempty"`
	// Files: the file system is closed but for what the sandbox lists.
	Files bool `json:"files,omitempty"`
	// Network: TCP is closed; see [Sandbox.NoNetwork].
	Network bool `json:"network,omitempty"`
	// Signals: the command signals nobody outside.
	Signals bool `json:"signals,omitempty"`
	// Limits are the names of the limits that are on: "cpu", "memory",
	// "file_size", "open_files", "processes".
	Limits []string `json:"limits,omitempty"`
	// Missing says what was asked for and is not on, each with the reason, such
	// as "network: Landlock of this kernel has version 3, 4 is needed".
	Missing []string `json:"missing,omitempty"`
}

// String describes it on one line for people, such as "best-effort:
// no_new_privileges, pid_namespace, landlock 7 (files, tcp), limits (cpu);
// missing: …", or "off".
func (e Enforced) String() string {
	if e.Mode == "" {
		return string(SandboxOff)
	}
	var on []string
	if e.NoNewPrivileges {
		on = append(on, "no_new_privileges")
	}
	if e.PIDNamespace {
		on = append(on, "pid_namespace")
	}
	if e.Landlock > 0 {
		var parts []string
		for _, part := range []struct {
			on   bool
			name string
		}{{e.Files, "files"}, {e.Network, "tcp"}, {e.Signals, "signals"}} {
			if part.on {
				parts = append(parts, part.name)
			}
		}
		on = append(on, fmt.Sprintf("landlock %d (%s)", e.Landlock, strings.Join(parts, ", ")))
	}
	if len(e.Limits) > 0 {
		on = append(on, "limits ("+strings.Join(e.Limits, ", ")+")")
	}
	if len(on) == 0 {
		on = []string{"nothing is on"}
	}
	text := string(e.Mode) + ": " + strings.Join(on, ", ")
	if len(e.Missing) > 0 {
		text += "; missing: " + strings.Join(e.Missing, "; ")
	}
	return text
}

// refusal is the error of a command whose required sandbox cannot be had.
func (e Enforced) refusal(name string) error {
	const shown = 5 // the rest is in the record
	list := e.Missing
	if len(list) > shown {
		list = append(slices.Clone(list[:shown]), fmt.Sprintf("and %d more", len(list)-shown))
	}
	return fmt.Errorf("%w: %s was not run: %s; change what the sandbox asks for, or make its mode %q",
		ErrSandbox, name, strings.Join(list, "; "), SandboxBestEffort)
}

// unconfined is what a run has that is not supervised, and the error where
// that is too little.
func unconfined(s Spec) (Enforced, error) {
	if !s.Sandbox.on() {
		return Enforced{}, nil
	}
	e := Enforced{Mode: s.Sandbox.Mode, Missing: []string{"all of it: " + noSandbox}}
	if e.Mode == SandboxRequired {
		return e, e.refusal(s.Command[0])
	}
	return e, nil
}
