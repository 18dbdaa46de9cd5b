package traps

import (
	"encoding/binary"
	"net"

	"golang.org/x/sys/unix"
)

// countLost makes the system report, with each message, how many it dropped because
// the receive buffer was full.
func countLost(c *net.UDPConn) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1) // without it nothing is counted
	})
}

// readLostCount reads what came with a message; false when it reports nothing.
func readLostCount(control []byte) (uint32, bool) {
	list, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0, false
	}
	for _, m := range list {
		if m.Header.Level == unix.SOL_SOCKET &&
			m.Header.Type == unix.SO_RXQ_OVFL &&
			len(m.Data) >= 4 {
			return binary.NativeEndian.Uint32(m.Data), true
		}
	}
	return 0, false
}

// controlSize holds one such number.
var controlSize = unix.CmsgSpace(4)
