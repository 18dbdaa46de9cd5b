// Package sshserver gives the shell of package engine to users: over TCP to
// controller users of role admin, and over a unix socket to the owner of the
// controller's process. Both speak SSH, so there is one way from a key typed to a
// command run. ctl is the client of the socket; any ssh that of the port.
package sshserver
