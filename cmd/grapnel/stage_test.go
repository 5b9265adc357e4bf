//go:build unix

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/grapnel-dev/grapnel/bus/natsd"
)

// stage is what one script has running.
type stage struct {
	work    string
	env     []string
	daemons []*daemon
}

type stageKey struct{}

type scriptCommand = func(*testscript.TestScript, bool, []string)

// stageCommands are what scripts can say besides testscript's own commands.
func stageCommands() map[string]scriptCommand {
	return map[string]scriptCommand{
		// daemon [FLAGS]: grapnel up in the background, until it is ready.
		"daemon": positive(func(ts *testscript.TestScript, args []string) { onStage(ts).up(ts, args) }),
		// signal TERM|INT|KILL: end that, see what it wrote in up.out and up.err.
		"signal": positive(func(ts *testscript.TestScript, args []string) { onStage(ts).signal(ts, args) }),
		// broker [FROM TO]: a nats-server on deploy/nats, with a change.
		"broker": positive(func(ts *testscript.TestScript, args []string) { onStage(ts).broker(ts, args) }),
		// endpoint VARIABLE ANSWER ASKED: an HTTP server, its host and port in
		// the variable, that answers with a file and appends requests to another.
		"endpoint": positive(func(ts *testscript.TestScript, args []string) { onStage(ts).endpoint(ts, args) }),
		// tailed FILE FLAGS -- COMMAND: what grapnel tail shows of COMMAND.
		"tailed": positive(func(ts *testscript.TestScript, args []string) { onStage(ts).tailed(ts, args) }),
		// exits CODE COMMAND: run it and compare its exit code.
		"exits": positive(exits),
		// until PATTERN COMMAND: run it until its output matches.
		"until": positive(until),
		// onejson FILE: it holds one JSON document and nothing else.
		"onejson": positive(oneJSON),
		// tamper FILE FROM TO: change the first FROM in it.
		"tamper": positive(tamper),
		// private DIR: all below it is its owner's alone.
		"private": positive(private),
		// nowhere TEXT DIR: no file below it holds TEXT.
		"nowhere": positive(nowhere),
	}
}

func positive(f func(*testscript.TestScript, []string)) scriptCommand {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command cannot be negated")
		}
		f(ts, args)
	}
}

