package schemas_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/schemas"
)

// compiled returns a schema ready to validate, compiled for itself alone.
func compiled(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	text, err := schemas.Read(name)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource(name, doc))
	s, err := c.Compile(name)
	require.NoError(t, err, name)
	return s
}

// validate holds JSON text against a schema.
func validate(s *jsonschema.Schema, text []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

func TestEverySchemaHasExamples(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(schemas.Names()), 9)
	for _, name := range schemas.Names() {
		s := compiled(t, name)
		for kind, valid := range map[string]bool{"valid": true, "invalid": false} {
			examples, err := filepath.Glob(filepath.Join("testdata", name, kind, "*.json"))
			require.NoError(t, err)
			assert.GreaterOrEqual(t, len(examples), 5, "schema %s needs at least five %s examples in testdata/%s/%s", name, kind, name, kind)
			for _, path := range examples {
				text, err := os.ReadFile(path)
				require.NoError(t, err)
				require.True(t, json.Valid(text), path)
				if err := validate(s, text); valid {
					assert.NoError(t, err, path)
				} else {
					assert.Error(t, err, path)
				}
			}
		}
	}
}

func TestEveryExampleHasASchema(t *testing.T) {
	t.Parallel()
	dirs, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, d := range dirs {
		if d.Name() == "rapid" {
			continue // what a failed property test left
		}
		assert.Contains(t, schemas.Names(), d.Name())
	}
}

func TestReadNamesTheSchemasThereAre(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Event", "event.json", "../schemas/event", strings.Repeat("x", 10_000)} {
		_, err := schemas.Read(name)
		require.ErrorContains(t, err, "audit-leaf, audit-payload, configuration")
		assert.Less(t, len(err.Error()), 400)
	}
	text, err := schemas.Read("event")
	require.NoError(t, err)
	text[0] = 'x'
	again, err := schemas.Read("event")
	require.NoError(t, err)
	assert.Equal(t, byte('{'), again[0], "what is returned is the caller's own")
}

// object is a schema as a document.
type object = map[string]any

func document(t testing.TB, name string) object {
	t.Helper()
	text, err := schemas.Read(name)
	require.NoError(t, err)
	var o object
	require.NoError(t, json.Unmarshal(text, &o))
	return o
}

func TestSharedDefinitionsAreTheSame(t *testing.T) {
	t.Parallel()
	seen := object{}
	for _, name := range schemas.Names() {
		doc := document(t, name)
		assert.Equal(t, "https://json-schema.org/draft/2020-12/schema", doc["$schema"], name)
		assert.Equal(t, "urn:grapnel:schema:"+name, doc["$id"], name)
		assert.NotEmpty(t, doc["description"], name)
		definitions, _ := doc["$defs"].(object)
		for key, definition := range definitions {
			if other, ok := seen[key]; ok {
				assert.Equal(t, other, definition, "$defs/%s in %s", key, name)
			}
			seen[key] = definition
		}
	}
	entry := document(t, "roster-entry")
	for key, want := range seen["entry"].(object) {
		assert.Equal(t, want, entry[key], "the roster entry in the configuration, at %s", key)
	}
}

func texts[S ~string](values []S) []any {
	var list []any
	for _, v := range values {
		list = append(list, string(v))
	}
	return list
}

func TestEnumerationsAreTheVocabulary(t *testing.T) {
	t.Parallel()
	event := document(t, "event")
	var types []any
	for _, n := range hook.Names() {
		types = append(types, n.Type())
	}
	assert.Equal(t, types, event["properties"].(object)["type"].(object)["enum"])
	tool := event["$defs"].(object)["tool"].(object)["properties"].(object)
	assert.Equal(t, texts(hook.Kinds()), tool["kind"].(object)["enum"])

	verdict := document(t, "verdict")["$defs"].(object)
	var effects []any
	for _, e := range hook.Effects() {
		effects = append(effects, e.String())
	}
	assert.Equal(t, effects, verdict["effect"].(object)["enum"])
	assert.Equal(t, texts([]hook.Outcome{hook.Answered, hook.Absent, hook.TimedOut, hook.Malformed, hook.Late, hook.Disconnected, hook.Crashed, hook.Forbidden}),
		verdict["outcome"].(object)["enum"])
}

// Objects that are ours take no key that is not in the schema, as the strict
// decoder does not. What belongs to others (a tool's input) is open.
func TestOurObjectsAreClosed(t *testing.T) {
	t.Parallel()
	var walk func(where string, v any)
	walk = func(where string, v any) {
		switch v := v.(type) {
		case object:
			if properties, ok := v["properties"].(object); ok && v["type"] == "object" {
				assert.Contains(t, v, "additionalProperties", where)
				for key, p := range properties {
					walk(where+"."+key, p)
				}
			}
			for _, key := range []string{"$defs", "items"} {
				walk(where+"/"+key, v[key])
			}
			if _, ok := v["properties"]; !ok {
				for key, inner := range v {
					if key != "enum" && key != "const" && key != "$defs" && key != "items" {
						walk(where+"/"+key, inner)
					}
				}
			}
		case []any:
			for _, inner := range v {
				walk(where, inner)
			}
		}
	}
	for _, name := range schemas.Names() {
		walk(name, document(t, name))
	}
}
