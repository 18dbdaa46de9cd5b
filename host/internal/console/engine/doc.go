// Package engine is the shell without a terminal: it finds the commands of a line
// in the command tables, checks what was given to them, runs pipelines, and
// answers completion and help. Package syntax reads the line, filter holds the
// text filters, sshserver gives it a terminal.
package engine
