package process

import (
	"errors"
	"fmt"
	"path/filepath"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Rights of Landlock, in the groups in which a sandbox gives them.
const (
	readFile = landlock.AccessFSExecute | landlock.AccessFSReadFile
	readTree = readFile | landlock.AccessFSReadDir

	writeFile = landlock.AccessFSWriteFile | landlock.AccessFSTruncate
	// writeTree is without device nodes, which lead around all of this.
	writeTree = writeFile | landlock.AccessFSRemoveDir | landlock.AccessFSRemoveFile |
		landlock.AccessFSMakeDir | landlock.AccessFSMakeReg | landlock.AccessFSMakeSock |
		landlock.AccessFSMakeFifo | landlock.AccessFSMakeSym | landlock.AccessFSRefer |
		landlock.AccessFSResolveUnix

	useDevice = landlock.AccessFSReadFile | landlock.AccessFSIoctlDev | writeFile

	// ofFiles are the rights that a rule on a file may give.
	ofFiles = readFile | writeFile | landlock.AccessFSIoctlDev
)

// systemTrees are what programs need to run at all; they are readable and
// executable in every closed sandbox. Those that a system has not are left out.
func systemTrees() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/proc", "/nix/store",
		"/run/systemd/resolve", // where /etc/resolv.conf leads
	}
}

// systemDevices can be read and written in every closed sandbox.
func systemDevices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
}

// ruling is what a kernel's Landlock can do of a sandbox.
type ruling struct {
	abi                int
	files, net, scoped uint64
	closesFiles, noTCP bool
	confinesSignals    bool
	missing            []string
}

// rule decides which part of a sandbox a kernel with this version of Landlock
// can hold, zero being none; and what is missing.
func rule(s Sandbox, abi int) ruling {
	r := ruling{}
	lacks := func(what string, needed int) {
		if abi == 0 {
			r.missing = append(r.missing, what+": this kernel has no Landlock, or it is not on")
			return
		}
		r.missing = append(r.missing, fmt.Sprintf("%s: Landlock of this kernel has version %d, %d is needed", what, abi, needed))
	}
	if s.closed() {
		if abi >= 1 {
			r.files, r.closesFiles = handledFiles(abi), true
		} else {
			lacks("files", 1)
		}
		if abi >= 1 && abi < 3 {
			lacks("files, against truncating what cannot be written", 3)
		}
	}
	if s.NoNetwork {
		if abi >= 4 {
			r.net, r.noTCP = landlock.AccessNetBindTCP|landlock.AccessNetConnectTCP, true
		} else {
			lacks("network", 4)
		}
		if abi >= 10 {
			r.net |= landlock.AccessNetBindUDP | landlock.AccessNetConnectSendUDP
		}
		if abi >= 6 {
			r.scoped |= landlock.ScopeAbstractUnixSocket
		} else if abi >= 4 {
			lacks("network, abstract unix sockets", 6)
		}
	}
	if abi >= 6 { // else the PID namespace must do
		r.scoped |= landlock.ScopeSignal
		r.confinesSignals = true
	}
	if r.files|r.net|r.scoped != 0 {
		r.abi = abi
	}
	return r
}

// handledFiles are all rights on files that a version knows; what is handled is
// refused but for the rules.
func handledFiles(abi int) uint64 {
	handled := uint64(landlock.AccessFSMakeSym<<1 - 1)
	for _, later := range []struct {
		since int
		right uint64
	}{
		{2, landlock.AccessFSRefer}, {3, landlock.AccessFSTruncate}, {5, landlock.AccessFSIoctlDev}, {9, landlock.AccessFSResolveUnix},
	} {
		if abi >= later.since {
			handled |= later.right
		}
	}
	return handled
}

// ruleset makes the kernel's object for a ruling; the caller closes it. What
// is named and cannot be had is missing from it.
func (r ruling) ruleset(f frame) (fd int, missing []string, err error) {
	fd, err = landlock.LandlockCreateRuleset(&landlock.RulesetAttr{
		HandledAccessFS: r.files, HandledAccessNet: r.net, Scoped: r.scoped,
	}, 0)
	if err != nil || !r.closesFiles {
		return fd, nil, err
	}
	for _, path := range systemTrees() {
		if err := r.allow(fd, path, readTree, systemPath); err != nil && !errors.Is(err, unix.ENOENT) {
			missing = append(missing, fmt.Sprintf("files, %s: %v", path, err))
		}
	}
	for _, path := range systemDevices() {
		if err := r.allow(fd, path, useDevice, systemPath); err != nil && !errors.Is(err, unix.ENOENT) {
			missing = append(missing, fmt.Sprintf("files, %s: %v", path, err))
		}
	}
	named := func(what, path string, rights uint64) {
		if err := r.allow(fd, path, rights, namedPath); err != nil {
			missing = append(missing, fmt.Sprintf("%s, %.200q: %v", what, path, err))
		}
	}
	for _, path := range f.sandbox.ReadOnly {
		named("read_only", path, readTree)
	}
	for _, path := range f.sandbox.ReadWrite {
		named("read_write", path, readTree|writeTree)
	}
	if dir := filepath.Clean(f.dir); dir != "/" {
		named("working directory", dir, readTree)
	}
	// The program is found as exec finds it, through links; where it is missing,
	// or no program, the start says so.
	_ = r.allow(fd, f.program, readFile, programPath)
	return fd, missing, nil
}

// pathKind says how a path of a rule is found.
type pathKind int

const (
	systemPath  pathKind = iota // by the system, through its links
	namedPath                   // exactly: a link may have been made by a command
	programPath                 // through links, and only to what can be executed
)

// allow adds a rule. The path is opened and not read.
func (r ruling) allow(ruleset int, path string, rights uint64, kind pathKind) error {
	fd, err := open(path, kind)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	directory := st.Mode&unix.S_IFMT == unix.S_IFDIR
	if kind == programPath && (st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o111 == 0) {
		return nil
	}
	if !directory {
		rights &= ofFiles
	}
	return landlock.LandlockAddPathBeneathRule(ruleset, &landlock.PathBeneathAttr{ParentFd: fd, AllowedAccess: rights & r.files}, 0)
}

func open(path string, kind pathKind) (fd int, err error) {
	const flags = unix.O_PATH | unix.O_CLOEXEC
	if kind != namedPath {
		return unix.Open(path, flags, 0)
	}
	fd, err = unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err == unix.ELOOP {
		err = errors.New("there is a symbolic link in it; write the path that it leads to")
	}
	return fd, err
}

// landlockVersion is the kernel's, or zero.
func landlockVersion() int {
	abi, err := landlock.LandlockGetABIVersion()
	if err != nil || abi < 0 {
		return 0
	}
	return abi
}
