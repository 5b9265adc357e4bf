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
