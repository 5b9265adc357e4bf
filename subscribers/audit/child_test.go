package audit_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// roles are what this test binary does when it is started with one of them.
func roles() map[string]func(dir, key string) error {
	return map[string]func(dir, key string) error{"-audit-writer": childWriter, "-audit-full": childFull, "-audit-lock": childLock, "-audit-verify": childVerify}
}

// child runs this binary in another role when its arguments say so, and
// reports whether they did.
func child(args []string) bool {
	if len(args) != 4 {
		return false
	}
	role, ok := roles()[args[1]]
	if !ok {
		return false
	}
	if err := role(args[2], args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// start runs this binary in a role.
func start(t testing.TB, role, dir string, k *audit.Key) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], role, dir, k.Secret())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stdin.Close()
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
		if t.Failed() {
			t.Log(stderr.String())
		}
	})
	return cmd, bufio.NewScanner(out)
}

// childWriter appends from four goroutines until it is killed, and prints each
// index once Append has returned it.
func childWriter(dir, secret string) error {
	k, err := audit.ParseKey(secret)
	if err != nil {
		return err
	}
	l, err := audit.Open(dir, k, &audit.Options{SegmentBytes: 256 << 10, CheckpointRecords: 32, NoIndex: true})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	fmt.Println("open", l.Size())
	failed := make(chan error)
	for range 4 {
		go func() {
			for i := 0; ; i++ {
				at, err := l.Append(context.Background(), record(i))
				if err != nil {
					failed <- err
					return
				}
				if at%29 == 7 {
					if _, err := l.Redact(context.Background(), at-2, "test", "for the test"); err != nil {
						failed <- err
						return
					}
				}
				mu.Lock()
				fmt.Println("acked", at)
				mu.Unlock()
			}
		}()
	}
	return <-failed
}

// childLock holds the log until its stdin ends.
func childLock(dir, secret string) error {
	k, err := audit.ParseKey(secret)
	if err != nil {
		return err
	}
	l, err := audit.Open(dir, k, nil)
	if err != nil {
		return err
	}
	fmt.Println("open")
	bufio.NewReader(os.Stdin).ReadByte()
	return l.Close()
}

// childVerify verifies a log.
func childVerify(dir, secret string) error {
	k, err := audit.ParseKey(secret)
	if err != nil {
		return err
	}
	r, err := audit.Verify(context.Background(), dir, k.Verifier(), nil)
	if err == nil && !r.OK() {
		err = fmt.Errorf("%v", r.Bad)
	}
	return err
}
