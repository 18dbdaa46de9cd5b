// Package filter holds the shell's text filters (grep, head, sort …) as commands
// that read the output of the command before them.
package filter
