//go:build unix

package main_test

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// daemon is a running `grapnel up`, or another program that says "ready".
type daemon struct {
	cmd   *exec.Cmd
	ready chan struct{}
	ended chan struct{} // closed when the process has been waited for

	mu             sync.Mutex
	stdout, stderr strings.Builder
}

func launch(cmd *exec.Cmd) (*daemon, error) {
	d := &daemon{cmd: cmd, ready: make(chan struct{}), ended: make(chan struct{})}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var streams sync.WaitGroup
	streams.Go(func() { d.follow(stdout, &d.stdout) })
	streams.Go(func() { d.follow(stderr, &d.stderr) })
	go func() {
		defer close(d.ended)
		streams.Wait()
		_ = cmd.Wait() // the state says how it ended
	}()
	return d, nil
}

func (d *daemon) follow(from io.Reader, to *strings.Builder) {
	lines, ready := bufio.NewReader(from), false
	for {
		line, err := lines.ReadString('\n')
		d.mu.Lock()
		to.WriteString(line)
		d.mu.Unlock()
		if !ready && strings.HasPrefix(line, "ready") {
			ready = true
			close(d.ready)
		}
		if err != nil {
			return
		}
	}
}

// String is what it wrote.
func (d *daemon) String() string {
	out, err := d.said()
	return fmt.Sprintf("%s\nstdout: %.4000s\nstderr: %.4000s", d.cmd, out, err)
}

func (d *daemon) said() (stdout, stderr string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stdout.String(), d.stderr.String()
}

// wait waits until it has said that it is ready.
func (d *daemon) wait() error {
	select {
	case <-d.ready:
		return nil
	case <-d.ended:
		select {
		case <-d.ready:
			return nil
		default:
			return fmt.Errorf("it ended with %s before it was ready: %s", d.cmd.ProcessState, d)
		}
	case <-time.After(patience):
		return fmt.Errorf("it does not get ready: %s", d)
	}
}

func (d *daemon) pid() int { return d.cmd.Process.Pid }

func (d *daemon) signal(s syscall.Signal) { _ = d.cmd.Process.Signal(s) }

// exit waits for the end of the process and returns its code, which is -1
// after a signal.
func (d *daemon) exit() (int, error) {
	select {
	case <-d.ended:
		return d.cmd.ProcessState.ExitCode(), nil
	case <-time.After(patience):
		d.kill()
		return -1, fmt.Errorf("it does not end: %s", d)
	}
}

// kill kills it as a power cut would, and waits.
func (d *daemon) kill() {
	d.signal(syscall.SIGKILL)
	<-d.ended
}
