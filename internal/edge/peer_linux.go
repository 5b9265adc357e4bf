package edge

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerCheck says how callers of the hook socket are told apart here; empty
// means not at all, and the directory's access list has to do.
const PeerCheck = "SO_PEERCRED"

// checkPeer refuses callers of another user.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("the caller is user %d (process %d)", peer.Uid, peer.Pid)
	}
	return nil
}
