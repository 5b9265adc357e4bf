//go:build unix && !linux && !darwin

package edge

import "net"

// PeerCheck says how callers of the hook socket are told apart here; empty
// means not at all, and the directory's access list has to do.
const PeerCheck = ""

func checkPeer(*net.UnixConn) error { return nil }
