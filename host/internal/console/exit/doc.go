// Package exit names the exit codes of a shell command. The controller answers
// them over SSH and ctl ends with the same number.
package exit
