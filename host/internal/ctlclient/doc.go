// Package ctlclient is the program ctl: an SSH client of the controller's local
// console, interactive, for one line or for a file of lines, and the operator's
// commands that need no running controller.
package ctlclient
