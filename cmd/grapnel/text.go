package main

import (
	"encoding/json"
	"maps"
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
