// Package simrouter is a simulated BIER router with NETCONF over SSH: running and
// candidate, edit-config on a tree with a schema, locks, confirmed commit,
// notifications, and faults on demand. Hundreds fit in one process.
//
// Schema and Edit are the decision core, without I/O; Router puts them behind a
// socket. Routers with a command line are package simcli, switches simswitch.
package simrouter
