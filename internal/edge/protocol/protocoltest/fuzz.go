package protocoltest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/grapnel-dev/grapnel/bus/cloudevent"
	"github.com/grapnel-dev/grapnel/bus/hook"
)

// Fuzz fuzzes the reader with the payloads as seeds: whatever comes in is an
// event that the bus takes, or an error that closes every gate.
func (s Suite) Fuzz(f *testing.F) {
	for _, dir := range s.Payloads {
		names, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil {
				for i := range s.Agent.Events {
					f.Add(uint(i), text)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, i uint, stdin []byte) {
		row := s.Agent.Events[i%uint(len(s.Agent.Events))]
		c := Call(s.Agent, row.Name, stdin)
		e, err := s.Agent.Event(c)
		if err != nil {
			a := s.Agent.Refuse(c, err)
			if out := s.Client(Situation{Event: row.Name, Approved: true}, Of(a.Response)); row.Canonical.Class() == hook.Gate && out.Blocked != row.Block {
				t.Fatalf("%s: refused (%v) and blocked is %v: %s", row.Name, err, out.Blocked, a.Stdout)
			}
			return
		}
		if !bytes.Equal(bytes.TrimSpace(stdin), e.Data.Native.Payload) {
			t.Fatalf("%s: the payload is not whole", row.Name)
		}
		encoded, err := cloudevent.Marshal(e)
		if err != nil {
			t.Fatalf("%s: %v", row.Name, err)
		}
		if _, err := cloudevent.Unmarshal(encoded); err != nil {
			t.Fatalf("%s: %v", row.Name, err)
		}
	})
}
