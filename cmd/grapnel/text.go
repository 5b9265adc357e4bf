package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// oneLine makes what somebody else wrote fit for one line of a terminal.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(process.Text([]byte(s), 1<<20)), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func sortedKeys(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }

// mustJSON is for our own values, which always marshal.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// terminal reports whether a person sees what is written to w.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// paint colours an effect on a terminal, and pads it to width.
func (a *app) paint(effect string, width int) string {
	padded := fmt.Sprintf("%-*s", width, effect)
	if !terminal(a.out) || a.getenv("NO_COLOR") != "" {
		return padded
	}
	colour := ""
	switch effect {
	case "deny", "halt":
		colour = "31"
	case "ask":
		colour = "33"
	case "allow":
		colour = "32"
	default:
		return padded
	}
	return "\x1b[1;" + colour + "m" + padded + "\x1b[0m"
}
