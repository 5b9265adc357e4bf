package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/internal/strictjson"
)

func TestDecisionsThatAreNotDecisions(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		``, ` `, `null`, `[]`, `"allow"`, `{"effect":"allow"`, `{"effect":"allow"}{}`, `{"effect":"allow"} x`,
		`{"effect":"deny","effect":"allow"}`, `{"effect":"deny","Effect":"allow"}`, `{"Effect":"allow"}`,
		"{\"e\u017ffect\":\"allow\"}", `{"effect":"ALLOW"}`, `{"effect":"yes"}`, `{"effect":1}`, `{"effect":["allow"]}`,
		`{"effect":"allow","decision":"deny"}`, "{\"effect\":\"allow\",\"reason\":\"\xff\"}", `{"effect":"allow","reason":1}`,
		`{"effect":"allow","rules":{}}`, `{'effect':'allow'}`, `{"effect":"allow",}`, "\ufeff" + `{"effect":"allow"}`,
	} {
		var d hook.Decision
		err := strictjson.Unmarshal([]byte(bad), &d, 1<<20)
		if bad == `null` {
			continue // null leaves the struct as it is; callers require the effect, see bus
		}
		assert.Error(t, err, "decoding %q gave %+v", bad, d)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	require.NoError(t, strictjson.Check(deep(strictjson.MaxDepth), 0))
	assert.ErrorIs(t, strictjson.Check(deep(strictjson.MaxDepth+1), 0), strictjson.ErrTooDeep)
	assert.ErrorIs(t, strictjson.Check([]byte(strings.Repeat("[", 1_000_000)), 0), strictjson.ErrTooDeep)
	assert.NoError(t, strictjson.Check([]byte(`"`+strings.Repeat("[", 1000)+`\"["`), 0), "brackets in strings do not nest")
	assert.ErrorIs(t, strictjson.Check(make([]byte, 11), 10), strictjson.ErrTooLarge)
	assert.ErrorIs(t, strictjson.Check(nil, 10), strictjson.ErrEmpty)
}

func TestRawMessagesKeepTheirBytes(t *testing.T) {
	t.Parallel()
	var v struct {
		Raw json.RawMessage `json:"raw"`
	}
	require.NoError(t, strictjson.UnmarshalOpen([]byte(`{"raw": { "b" : 1.0, "a":"\u0041" } ,"more":1}`), &v, 0))
	assert.Equal(t, `{ "b" : 1.0, "a":"\u0041" }`, string(v.Raw))
}

// TestDuplicatesAnywhere has a duplicate key in each place of a document of
// raw and typed parts.
func TestDuplicatesAnywhere(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		`{"raw":{"a":1,"a":2}}`, `{"raw":[{"a":{"b":1,"b":1}}]}`, `{"raw":1,"raw":1}`, `{"raw":{"a":1,"\u0061":2}}`,
		`{"list":[{"raw":{"x":1,"x":1}}]}`, `{"any":{"a":1,"a":2}}`, `{"raw":"\ud800"}`, "{\"raw\":\"\xff\"}", `{"raw":1} 2`,
	} {
		var v struct {
			Raw  json.RawMessage `json:"raw"`
			List []struct {
				Raw json.RawMessage `json:"raw"`
			} `json:"list"`
			Any any `json:"any"`
		}
		assert.Error(t, strictjson.Unmarshal([]byte(bad), &v, 0), bad)
		assert.Error(t, strictjson.UnmarshalOpen([]byte(bad), &v, 0), bad)
		assert.Error(t, strictjson.Check([]byte(bad), 0), bad)
	}
}

// FuzzUnmarshalIsNoLooser holds decoding against Check: what is decoded is
// well formed by it.
func FuzzUnmarshalIsNoLooser(f *testing.F) {
	f.Add([]byte(`{"effect":"allow","rewrite":{"a":1,"a":2}}`))
	f.Add([]byte(`{"effect":"deny","reason":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var d hook.Decision
		if strictjson.UnmarshalOpen(b, &d, 1<<16) == nil {
			require.NoError(t, strictjson.Check(b, 1<<16), "decoded what is not well formed: %q", b)
		}
	})
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x",null,{"b":true}]}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if strictjson.Check(b, 1<<16) != nil {
			return
		}
		require.True(t, json.Valid(b), "accepted what encoding/json refuses: %q", b)
	})
}
