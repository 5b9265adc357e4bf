package bus

import (
	"errors"
	"fmt"
	"strings"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// The subjects of the bus. Agents see the first alone.
const (
	hooksPrefix  = "hooks."
	decidePrefix = "decide."
	eventsPrefix = "events."
	notifyPrefix = "notify."

	// aliveSubject is where watchers say that they are there: without any, no
	// live copies are made.
	aliveSubject = "watch.alive"

	// gatherPrefix is where deciders' answers come back; responders may
	// publish nowhere else.
	gatherPrefix = "_GATHER."

	// importedReply begins the reply subject of a request that came through
	// the service import. A reply subject that a client chose itself never
	// reaches CONTROL.
	importedReply = "_R_."

	gatewayQueue = "gateway"
)

// Names of what the bus keeps in JetStream, all in account CONTROL.
const (
	NotifyStream = "NOTIFY"
	rosterBucket = "roster"
)

// HookSubject is the subject that agents use for an event.
func HookSubject(e hook.Event) string { return hooksPrefix + e.Key() }

func decideSubject(decider string, e hook.Event) string {
	return decidePrefix + decider + "." + e.Key()
}

func liveSubject(e hook.Event) string { return eventsPrefix + e.Key() }

func notifySubject(e hook.Event) string {
	return notifyPrefix + e.Key() + "." + hook.Token(e.SessionID)
}

// checkSubject reports whether an event came on the subject that it belongs
// on: permissions are given by subject, so an event must not travel under
// another's.
func checkSubject(subject string, e hook.Event) error {
	if want := HookSubject(e); subject != want {
		return fmt.Errorf("event %s for %.80q came on subject %.120q, it belongs on %q", e.Name, e.Subject, subject, want)
	}
	return nil
}

// maxSubject is the length up to which a tool's name is its event's subject;
// longer ones are cut there.
const maxSubject = 1024

// checkEvent refuses what an agent, here or elsewhere, may not send: data by
// reference, which only the gateway gives out, and an event whose subject is
// not its tool's name, since who is heard goes by the one and what they decide
// by the other.
func checkEvent(e hook.Event) error {
	if e.DataRef != "" {
		return errors.New("events from agents carry their data themselves, not a dataref")
	}
	if t := e.Data.Tool; t != nil && t.Name != e.Subject && len(t.Name) <= maxSubject {
		return fmt.Errorf("the event's subject is %.80q and its tool's name %.80q; they must be the same", e.Subject, t.Name)
	}
	return nil
}

// blockingSubject guesses from the subject alone whether the sender of
// something unreadable waits for a verdict.
func blockingSubject(subject string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(subject, hooksPrefix), ".")
	return hook.Name(name).Blocking()
}
