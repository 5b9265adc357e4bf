package process

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Options tune a [Runner]. The zero value works.
type Options struct {
	// Supervisor is the command line of a program that calls [Supervise] and
	// nothing else, usually {"/proc/self/exe", "supervise"}. Empty means that
	// runs are held together by their process group alone (see [Group]). Only
	// Linux has supervision; elsewhere it is ignored.
	Supervisor []string
	// Namespace puts each supervisor into a PID namespace of its own where the
	// system permits, and falls back to [Supervised] where not. Commands then
	// see process ids that mean nothing outside, and where the caller is not
	// root, programs such as sudo do not work in them. Commands with a
	// [Sandbox] get one in any case, from supervisors of their own.
	Namespace bool
	// Limit is how many commands run at the same time; more wait for their
	// turn. Defaults to 64.
	Limit int
	// Idle is how many supervisors are kept ready between runs, and again as
	// many for sandboxed commands once there are any, unless Namespace makes
	// them the same. Defaults to 4.
	Idle int
	// IdleTime is how long those that are not used are kept, but for one that
	// stays. Defaults to 30 seconds.
	IdleTime time.Duration
	// Log defaults to none.
	Log *slog.Logger
}

// Runner runs commands. All methods may be called concurrently.
type Runner struct {
	options Options
	log     *slog.Logger
	slots   chan struct{}

	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	active sync.WaitGroup

	pool  *pool
	boxed *pool // of supervisors in PID namespaces, for sandboxed commands; may be pool
	seal  sync.Once
}

// New returns a runner; nil options are the zero ones. It starts nothing. Close
// it when it has a Supervisor.
func New(o *Options) *Runner {
	if o == nil {
		o = new(Options)
	}
	r := &Runner{options: *o, log: o.Log}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.options.Limit <= 0 {
		r.options.Limit = 64
	}
	if r.options.Idle <= 0 {
		r.options.Idle = 4
	}
	if r.options.IdleTime <= 0 {
		r.options.IdleTime = 30 * time.Second
	}
	r.slots = make(chan struct{}, r.options.Limit)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.pool = newPool(r.options, r.log)
	r.boxed = r.pool
	if !r.options.Namespace {
		namespaced := r.options
		namespaced.Namespace = true
		r.boxed = newPool(namespaced, r.log)
	}
	return r
}

// Close ends all running commands with their trees, waits until they are dead,
// and stops the supervisors. It is idempotent. Runs fail with [ErrClosed]
// afterwards.
func (r *Runner) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	r.active.Wait()
	r.pool.close()
	r.boxed.close()
	return nil
}

// Check makes sure that a command could be started now, and says how its tree
// would be held together. It leaves a supervisor ready for the first run.
func (r *Runner) Check(ctx context.Context) (Confinement, error) {
	if err := r.enter(ctx); err != nil {
		return None, err
	}
	defer r.leave()
	r.seal.Do(sealFiles)
	return r.pool.check()
}

// Run runs one command to its end and returns once every process of its tree
// is dead. It ends early when ctx does: the process group gets SIGTERM, and
// after the grace everything that is left gets SIGKILL.
//
// The error wraps one of this package's errors. An exit code other than 0 is
// none of them.
func (r *Runner) Run(ctx context.Context, s Spec) (Result, error) {
	nothing := Result{ExitCode: -1}
	s, err := s.withDefaults()
	if err != nil {
		return nothing, err
	}
	if err := r.enter(ctx); err != nil {
		return nothing, err
	}
	defer r.leave()
	if err := usableDir(s.Dir); err != nil {
		return nothing, err
	}
	r.seal.Do(sealFiles)
	remove, err := r.privateTemp(&s)
	if err != nil {
		return nothing, err
	}
	defer remove()
	tag := newTag()
	// A slice of its own: the caller's may be shared by other runs.
	s.Env = append(append(make([]string, 0, len(s.Env)+1), s.Env...), tag)
	return r.run(ctx, s, tag)
}

// tagName is the variable that marks every process of one run. Its value
// cannot be guessed, so that nothing outside the run carries it.
const tagName = "GRAPNEL_RUN"

func newTag() string { return tagName + "=" + rand.Text() }

func (r *Runner) enter(ctx context.Context) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return ErrClosed
	}
	r.active.Add(1)
	r.mu.Unlock()
	var err error
	select {
	case r.slots <- struct{}{}:
		if ctx.Err() == nil {
			return nil
		}
		<-r.slots
		err = fmt.Errorf("%w before it was started: %w", cancelKind(ctx), context.Cause(ctx))
	case <-ctx.Done():
		err = fmt.Errorf("%w before it was started (%d others are running): %w", cancelKind(ctx), r.options.Limit, context.Cause(ctx))
	case <-r.ctx.Done():
		err = ErrClosed
	}
	r.active.Done()
	return err
}

func (r *Runner) leave() {
	<-r.slots
	r.active.Done()
}

func cancelKind(ctx context.Context) error {
	if ctx.Err() == context.DeadlineExceeded {
		return ErrTimedOut
	}
	return ErrCancelled
}

// files are the three standard streams as the command gets them.
type files [3]*os.File

func (f files) close() {
	for _, file := range f {
		if file != nil {
			file.Close()
		}
	}
}
