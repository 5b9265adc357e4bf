//go:build ignore

// Tally reads the output of `go test -json`, prints what matters of it, and
// counts. It fails when a test failed, was skipped, or when there was none.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	var passed, failed, skipped int
	output := map[string]*strings.Builder{} // of what is not finished, by package and test
	text := func(e event) *strings.Builder {
		key := e.Package + e.ImportPath + " " + e.Test
		if output[key] == nil {
			output[key] = &strings.Builder{}
		}
		return output[key]
	}
	for in.Scan() {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			fmt.Println(in.Text()) // the go command itself has something to say
			failed++
			continue
		}
		switch e.Action {
		case "output", "build-output":
			text(e).WriteString(e.Output)
		case "build-fail":
			fmt.Print(text(e).String())
			failed++
		case "fail":
			if e.Test == "" {
				fmt.Printf("FAIL\t%s\t%.1fs\n%s", e.Package, e.Elapsed, text(e).String())
			} else {
				fmt.Print(text(e).String())
			}
			failed++
		case "skip":
			if e.Test != "" {
				fmt.Printf("skipped, which counts as a failure: %s\n", text(e).String())
				skipped++
			}
		case "pass":
			if e.Test == "" {
				fmt.Printf("ok\t%s\t%.1fs\n", e.Package, e.Elapsed)
			} else {
				passed++
			}
		}
		if e.Action == "pass" || e.Action == "skip" {
			delete(output, e.Package+e.ImportPath+" "+e.Test)
		}
	}
	if err := in.Err(); err != nil {
		fmt.Println(err)
		failed++
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed+skipped)
	if failed+skipped > 0 || passed == 0 {
		os.Exit(1)
	}
}
