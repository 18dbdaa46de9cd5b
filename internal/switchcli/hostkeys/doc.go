// Package hostkeys keeps the SSH host keys of switches: the key a switch shows first is
// kept in the plugin's private data and asked for from then on, and a command lists and
// forgets them. The session itself is package switchcli.
package hostkeys
