package schemas

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.json
var files embed.FS

// Names lists the schemas in alphabetical order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // an embedded directory can always be read
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Read returns the text of a schema. The error for a name that is not in
// [Names] lists those that are.
func Read(name string) ([]byte, error) {
	for _, known := range Names() {
		if name == known {
			return files.ReadFile(name + ".json")
		}
	}
	return nil, fmt.Errorf("there is no schema %.40q; there are %s", name, strings.Join(Names(), ", "))
}
