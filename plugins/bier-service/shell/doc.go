// Package shell is the shell commands of drivers and routers, one file each. RPCs
// are package operations.
package shell
