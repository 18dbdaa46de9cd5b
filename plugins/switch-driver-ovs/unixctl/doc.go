// Package unixctl asks ovs-vswitchd at its control socket, as ovs-appctl does: the
// forwarding table is not in OVSDB. The socket speaks JSON-RPC 1.0.
package unixctl
