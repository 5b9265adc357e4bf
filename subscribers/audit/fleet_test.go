package audit_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/grapnel-dev/grapnel/bus/hook"
	"github.com/grapnel-dev/grapnel/subscribers/audit"
)

// A session is found with all that were started from it, wherever in the log it
// says so, and never with others.
func TestSearchFollowsARun(t *testing.T) {
	t.Parallel()
	dir, k := t.TempDir(), newKey(t)
	l := open(t, dir, k, &audit.Options{NoIndex: true})
	for i, s := range []struct{ session, parent, root string }{
		0:  {"root", "", ""},
		1:  {"child", "root", "root"},
		2:  {"child", "", ""}, // says nothing, and is known all the same
		3:  {"late", "", ""},
		4:  {"grandchild", "child", "root"},
		5:  {"late", "grandchild", ""}, // now it says
		6:  {"other", "", ""},
		7:  {"others-child", "other", "other"},
		8:  {"", "root", "root"}, // of no session
		9:  {"", "", ""},
		10: {"loop-a", "loop-b", ""},
		11: {"loop-b", "loop-a", ""},
		12: {"far", "unseen", "root"}, // what is between is not on record
	} {
		r := record(i)
		r.Event.ID, r.Event.SessionID, r.Event.Extensions = fmt.Sprint(i), s.session, map[string]string{}
		if s.parent != "" {
			r.Event.Extensions[hook.ParentSessionExtension] = s.parent
		}
		if s.root != "" {
			r.Event.Extensions[hook.RootSessionExtension] = s.root
		}
		_, err := l.Append(context.Background(), r)
		require.NoError(t, err)
	}
	r := reader(t, dir)
	for session, want := range map[string][]int64{
		"root":       {0, 1, 2, 3, 4, 5, 12},
		"child":      {1, 2, 3, 4, 5},
		"grandchild": {3, 4, 5},
		"late":       {3, 5},
		"other":      {6, 7},
		"loop-a":     {10, 11},
		"loop-b":     {10, 11},
		"unseen":     {12},
		"no such":    {},
		"":           {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
	} {
		assert.Equal(t, want, find(t, r, audit.Filter{Session: session, OldestFirst: true}), "session %q", session)
	}
	assert.Equal(t, []int64{4}, find(t, r, audit.Filter{Session: "root", EventID: "4"}), "with another condition")
	rec, err := r.Record(4)
	require.NoError(t, err)
	assert.Equal(t, "child", rec.ParentSession)
	assert.Equal(t, "root", rec.RootSession)
}
