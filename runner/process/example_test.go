package process_test

import (
	"context"
	"fmt"
	"os"

	"github.com/grapnel-dev/grapnel/runner/process"
)

// A value from outside reaches a command as a variable, whatever it holds.
func Example() {
	r := process.New(nil)
	defer r.Close()
	path := process.CleanPath(os.Getenv("PATH"))
	result, err := r.Run(context.Background(), process.Spec{
		Shell: `echo "got $VALUE"; sleep 1000 & exit 3`,
		Dir:   "/",
		Env:   process.Environment(os.Environ(), path, nil, []string{"VALUE=$(reboot)"}),
	})
	fmt.Println(result.ExitCode, process.Text(result.Stdout.Bytes, 80), err)
	// Output: 3 got $(reboot) <nil>
}
