// Package offline runs the controller's commands that need no running controller,
// for ctl. The command tables themselves are in package tables.
package offline
