package process

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// Sandbox says what a command is kept from, by means of the kernel that it
// cannot undo, and that hold for all it starts. Only supervised runs on Linux
// have one. In JSON and YAML it is an object, or its mode alone as a string.
//
// Every sandboxed run has no_new_privileges (set-user-ID files change
// nothing), a PID namespace of its own, signals to nobody outside where the
// kernel can do that, and, when it runs as root, only root's power over files
// (CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID). The rest is on where
// it is asked for.
type Sandbox struct {
	// Mode says whether there is a sandbox.
	Mode SandboxMode `json:"mode,omitempty" yaml:"mode,omitempty"`
	// ReadOnly and ReadWrite are absolute paths of files and directories. When
	// either has any, the file system is closed outside of them, but for what
	// [Spec] itself names and what every program needs: see the package
	// documentation. ReadOnly gives to read and execute, ReadWrite all of that
	// and to change what is there. At most 128 each. A path with a symbolic link
	// in it is not taken, since a command might have made the link; write where
	// it leads.
	ReadOnly  []string `json:"read_only,omitempty" yaml:"read_only,omitempty"`
	ReadWrite []string `json:"read_write,omitempty" yaml:"read_write,omitempty"`
	// NoNetwork closes TCP, to listen and to connect, and the abstract unix
	// sockets of processes outside. The package documentation says what is left.
	NoNetwork bool `json:"no_network,omitempty" yaml:"no_network,omitempty"`
	// Limits are what each process may use.
	Limits Limits `json:"limits,omitzero" yaml:"limits,omitempty"`
}

// SandboxMode says what happens where a sandbox cannot be had.
type SandboxMode string

// The modes. The empty one is SandboxOff.
const (
	// SandboxOff: there is none; the rest of the Sandbox is not looked at.
	SandboxOff SandboxMode = "off"
	// SandboxBestEffort: the command runs with as much of it as this system
	// has, and [Enforced] says what is missing.
	SandboxBestEffort SandboxMode = "best-effort"
	// SandboxRequired: the command runs with all of it or not at all, which is
	// [ErrSandbox].
	SandboxRequired SandboxMode = "required"
)

// Limits are the kernel's limits of a command (setrlimit). A command cannot
// raise them. Zero is no limit but the one that the runner itself has.
type Limits struct {
	// CPU is the processor time of each process, in whole seconds, rounded up;
	// it ends by SIGXCPU, and a second later by SIGKILL.
	CPU hook.Duration `json:"cpu,omitzero" yaml:"cpu,omitempty"`
	// Memory is the address space of each process, in bytes. Some programs
	// (node, java, Go) reserve far more than they use.
	Memory int64 `json:"memory,omitempty" yaml:"memory,omitempty"`
	// FileSize is how large a file may become by writing, in bytes; more is
	// SIGXFSZ.
	FileSize int64 `json:"file_size,omitempty" yaml:"file_size,omitempty"`
	// OpenFiles is how many files each process may have open at once.
	OpenFiles int `json:"open_files,omitempty" yaml:"open_files,omitempty"`
	// Processes is how many processes and threads the user may have when one
	// more is started. The kernel counts all of the user's, or where a user
	// namespace holds the run (the runner is not root), those in it with about
	// ten of the supervisor. It does not hold for root, and is missing then.
	Processes int `json:"processes,omitempty" yaml:"processes,omitempty"`
}

const (
	// maxSandboxPaths bounds each of a sandbox's lists.
	maxSandboxPaths = 128
	// maxPath is how long the system lets a path be.
	maxPath = 4096
)

// UnmarshalJSON reads the object, or the mode alone as a string.
func (s *Sandbox) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*s = Sandbox{}
		return strictjson.Unmarshal(b, &s.Mode, len(b))
	}
	type plain Sandbox // without this method
	return strictjson.Unmarshal(b, (*plain)(s), len(b))
}

// UnmarshalYAML reads the mapping, or the mode alone as a string.
func (s *Sandbox) UnmarshalYAML(unmarshal func(any) error) error {
	var mode SandboxMode
	if unmarshal(&mode) == nil {
		*s = Sandbox{Mode: mode}
		return nil
	}
	type plain Sandbox // without this method
	return unmarshal((*plain)(s))
}

// Check reports what makes no sense about a sandbox; the error wraps
// [ErrSpec]. Run checks it too.
func (s Sandbox) Check() error {
	_, err := s.withDefaults()
	return err
}

func (s Sandbox) withDefaults() (Sandbox, error) {
	bad := func(format string, args ...any) (Sandbox, error) {
		return s, fmt.Errorf("%w: sandbox: %s", ErrSpec, fmt.Sprintf(format, args...))
	}
	asks := s.closed() || s.NoNetwork || s.Limits != Limits{}
	switch s.Mode {
	case SandboxOff:
		return Sandbox{}, nil
	case "":
		if asks {
			return bad("it has no mode; say %q, %q or %q", SandboxRequired, SandboxBestEffort, SandboxOff)
		}
		return Sandbox{}, nil
	case SandboxBestEffort, SandboxRequired:
	default:
		return bad("there is no mode %.40q; say %q, %q or %q", string(s.Mode), SandboxRequired, SandboxBestEffort, SandboxOff)
	}
	l := s.Limits
	if l.CPU < 0 || l.Memory < 0 || l.FileSize < 0 || l.OpenFiles < 0 || l.Processes < 0 {
		return bad("a limit cannot be negative")
	}
	var err error
	if s.ReadOnly, err = cleanPaths(s.ReadOnly); err != nil {
		return bad("read_only: %s", err)
	}
	if s.ReadWrite, err = cleanPaths(s.ReadWrite); err != nil {
		return bad("read_write: %s", err)
	}
	return s, nil
}

// cleanPaths returns a list of its own: the caller's may be shared.
func cleanPaths(list []string) ([]string, error) {
	if len(list) > maxSandboxPaths {
		return nil, fmt.Errorf("%d paths, at most %d", len(list), maxSandboxPaths)
	}
	clean := make([]string, len(list))
	for i, path := range list {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("%.200q is not an absolute path", path)
		}
		if strings.IndexByte(path, 0) >= 0 {
			return nil, fmt.Errorf("there is a NUL byte in %.40q", path)
		}
		if len(path) > maxPath || !utf8.ValidString(path) {
			return nil, fmt.Errorf("%.200q is longer than %d bytes or not UTF-8", path, maxPath)
		}
		clean[i] = filepath.Clean(path)
	}
	return clean, nil
}

// on says that there is a sandbox; of a checked one.
func (s Sandbox) on() bool { return s.Mode != "" }

// closed says that the file system is closed but for the lists.
func (s Sandbox) closed() bool { return len(s.ReadOnly)+len(s.ReadWrite) > 0 }
