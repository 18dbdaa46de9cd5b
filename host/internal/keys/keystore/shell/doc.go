// Package shell is the table of the aaa: commands for certificates and keystores.
// Those for identities are in aaa/shell; programs use the RPCs of package rpc.
package shell
