package audit

import "context"

type index struct{}

func (*index) close() error { return nil }

func (l *Log) keepIndex(ctx context.Context) { defer close(l.indexDone); <-ctx.Done() }
