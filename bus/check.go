package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/grapnel-dev/grapnel/bus/hook"
)

// ErrBroker is wrapped by every error of [CheckBroker] that is about how the
// broker is set up.
var ErrBroker = errors.New("the broker is not set up for grapnel")

// CheckBroker refuses a broker on which a verdict could be forged, lost or
// overruled. It looks at the broker as an agent and as the gateway:
//
//   - no stream captures a request subject: its PubAck would be taken for the
//     decision, and absence would no longer be noticed;
//   - agents have no JetStream, and may not publish to decide.> or to anybody's
//     inbox, nor listen to hooks.> or to inboxes that are not theirs;
//   - hooks.> reaches the gateway through a service import that shares who
//     asks.
//
// It waits for ctx at most, and takes about 100 ms. Run it before the gateway:
// it answers its own probe on hooks.>.
func CheckBroker(ctx context.Context, agent, gateway ConnectOptions) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	gateway.Name, agent.Name = "grapnel check", "grapnel check"
	control, err := Connect(ctx, gateway)
	if err != nil {
		return err
	}
	defer control.Close()
	if err := checkStreams(ctx, control); err != nil {
		return err
	}
	agents, err := Connect(ctx, agent)
	if err != nil {
		return err
	}
	defer agents.Close()
	if err := checkAgentPermissions(ctx, agents); err != nil {
		return err
	}
	return checkImport(ctx, agents, control)
}

func brokerError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format+"; deploy/nats/grapnel.conf shows how it must be", append([]any{ErrBroker}, args...)...)
}

func checkStreams(ctx context.Context, c *Conn) error {
	if _, err := c.js.AccountInfo(ctx); err != nil {
		return brokerError("user %q has no JetStream: %v", c.user, err)
	}
	streams := c.js.ListStreams(ctx)
	for info := range streams.Info() {
		for _, subject := range info.Config.Subjects {
			for _, request := range []string{hooksPrefix + ">", decidePrefix + ">", gatherPrefix + ">"} {
				if overlap(subject, request) {
					return brokerError("stream %s captures %s, which overlaps the request subject %s", info.Config.Name, subject, request)
				}
			}
		}
	}
	if err := streams.Err(); err != nil {
		return fmt.Errorf("list the broker's streams: %w", err)
	}
	return nil
}

// checkAgentPermissions tries what an agent must not be able to do.
func checkAgentPermissions(ctx context.Context, c *Conn) error {
	for _, subject := range []string{hooksPrefix + ">", decidePrefix + ">", eventsPrefix + ">", gatherPrefix + ">", "_INBOX.>", "_INBOX_gateway.>"} {
		refused, err := c.refused(ctx, func() error {
			sub, err := c.nc.SubscribeSync(subject)
			if err == nil {
				defer func() { _ = sub.Unsubscribe() }()
			}
			return err
		})
		if err != nil {
			return err
		}
		if !refused {
			return brokerError("agents (user %q) may subscribe to %s", c.user, subject)
		}
	}
	for _, subject := range []string{decidePrefix + "check.stop._", gatherPrefix + "check.token", InboxPrefix(c.user) + ".check", "_INBOX_gateway.check", "$JS.API.INFO"} {
		refused, err := c.refused(ctx, func() error { return c.nc.Publish(subject, nil) })
		if err != nil {
			return err
		}
		if !refused {
			return brokerError("agents (user %q) may publish to %s", c.user, subject)
		}
	}
	return nil
}

// refused runs do and reports whether the broker objects. Objections come on
// their own time, but before the answer to a flush that was sent later.
func (c *Conn) refused(ctx context.Context, do func() error) (bool, error) {
	failed, stop := c.failures()
	defer stop()
	if err := do(); err != nil {
		return false, fmt.Errorf("check the broker: %w", err)
	}
	if err := c.flush(ctx); err != nil {
		return false, fmt.Errorf("check the broker: %w", err)
	}
	select {
	case err := <-failed:
		return errors.Is(err, ErrForbidden), nil
	case <-time.After(20 * time.Millisecond): // the error callback runs beside the flush
		return false, nil
	}
}

// checkImport sends a probe from the agents' side and looks at it on ours.
func checkImport(ctx context.Context, agents, control *Conn) error {
	// A subject that no event has: a running gateway would refuse the probe,
	// and its queue group gets a copy beside ours.
	probe := hooksPrefix + string(hook.Other) + ".grapnel-check"
	sub, err := control.nc.SubscribeSync(probe)
	if err != nil {
		return fmt.Errorf("check the broker: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := control.flush(ctx); err != nil {
		return fmt.Errorf("check the broker: %w", err)
	}
	m := nats.NewMsg(probe)
	m.Reply = agents.nc.NewRespInbox()
	m.Header.Set(requestInfo, `{"acc":"forged","user":"forged"}`)
	if err := agents.nc.PublishMsg(m); err != nil {
		return fmt.Errorf("check the broker: %w", err)
	}
	short, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	got, err := sub.NextMsgWithContext(short)
	if err != nil {
		return brokerError("what agents publish on %s does not reach the gateway's account", hooksPrefix+">")
	}
	if !strings.HasPrefix(got.Reply, importedReply) {
		return brokerError("%s is not a service import: agents' reply subjects arrive as they are (%.60s)", hooksPrefix+">", got.Reply)
	}
	who := caller(got)
	// Without sharing the server still names the account, and no user.
	if _, user, _ := strings.Cut(who, "/"); user == "" || strings.HasPrefix(user, " ") || strings.Contains(who, "forged") {
		return brokerError("the import of %s does not share who asks (share: true)", hooksPrefix+">")
	}
	return nil
}

// overlap reports whether any subject matches both patterns.
func overlap(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := 0; ; i++ {
		switch {
		case i == len(as) || i == len(bs):
			return len(as) == len(bs)
		case as[i] == ">" || bs[i] == ">":
			return true
		case as[i] != "*" && bs[i] != "*" && as[i] != bs[i]:
			return false
		}
	}
}
