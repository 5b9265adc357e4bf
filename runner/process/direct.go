package process

import "os"

// startDirect starts the command as a child of this process.
func startDirect(s Spec, theirs files, tag string) (*child, error) {
	enforced, err := unconfined(s)
	if err != nil {
		return &child{enforced: enforced}, err
	}
	p, err := os.StartProcess(s.Program, s.Command, &os.ProcAttr{
		Dir: s.Dir, Env: s.Env, Files: append(theirs[:], s.Files...), Sys: sysProcAttr(),
	})
	if err != nil {
		return nil, startError(s, err)
	}
	t := newTree(p, tag)
	c := &child{confinement: t.confinement, enforced: enforced, terminate: t.terminate, kill: t.kill, ended: make(chan struct{})}
	go func() { // ends with the process; Run waits for it
		defer close(c.ended)
		state, dead, err := t.wait()
		c.end = end{code: -1, err: err, survivors: !dead}
		if err == nil {
			c.end.code, c.end.signal = state.ExitCode(), stopSignal(state)
		}
	}()
	return c, nil
}
