package edge

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerCheck says how callers of the hook socket are told apart here; empty
// means not at all, and the directory's access list has to do.
const PeerCheck = "LOCAL_PEERCRED"

// checkPeer refuses callers of another user.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Xucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	}); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("the caller is user %d", peer.Uid)
	}
	return nil
}
