// Package operations executes the RPCs of the modules topology, fdb, vlan, acl,
// misc-config and switch-db. It checks what the YANG modules cannot say, calls the
// driver of the switch and shapes the answer. Shell commands are package shell.
package operations
