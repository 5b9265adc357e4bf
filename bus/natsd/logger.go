package natsd

import (
	"fmt"
	"log/slog"
	"sync"
)

// logger passes the server's log on, and keeps what would otherwise be lost:
// the server reports that it cannot start to its logger alone.
type logger struct {
	log   *slog.Logger
	fatal chan string

	mu   sync.Mutex
	last string
}

func (l *logger) Noticef(format string, v ...any) {
	l.log.Debug("nats: " + fmt.Sprintf(format, v...))
}

// Warnf is about our own choices (passwords that live in memory alone, large
// messages), which nobody else can change.
func (l *logger) Warnf(format string, v ...any) {
	l.log.Info("nats: " + fmt.Sprintf(format, v...))
}

func (l *logger) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.mu.Lock()
	l.last = text
	l.mu.Unlock()
	l.log.Error("nats: " + text)
}

func (l *logger) Fatalf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.log.Error("nats: " + text)
	select {
	case l.fatal <- text:
	default:
	}
}

func (l *logger) Debugf(string, ...any) {}
func (l *logger) Tracef(string, ...any) {}

func (l *logger) lastError() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == "" {
		return "it gave no reason"
	}
	return l.last
}
