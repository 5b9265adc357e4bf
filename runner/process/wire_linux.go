package process

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// What a runner and its supervisor say to each other on their socket. To the
// supervisor: one byte of order and four of length, then for a run its
// directory, program, sandbox, arguments and environment; the three streams travel with the
// header, and so do the other files that it inherits. Back: reports of fixed
// size, each with a text that may be empty.

type order byte

const (
	orderRun       order = 'R'
	orderTerminate order = 'T'
	orderKill      order = 'K'
)

const headerSize = 5

// frame is a run order's body: what a supervisor needs of a [Spec].
type frame struct {
	dir, program string
	sandbox      Sandbox
	argv, env    []string
}

func encodeRun(s Spec) ([]byte, error) {
	sandbox, err := json.Marshal(s.Sandbox)
	if err != nil {
		return nil, err
	}
	b := make([]byte, headerSize, headerSize+1024)
	b[0] = byte(orderRun)
	for _, list := range [][]string{{s.Dir, s.Program, string(sandbox)}, s.Command, s.Env} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(list)))
		for _, v := range list {
			b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
			b = append(b, v...)
		}
	}
	binary.BigEndian.PutUint32(b[1:], uint32(len(b)-headerSize))
	return b, nil
}

var errFrame = errors.New("bad frame on the supervisor's socket")

func decodeRun(b []byte) (f frame, err error) {
	number := func() int {
		if len(b) < 4 {
			err = errFrame
			return 0
		}
		n := binary.BigEndian.Uint32(b)
		b = b[4:]
		if uint64(n) > uint64(len(b)) {
			err = errFrame
			return 0
		}
		return int(n)
	}
	var lists [3][]string
	for i := range lists {
		n := number()
		for range n {
			size := number()
			if err != nil {
				return frame{}, err
			}
			lists[i] = append(lists[i], string(b[:size]))
			b = b[size:]
		}
	}
	if err != nil || len(b) != 0 || len(lists[0]) != 3 || len(lists[1]) == 0 {
		return frame{}, errFrame
	}
	f = frame{dir: lists[0][0], program: lists[0][1], argv: lists[1], env: lists[2]}
	if err := json.Unmarshal([]byte(lists[0][2]), &f.sandbox); err != nil {
		return frame{}, fmt.Errorf("%w: %w", errFrame, err)
	}
	return f, nil
}

// send writes a run order with the files that the command starts with.
func send(conn *net.UnixConn, frame []byte, open []*os.File) error {
	fds := make([]int, len(open))
	for i, f := range open {
		fds[i] = int(f.Fd()) // makes our copy of the description blocking, as commands expect it
	}
	n, _, err := conn.WriteMsgUnix(frame, unix.UnixRights(fds...), nil)
	if err == nil && n < len(frame) {
		_, err = conn.Write(frame[n:])
	}
	return err
}

// receive reads one order.
func receive(conn *net.UnixConn) (o order, body []byte, open []int, err error) {
	header := make([]byte, headerSize)
	oob := make([]byte, unix.CmsgSpace((firstFile+MaxFiles)*4))
	n, oobn, _, _, err := conn.ReadMsgUnix(header, oob)
	if err != nil {
		return 0, nil, nil, err
	}
	if n == 0 {
		return 0, nil, nil, io.EOF
	}
	if _, err := io.ReadFull(conn, header[n:]); err != nil {
		return 0, nil, nil, err
	}
	if open, err = rights(oob[:oobn]); err != nil {
		return 0, nil, nil, err
	}
	size := binary.BigEndian.Uint32(header[1:])
	if size > 2*maxRequest {
		return 0, nil, nil, errFrame
	}
	body = make([]byte, size)
	if _, err := io.ReadFull(conn, body); err != nil {
		return 0, nil, nil, err
	}
	return order(header[0]), body, open, nil
}

func rights(oob []byte) ([]int, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			return nil, err
		}
		list = append(list, fds...)
	}
	return list, nil
}

type reportKind byte

const (
	reportTaken   reportKind = 'T' // the order was read; from here on the command may run
	reportStarted reportKind = 'S' // a: pid, text: the sandbox as JSON
	reportFailed  reportKind = 'F' // a: error number, text: the sandbox as JSON
	reportRefused reportKind = 'R' // the required sandbox cannot be had; text: what there is of it, as JSON
	reportEnded   reportKind = 'E' // a: exit code, b: signal, c: leftover; survivors: tree not dead
)

type report struct {
	kind      reportKind
	survivors bool
	a, b, c   int32
	sandbox   Enforced
}

const (
	reportSize = 18
	maxReport  = 1 << 20 // of the text
)

func (r report) encode() []byte {
	b := []byte{byte(r.kind), 0}
	if r.survivors {
		b[1] = 1
	}
	var text []byte
	if r.sandbox.Mode != "" {
		text, _ = json.Marshal(r.sandbox) // strings, numbers and flags
	}
	for _, v := range []int32{r.a, r.b, r.c, int32(len(text))} {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return append(b, text...)
}

func readReport(conn *net.UnixConn) (report, error) {
	var b [reportSize]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		return report{}, err
	}
	number := func(i int) int32 { return int32(binary.BigEndian.Uint32(b[i:])) }
	r := report{kind: reportKind(b[0]), survivors: b[1] == 1, a: number(2), b: number(6), c: number(10)}
	size := number(14)
	if size < 0 || size > maxReport {
		return report{}, errFrame
	}
	if size > 0 {
		text := make([]byte, size)
		if _, err := io.ReadFull(conn, text); err != nil {
			return report{}, err
		}
		if err := json.Unmarshal(text, &r.sandbox); err != nil {
			return report{}, fmt.Errorf("%w: %w", errFrame, err)
		}
	}
	return r, nil
}

// socketPair returns our end as a connection and the other as a file.
func socketPair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "supervisor")
	conn, err := unixConn(fds[0])
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn, theirs, nil
}

// unixConn takes over the file descriptor.
func unixConn(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "control")
	if f == nil {
		return nil, fmt.Errorf("file descriptor %d is not open", fd)
	}
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, fmt.Errorf("file descriptor %d is not a unix socket", fd)
	}
	return conn, nil
}