func onStage(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

// close ends what the script left running, and returns what should not have
// been there.
func (s *stage) close() []survivor {
	for _, d := range s.daemons {
		d.signal(syscall.SIGTERM)
		_, _ = d.exit() // one that does not end is killed
	}
	left := running(s.work)
	for _, p := range left {
		p.kill()
	}
	return left
}

func (s *stage) launch(ts *testscript.TestScript, name string, args ...string) *daemon {
	cmd := exec.Command(program(name), args...)
	cmd.Dir, cmd.Env = s.work, slices.Clone(s.env)
	for _, variable := range s.env { // as the script has changed them
		name, _, _ := strings.Cut(variable, "=")
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	for _, r := range natsd.Roles() {
		name := passwordVariable(r)
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	for _, name := range []string{"HOOKS_ENABLED", "HOOKS_TIMEOUT"} { // set for some
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	d, err := launch(cmd)
	ts.Check(err)
	s.daemons = append(s.daemons, d)
	return d
}

func passwordVariable(r natsd.Role) string {
	return "GRAPNEL_" + strings.ToUpper(string(r)) + "_PASSWORD"
}

func (s *stage) up(ts *testscript.TestScript, args []string) {
	d := s.launch(ts, "grapnel", append([]string{"up"}, args...)...)
	ts.Check(d.wait())
	s.save(ts, d)
	// Named last, signal means this one.
	ts.Setenv("DAEMON_PID", strconv.Itoa(d.pid()))
}

func (s *stage) save(ts *testscript.TestScript, d *daemon) {
	stdout, stderr := d.said()
	ts.Check(os.WriteFile(filepath.Join(s.work, "up.out"), []byte(stdout), 0o600))
	ts.Check(os.WriteFile(filepath.Join(s.work, "up.err"), []byte(stderr), 0o600))
}

func (s *stage) signal(ts *testscript.TestScript, args []string) {
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL, "HUP": syscall.SIGHUP}
	if len(args) != 1 || signals[args[0]] == 0 || len(s.daemons) == 0 {
		ts.Fatalf("usage: signal TERM|INT|KILL|HUP, after daemon")
	}
	d := s.daemons[len(s.daemons)-1]
	d.signal(signals[args[0]])
	if args[0] == "HUP" {
		return
	}
	code, err := d.exit()
	ts.Check(err)
	s.save(ts, d)
	if args[0] != "KILL" && code != 0 {
		ts.Fatalf("it ended with %d: %s", code, d)
	}
}

func (s *stage) broker(ts *testscript.TestScript, args []string) {
	if len(args) != 0 && len(args) != 2 {
		ts.Fatalf("usage: broker [FROM TO]")
	}
	dir, err := os.MkdirTemp(s.work, "nats")
	ts.Check(err)
	for _, name := range []string{"grapnel.conf", "accounts.conf"} {
		text, err := os.ReadFile(filepath.Join("../../deploy/nats", name))
		ts.Check(err)
		if len(args) == 2 && name == "accounts.conf" {
			if !bytes.Contains(text, []byte(args[0])) {
				ts.Fatalf("%s has no %q", name, args[0])
			}
			text = bytes.Replace(text, []byte(args[0]), []byte(args[1]), 1)
		}
		ts.Check(os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	for _, r := range natsd.Roles() {
		ts.Setenv(passwordVariable(r), "secret-of-"+string(r))
	}
	s.env = append(s.env, "GRAPNEL_NATS_STORE=") // its value is what the script has
	ts.Setenv("GRAPNEL_NATS_STORE", filepath.Join(dir, "store"))
	d := s.launch(ts, "nats-server", "-c", filepath.Join(dir, "grapnel.conf"), "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", dir)
	url := ""
	if !poll(func() bool { url = clientURL(dir); return url != "" }) {
		ts.Fatalf("nats-server does not listen: %s", d)
	}
	// The bus is to be the last that was started.
	ts.Setenv("NATS_URL", url)
}

// clientURL is where a nats-server listens that writes its ports to dir, or "".
func clientURL(dir string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.ports"))
	if len(files) != 1 {
		return ""
	}
	var ports struct {
		NATS []string `json:"nats"`
	}
	b, err := os.ReadFile(files[0])
	if err != nil || json.Unmarshal(b, &ports) != nil || len(ports.NATS) == 0 {
		return ""
	}
	return ports.NATS[0]
}

// endpoint serves what a file holds at the time of each request.
func (s *stage) endpoint(ts *testscript.TestScript, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: endpoint VARIABLE ANSWER ASKED")
	}
	answer, asked := ts.MkAbs(args[1]), ts.MkAbs(args[2])
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		request, err := httputil.DumpRequest(r, true)
		var log *os.File
		if err == nil {
			log, err = os.OpenFile(asked, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		}
		if err == nil {
			_, err = log.Write(append(request, '\n'))
			_ = log.Close()
		}
		text, err2 := os.ReadFile(answer)
		if err := errors.Join(err, err2); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.Listener.Addr().String())
}

// tailed repeats a command until `grapnel tail`, which ends by itself after
// what -n says, has seen enough: nobody can know when it has begun to look.
func (s *stage) tailed(ts *testscript.TestScript, args []string) {
	at := slices.Index(args, "--")
	if at < 1 || at == len(args)-1 {
		ts.Fatalf("usage: tailed FILE FLAGS -- COMMAND")
	}
	d := s.launch(ts, "grapnel", append([]string{"tail"}, args[1:at]...)...)
	s.daemons = s.daemons[:len(s.daemons)-1]
	defer d.kill()
	seen := poll(func() bool {
		ts.Check(ts.Exec(args[at+1], args[at+2:]...))
		select {
		case <-d.ended:
			return true
		default:
			return false
		}
	})
	if !seen || d.cmd.ProcessState.ExitCode() != 0 {
		ts.Fatalf("grapnel tail saw nothing: %s", d)
	}
	stdout, _ := d.said()
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(stdout), 0o600))
}

// poll asks until the answer is yes; it reports whether it ever was.
func poll(yes func() bool) bool {
	limit := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !yes() {
		select {
		case <-tick.C:
		case <-limit:
			return false
		}
	}
	return true
}

func exits(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, not %d\nstdout: %s\nstderr: %s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

func until(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	if !poll(func() bool {
		_ = ts.Exec(args[1], args[2:]...) // it may say what it has to say with an exit code
		return pattern.MatchString(ts.ReadFile("stdout"))
	}) {
		ts.Fatalf("nothing matched %s; the last: %s", args[0], ts.ReadFile("stdout"))
	}
}

func oneJSON(ts *testscript.TestScript, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: onejson FILE")
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	var v any
	if err := d.Decode(&v); err != nil {
		ts.Fatalf("%v: %s", err, ts.ReadFile(args[0]))
	}
	if err := d.Decode(&v); !errors.Is(err, io.EOF) {
		ts.Fatalf("there is more than one document: %s", ts.ReadFile(args[0]))
	}
}

func tamper(ts *testscript.TestScript, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: tamper FILE FROM TO")
	}
	path := ts.MkAbs(args[0])
	content, err := os.ReadFile(path)
	ts.Check(err)
	if !bytes.Contains(content, []byte(args[1])) {
		ts.Fatalf("%s does not hold %q", path, args[1])
	}
	ts.Check(os.WriteFile(path, bytes.Replace(content, []byte(args[1]), []byte(args[2]), 1), 0o600))
}

// private says whether others could read what is below a directory.
func private(ts *testscript.TestScript, args []string) {
	for _, dir := range args {
		for _, problem := range exposed(ts.MkAbs(dir)) {
			ts.Fatalf("%s", problem)
		}
	}
}

// exposed lists what is below dir, and dir itself, that others could use.
func exposed(dir string) []string {
	var problems []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil // a temporary file
		}
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // it is gone
		}
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			problems = append(problems, path+" has mode "+info.Mode().String())
		}
		return nil
	})
	if err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}

func nowhere(ts *testscript.TestScript, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: nowhere TEXT DIR")
	}
	for _, dir := range args[1:] {
		if path := holding(ts.MkAbs(dir), args[0]); path != "" {
			ts.Fatalf("%q stands in %s", args[0], path)
		}
	}
}

// holding is the first file below dir that holds text, or "".
func holding(dir, text string) string {
	found := ""
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || found != "" || !e.Type().IsRegular() {
			return nil //nolint:nilerr // what is gone holds nothing
		}
		if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, []byte(text)) {
			found = path
		}
		return nil
	})
	return found
}
