// Package command is the command line of D-Link's xStack series: which commands an
// operation is, and what their answers mean. It does no I/O.
package command
