package server

import (
	"net"
	"os"
)

// notifySystemd reports a state to the service manager (sd_notify(3)): READY=1,
// STOPPING=1. Without one it does nothing.
func notifySystemd(state string) error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}
