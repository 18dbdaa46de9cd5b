// Package shell is the table of the cluster: commands.
package shell
