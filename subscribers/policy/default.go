package policy

import (
	"bytes"
	_ "embed"
)

//go:embed default.yaml
var defaultPolicy []byte

//go:embed default_test.yaml
var defaultTable []byte

// DefaultName is the name of the source that ships.
const DefaultName = "default.yaml"

// Default is the text of the policy that ships.
func Default() []byte { return bytes.Clone(defaultPolicy) }

// DefaultSource is the policy that ships as a source for [Compile].
func DefaultSource() Source { return Source{Name: DefaultName, Content: Default()} }

// DefaultTable is the table file that the policy that ships is tested with.
func DefaultTable() []byte { return bytes.Clone(defaultTable) }
