// Package natsd runs the NATS server inside this process: the broker of a
// laptop, and of every test.
//
// By default it listens nowhere. Connections are made in process
// ([Server.Dial]) or through a unix socket that only this user can open
// ([Server.ServeUnix]); a TCP address is taken only when asked for, and one
// that is not loopback is refused.
//
// # Accounts
//
// Account AGENTS has no JetStream and sees only hooks.>, which account CONTROL
// exports to it as a service. The import shares the requester's identity, so
// that the gateway has the server's word for who asks, and it replaces reply
// subjects, so that none can be aimed at anything in CONTROL. Users of CONTROL
// may publish what their role needs and nothing else; allow_responses is not
// used, since it would let a stranger's reply subject direct a responder's
// publish. The accounts stand in accounts.conf, which a broker of one's own
// includes as it is (see deploy/nats).
//
// # State
//
// The state directory belongs to one server at a time: [Start] takes a lock
// that ends with the process, and reports who holds it otherwise. NATS itself
// would let two servers write to one store.
//
// # Starting and stopping
//
// Start returns once the server answers, or with the error that the server
// would only have logged. Stop whatever uses the bus first, then
// [Server.Close].
package natsd
