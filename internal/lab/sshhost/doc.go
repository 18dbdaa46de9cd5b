// Package sshhost is the SSH side of simulated routers: it listens, lets one user in,
// shows a host key, and can be cut off and switched on again. What a router says on
// a channel is simrouter's (NETCONF) or simcli's (a command line).
package sshhost
