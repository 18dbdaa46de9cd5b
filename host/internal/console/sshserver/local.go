package sshserver

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/sdk/caller"
)

// maxSocketPath is the longest path of a unix socket on Linux, in bytes.
const maxSocketPath = 107

// localCaller is who comes over the socket: whoever may read the home's files is
// the controller's administrator anyway.
func localCaller() caller.Caller {
	return caller.Caller{
		User:   "local",
		Domain: "sdn",
		Roles:  []string{"admin"},
	}
}

// listenUnix opens the console's socket; refused is called for a plugin that tries to use it.
func listenUnix(path string, refused func(pid int)) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf(
			"the path of the console's socket, %s, is longer than %d bytes; choose a home with a shorter path",
			path,
			maxSocketPath,
		)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err == nil &&
		info.Mode().Perm()&0o067 != 0 { // the group of plugins may pass it
		if err := os.Chmod(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		c.Close()
		return nil, fmt.Errorf("another controller answers at %s; stop it first", path)
	}
	l, err := process.Listen(path, process.None, refused)
	if err != nil {
		return nil, fmt.Errorf("the console's socket: %w", err)
	}
	return l, nil
}

// checkPeer lets in the user that runs the controller, and root.
func checkPeer(c net.Conn) error {
	cred, err := process.Peer(c)
	if err != nil {
		return err
	}
	return allowPeer(cred.Uid, uint32(os.Geteuid()))
}

func allowPeer(peer, own uint32) error {
	if peer != 0 && peer != own {
		return fmt.Errorf("the peer's uid %d is neither the controller's nor root's", peer)
	}
	return nil
}
