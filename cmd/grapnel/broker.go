package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"

	"github.com/grapnel-dev/grapnel/bus"
	"github.com/grapnel-dev/grapnel/bus/natsd"
)

func (d *daemon) openBroker(ctx context.Context) error {
	if d.broker != "" {
		if err := privateRoute(d.broker); err != nil {
			return err
		}
		d.access = accessFromEnvironment(d.broker, os.Getenv)
		d.connect = func(ctx context.Context, r natsd.Role, name string) (*bus.Conn, error) {
			return bus.Connect(ctx, d.access.options(r, name, d.log))
		}
		err := bus.CheckBroker(ctx, d.access.options(natsd.Agent, "", d.log), d.access.options(natsd.Gateway, "", d.log))
		switch {
		case errors.Is(err, bus.ErrBroker):
			return fail(exitFailed, "deploy/nats holds the configuration that it needs", err)
		case err != nil:
			return fail(exitUnreachable, "is it running, and does GRAPNEL_<USER>_PASSWORD hold each user's password?", fmt.Errorf("broker %s: %w", withoutPassword(d.broker), err))
		}
		return nil
	}
	server, err := natsd.Start(ctx, d.paths.state, &natsd.Options{Listen: d.listen, Log: d.log})
	if err != nil {
		return err
	}
	d.onStop(server.Close)
	// The lock that it holds is the state's. Another state's daemon may be at these sockets,
	// and the broker would take the place of one that it finds.
	if conn, err := dialFirst([]string{d.paths.socket}); err == nil {
		_ = conn.Close()
		return fail(exitFailed, "stop that one, or give this one a --socket of its own", fmt.Errorf("another grapnel answers on %s", d.paths.socket))
	}
	if err := server.ServeUnix(d.paths.busSocket()); err != nil {
		return err
	}
	d.access = access{Socket: d.paths.busSocket(), URL: server.URL(), Passwords: make(map[natsd.Role]string)}
	for _, r := range natsd.Roles() {
		d.access.Passwords[r] = server.Password(r)
	}
	d.connect = func(ctx context.Context, r natsd.Role, name string) (*bus.Conn, error) {
		return server.Connect(ctx, r, bus.ConnectOptions{Name: name, Log: d.log})
	}
	return nil
}

// privateRoute refuses to send passwords over a network in the clear.
func privateRoute(broker string) error {
	u, err := url.Parse(broker)
	if err != nil || u.Host == "" {
		return fail(exitUsage, "write it as nats://127.0.0.1:4222 or tls://host:4222", fmt.Errorf("broker %.80q is no URL", withoutPassword(broker)))
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "tls" || u.Scheme == "wss" || u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fail(exitUsage, "use tls://, or reach it through this host's loopback", fmt.Errorf("broker %.80q is on another host without TLS, and would be sent passwords", withoutPassword(broker)))
}

// withoutPassword is a URL as it may be shown.
func withoutPassword(broker string) string {
	u, err := url.Parse(broker)
	if err != nil {
		return "(not a URL)"
	}
	return u.Redacted()
}

// connection is one that lives as long as the daemon.
func (d *daemon) connection(ctx context.Context, r natsd.Role, name string) (*bus.Conn, error) {
	c, err := d.connect(ctx, r, name)
	if err != nil {
		return nil, err
	}
	d.onStop(c.Close)
	return c, nil
}
