// Package shell is the shell commands of scope openflow, one file each.
package shell
