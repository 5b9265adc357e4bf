package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// paths says where everything is. The fields are the flags' values until
// resolve has filled in the rest.
type paths struct {
	config string // configuration file
	state  string // state directory
	socket string // hook socket

	configGiven bool // the file must exist then
}

// resolve fills in what the flags left open, from the environment and then the
// XDG base directories.
func (p *paths) resolve(getenv func(string) string) error {
	first := func(values ...string) string {
		for _, v := range values {
			if v != "" {
				return v
			}
		}
		return ""
	}
	home := first(getenv("HOME"), getenv("USERPROFILE"))
	under := func(variable string, rest ...string) string {
		if v := getenv(variable); filepath.IsAbs(v) {
			return filepath.Join(v, "grapnel")
		}
		if home == "" {
			return ""
		}
		return filepath.Join(append(append([]string{home}, rest...), "grapnel")...)
	}
	stateGiven := first(p.state, getenv("GRAPNEL_STATE")) != ""
	p.configGiven = first(p.config, getenv("GRAPNEL_CONFIG")) != ""
	p.state = first(p.state, getenv("GRAPNEL_STATE"), under("XDG_STATE_HOME", ".local", "state"))
	p.config = first(p.config, getenv("GRAPNEL_CONFIG"), filepath.Join(under("XDG_CONFIG_HOME", ".config"), "grapnel.yaml"))
	p.socket = first(p.socket, getenv("GRAPNEL_SOCKET"))
	if p.state == "" {
		return fail(exitUsage, "set HOME or XDG_STATE_HOME, or give --state", errors.New("there is no place for the state"))
	}
	if p.socket == "" {
		// A state directory of one's own is a bus of one's own.
		if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && !stateGiven {
			p.socket = filepath.Join(dir, "grapnel", "hook.sock")
		} else {
			p.socket = filepath.Join(p.state, "run", "hook.sock")
		}
	}
	for _, path := range []*string{&p.config, &p.state, &p.socket} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("find %s: %w", *path, err)
		}
		*path = absolute
	}
	return nil
}

// maxSocketPath is how long the path of a unix socket may be on every system,
// less what is appended while the hook socket is made.
const maxSocketPath = 103 - len(".new")

// busSocket is where the command line reaches the embedded broker.
func (p paths) busSocket() string { return filepath.Join(filepath.Dir(p.socket), "nats.sock") }

// access is the file that says how to reach the running bus, for this user
// alone.
func (p paths) access() string { return filepath.Join(p.state, "access.json") }

// auditDir is where the audit log is.
func (p paths) auditDir() string { return filepath.Join(p.state, "audit") }

// nodeKey is this node's signing key.
func (p paths) nodeKey() string { return filepath.Join(p.state, "node.key") }

// policyBundle is the signed copy of the policy for when no daemon runs.
func (p paths) policyBundle() string { return filepath.Join(p.state, "policy.bundle") }

// httpToken is what callers over HTTP show.
func (p paths) httpToken() string { return filepath.Join(p.state, "http.token") }

// daemonLog is where a daemon that nobody watches writes.
func (p paths) daemonLog() string { return filepath.Join(p.state, "daemon.log") }

// sibling is a program beside this one.
func sibling(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	return filepath.Join(filepath.Dir(self), name+executableSuffix), nil
}
