package process

import "errors"

// Errors of [Runner.Run]. Each is wrapped with the command and what to do
// about it; tell them apart with errors.Is. A non-zero exit code is not an
// error: see [Result.ExitCode].
var (
	// ErrSpec: the specification makes no sense; nothing was started.
	ErrSpec = errors.New("bad command specification")
	// ErrNotFound: there is no such file.
	ErrNotFound = errors.New("command not found")
	// ErrNotExecutable: the file is there and may not be executed.
	ErrNotExecutable = errors.New("command is not executable")
	// ErrInterpreter: the file's #! line or format names something that this
	// system cannot run it with.
	ErrInterpreter = errors.New("command has no usable interpreter")
	// ErrDir: the working directory is missing or may not be entered.
	ErrDir = errors.New("working directory cannot be used")
	// ErrTooLong: arguments and environment are larger than the system takes.
	ErrTooLong = errors.New("argument list too long")
	// ErrStart: the command could not be started for another reason.
	ErrStart = errors.New("command could not be started")
	// ErrSandbox: the sandbox is required, and not all of it can be had here;
	// nothing was started.
	ErrSandbox = errors.New("sandbox cannot be enforced")
	// ErrTimedOut: it took longer than its time-out, or the context's
	// deadline passed.
	ErrTimedOut = errors.New("command timed out")
	// ErrCancelled: the context was cancelled.
	ErrCancelled = errors.New("command was cancelled")
	// ErrSignal: a signal that was not ours ended it.
	ErrSignal = errors.New("command was killed by a signal")
	// ErrSurvivors: the command ended, and processes it had started could not
	// be killed.
	ErrSurvivors = errors.New("command left processes that cannot be killed")
	// ErrSupervisor: the process that watches over the command failed or was
	// killed. The command and what it started are dead.
	ErrSupervisor = errors.New("command lost its supervisor")
	// ErrClosed: the runner was closed.
	ErrClosed = errors.New("process runner is closed")
)
