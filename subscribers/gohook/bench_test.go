package gohook_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/grapnel-dev/grapnel/subscribers/gohook"
)

// BenchmarkExecute is what the Manager costs beside the hooks themselves, which
// do nothing here.
func BenchmarkExecute(b *testing.B) {
	for _, n := range []int{1, 4} {
		b.Run(fmt.Sprint(n, " hooks"), func(b *testing.B) {
			m := gohook.NewManager(nil)
			for i := range n {
				if err := m.Register(gohook.NewFunc(preToolUse(fmt.Sprint(i)), says(gohook.Allow()))); err != nil {
					b.Fatal(err)
				}
			}
			in := bash(b, "ls")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Execute(context.Background(), in, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
