package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/natsd"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

// access is how to reach a bus: written by `up` for this user's other
// processes, readable by this user alone.
type access struct {
	PID       int                   `json:"pid"`
	Started   time.Time             `json:"started"`
	Version   string                `json:"version"`
	Socket    string                `json:"socket,omitempty"`
	URL       string                `json:"url,omitempty"`
	Hooks     string                `json:"hooks"`
	HTTP      string                `json:"http,omitempty"`
	Passwords map[natsd.Role]string `json:"passwords"`
}

// accessFromEnvironment takes the passwords of a broker of one's own from the
// variables that its own configuration reads.
func accessFromEnvironment(url string, getenv func(string) string) access {
	a := access{URL: url, Passwords: make(map[natsd.Role]string)}
	for _, r := range natsd.Roles() {
		a.Passwords[r] = getenv("GRAPNEL_" + strings.ToUpper(string(r)) + "_PASSWORD")
	}
	return a
}

func (a access) options(r natsd.Role, name string, log *slog.Logger) bus.ConnectOptions {
	o := bus.ConnectOptions{Name: name, URL: a.URL, User: string(r), Password: a.Passwords[r], Log: log}
	if a.Socket != "" {
		o.Dial = func() (net.Conn, error) { return net.DialTimeout("unix", a.Socket, 2*time.Second) }
	}
	return o
}

func (a *access) write(p paths) error {
	a.PID, a.Started, a.Version, a.Hooks = os.Getpid(), time.Now().UTC(), version(), p.socket
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	return writePrivate(p.access(), append(text, '\n'))
}

// remove takes the file away, unless another daemon has written its own since:
// this one has given up the lock by now.
func (a *access) remove(p paths) {
	text, err := os.ReadFile(p.access())
	var there access
	if err != nil || a.PID == 0 || json.Unmarshal(text, &there) != nil || there.PID != a.PID {
		return
	}
	_ = os.Remove(p.access()) // a file of a dead daemon is in nobody's way
}

// client connects to the bus that runs on this state directory.
func (a *app) client(ctx context.Context, r natsd.Role) (*bus.Conn, error) {
	unreachable := func(err error) error {
		return fail(exitUnreachable, "start it with `grapnel up`, or see `grapnel doctor`", fmt.Errorf("no bus runs on %s: %w", a.paths.state, err))
	}
	text, err := os.ReadFile(a.paths.access())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unreachable(errors.New("it has not been started"))
	}
	if err != nil {
		return nil, unreachable(err)
	}
	var access access
	if err := strictjson.Unmarshal(text, &access, 1<<20); err != nil {
		return nil, fmt.Errorf("%s: %w", a.paths.access(), err)
	}
	// What goes wrong is returned to whoever asked; no log beside it.
	o := access.options(r, "grapnel command line", slog.New(slog.DiscardHandler))
	o.Timeout = 3 * time.Second
	c, err := bus.Connect(ctx, o)
	if late := net.Error(nil); errors.As(err, &late) && late.Timeout() {
		return nil, fail(exitUnreachable, fmt.Sprintf("it is overloaded or stopped: look at process %d and %s", access.PID, a.paths.daemonLog()),
			fmt.Errorf("the bus on %s does not answer: %w", a.paths.state, err))
	}
	if err != nil {
		return nil, unreachable(err)
	}
	return c, nil
}

// writePrivate replaces a file that only this user may read.
func writePrivate(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}

// secretFile returns n random bytes that stay the same over starts.
func secretFile(path string, n int) ([]byte, error) {
	secret, err := os.ReadFile(path)
	switch {
	case err == nil && len(secret) == n:
		return secret, nil
	case err == nil:
		return nil, fmt.Errorf("%s has %d bytes instead of %d; move it away to have a new one made", path, len(secret), n)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	secret = make([]byte, n)
	_, _ = rand.Read(secret)
	return secret, writePrivate(path, secret)
}
