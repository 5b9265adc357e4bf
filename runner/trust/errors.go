package trust

import "errors"

// Errors of this package. Each is wrapped with what it is about and what to do;
// tell them apart with errors.Is.
var (
	// ErrDefinition: the definition makes no sense, or nobody can say what it
	// would run.
	ErrDefinition = errors.New("bad hook definition")
	// ErrSelector: nobody can say which approvals are meant.
	ErrSelector = errors.New("no approvals are chosen")
	// ErrFile: a file that the hook needs cannot be measured: it is not a
	// regular file, or cannot be read. Files that are not there give
	// process.ErrNotFound.
	ErrFile = errors.New("hook file cannot be measured")
	// ErrTooLarge: there are more files, or larger ones, than are measured.
	ErrTooLarge = errors.New("hook is too large to be measured")
	// ErrUnstable: a file changed each time it was read.
	ErrUnstable = errors.New("hook file changes while it is read")
	// ErrInterpreter: a #! line that cannot be followed.
	ErrInterpreter = errors.New("bad #! line")
	// ErrMismatch: what is to run is not what was measured.
	ErrMismatch = errors.New("command differs from the measured one")
	// ErrSeal: the system gives no memory that can be sealed and executed.
	ErrSeal = errors.New("hook cannot be pinned")
	// ErrClosed: the gauge, measurement or store was closed.
	ErrClosed = errors.New("closed")
	// ErrStore: the file of approvals is damaged, or others could have written
	// it. Nothing counts as approved.
	ErrStore = errors.New("approvals cannot be trusted")
	// ErrFull: there are as many approvals as are kept.
	ErrFull = errors.New("too many approvals")
	// ErrBusy: another process has been writing approvals for too long.
	ErrBusy = errors.New("approvals are locked by another process")
)
