package audit

import "os"

// WithSync puts a disk of the test's own under a log: f stands for the call
// that makes a file durable.
func WithSync(o Options, f func(*os.File) error) *Options {
	o.sync = f
	return &o
}

// RealSync is the call itself.
func RealSync(f *os.File) error { return syncData(f) }

// What the fuzz targets call.
var (
	ParseFrame = func(b []byte) (leaf, payload []byte, err error) {
		f, err := parseFrame(b)
		return f.leaf, f.payload, err
	}
	LastCheckpoint = lastCheckpoint
	CutCheckpoint  = cutCheckpoint
)
