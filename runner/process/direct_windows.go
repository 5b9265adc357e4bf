package process

import (
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// tree is a job object that kills what is in it when it is closed. What the
// command starts in the instant before it is put into the job stays outside.
type tree struct {
	confinement Confinement
	process     *os.Process

	mu  sync.Mutex
	job windows.Handle
}

func newTree(p *os.Process, _ string) *tree {
	t := &tree{confinement: None, process: p}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return t
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = p.WithHandle(func(h uintptr) {
			if windows.AssignProcessToJobObject(job, windows.Handle(h)) == nil {
				t.job, t.confinement = job, Job
			}
		})
	}
	if err != nil || t.job == 0 {
		_ = windows.CloseHandle(job)
	}
	return t
}

// terminate kills at once: there is no signal that a program could obey.
func (t *tree) terminate() { t.kill() }

func (t *tree) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
		return
	}
	_ = t.process.Kill()
}

// wait waits for the command's end and kills what is left in its job. It
// reports whether all of it is dead.
func (t *tree) wait() (state *os.ProcessState, dead bool, err error) {
	state, err = t.process.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
		_ = windows.CloseHandle(t.job)
		t.job = 0
	}
	return state, true, err
}

func stopSignal(*os.ProcessState) int { return 0 }
