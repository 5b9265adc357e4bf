package archtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// floors are from the highest to the lowest. A package imports only packages
// of lower floors, and those of its own family. The first pattern that fits
// counts.
var floors = []struct {
	pattern string // of a directory; "..." at the end stands for any sub-directories
	floor   int
	reason  string
}{
	{"cmd/...", 70, "wires everything; nothing imports a command"},
	{"internal/web/...", 60, "shows what the others do"},
	{"internal/edge/...", 50, "where agents connect"},
	{"subscribers/...", 50, "deciders and handlers, testable with nothing running"},
	{"runner/...", 40, "hosts other people's code"},
	{"bus/hook", 10, "the vocabulary, known by all"},
	{"bus/cloudevent", 20, "the wire form of the vocabulary"},
	{"bus/...", 30, "the bus and its embedded server"},
	{"schemas", 10, "descriptions, known by all"},
	{"internal/strictjson", 15, "reads what others wrote"},
	{"internal/filelock", 15, "locks files for whoever keeps state"},
	{"internal/redact", 15, "takes secrets out of what is stored"},
	{"internal/archtest", 0, "these rules"},
	{"deploy/...", 0, "configuration and its tests"},
}

func floorOf(dir string) int {
	for _, f := range floors {
		if fits(f.pattern, dir) {
			return f.floor
		}
	}
	return -1
}

func fits(pattern, dir string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == base || strings.HasPrefix(dir, base+"/")
	}
	return dir == pattern
}

// family is the sub-tree within which packages may import each other.
func family(dir string) string {
	parts := strings.Split(dir, "/")
	switch {
	case parts[0] == "runner":
		return parts[0]
	case len(parts) > 1 && (parts[0] == "subscribers" || parts[0] == "internal"):
		return parts[0] + "/" + parts[1]
	case parts[0] == "bus" && floorOf(dir) == 30:
		return "bus" // bus, natsd, bustest
	}
	return dir
}

func TestPackagesImportOnlyLowerFloors(t *testing.T) {
	t.Parallel()
	tr := load(t)
	for _, f := range tr.files {
		from := floorOf(f.dir)
		require.NotEqual(t, -1, from, "%s: no floor for this directory; say in the table where it belongs and why", f.path)
		if f.test || testOnly(f.dir) {
			continue // tests may use what is above them
		}
		for _, imported := range f.imports() {
			dir, ours := strings.CutPrefix(imported, module+"/")
			if !ours || family(dir) == family(f.dir) {
				continue
			}
			assert.Greater(t, from, floorOf(dir), "%s imports %s, which is not on a lower floor", f.path, dir)
		}
	}
}

// forbidden imports, each with its reason. A trailing "/..." stands for all
// sub-packages. An exception in except is a directory of the project.
var forbidden = []struct {
	in, imports, reason string
	except              []string
}{
	{"subscribers/...", "github.com/nats-io/...", "a subscriber is testable with nothing running", nil},
	{"subscribers/...", module + "/bus", "a subscriber knows events and not the bus", nil},
	{"subscribers/...", module + "/bus/natsd", "a subscriber knows events and not the bus", nil},
	{"subscribers/...", module + "/runner", "the runner hosts subscribers, and not the other way round", nil},
	{"bus/...", "github.com/nats-io/nats-server/...", "a client of a broker must not link one", []string{"bus/natsd", "bus/bustest"}},
	{"internal/edge/...", "github.com/nats-io/...", "the edge asks the bus", nil},
	{"...", "github.com/stretchr/testify/...", "a test helper in the product is size and attack surface", nil},
	{"...", "pgregory.net/rapid", "a test helper in the product is size and attack surface", nil},
	{"...", "go.uber.org/goleak", "a test helper in the product is size and attack surface", nil},
	{"...", "github.com/rogpeppe/go-internal/...", "a test helper in the product is size and attack surface", nil},
	{"...", "testing/...", "a test helper in the product is size and attack surface", nil},
	{"...", "log", "a *slog.Logger is passed in", nil},
	{"...", "math/rand", "tokens must not be guessed: crypto/rand, or math/rand/v2 for what may", nil},
}

func TestForbiddenImports(t *testing.T) {
	t.Parallel()
	for _, f := range load(t).files {
		if f.test || testOnly(f.dir) {
			continue
		}
		for _, imported := range f.imports() {
			for _, rule := range forbidden {
				if (rule.in == "..." || fits(rule.in, f.dir)) && fits(rule.imports, imported) && !slices.Contains(rule.except, f.dir) {
					assert.Fail(t, "forbidden import", "%s imports %s: %s", f.path, imported, rule.reason)
				}
			}
			if imported == "unsafe" && !strings.HasSuffix(f.path, "_windows.go") {
				assert.Fail(t, "forbidden import", "%s imports unsafe: only some calls of Windows need it", f.path)
			}
			if testOnly(imported) && strings.HasPrefix(imported, module) {
				assert.Fail(t, "test kit in production code", "%s imports %s", f.path, imported)
			}
		}
	}
}

// standardOnly are packages that link nothing from outside, whatever they
// import of ours.
var standardOnly = []struct{ dir, reason string }{
	{"bus/hook", "everything imports it"},
	{"schemas", "everything may import it"},
	{"cmd/grapnel-hook", "it starts for every tool call of every agent"},
}

func TestStandardLibraryOnly(t *testing.T) {
	t.Parallel()
	tr := load(t)
	packages := tr.packages()
	for _, rule := range standardOnly {
		require.NotEmpty(t, packages[rule.dir], rule.dir)
		seen := map[string]bool{}
		var visit func(dir string)
		visit = func(dir string) {
			if seen[dir] {
				return
			}
			seen[dir] = true
			for _, f := range packages[dir] {
				for _, imported := range f.imports() {
					if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
						visit(ours)
					} else if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") {
						assert.Fail(t, "not the standard library", "%s imports %s, and %s must not: %s", f.path, imported, rule.dir, rule.reason)
					}
				}
			}
		}
		visit(rule.dir)
	}
	for _, f := range packages["bus/hook"] {
		for _, imported := range f.imports() {
			assert.False(t, strings.HasPrefix(imported, module), "%s imports %s: the vocabulary imports nothing of ours", f.path, imported)
		}
	}
}
