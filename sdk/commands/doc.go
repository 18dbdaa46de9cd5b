// Package commands is the capability of serving shell commands, and the form in
// which the controller's own commands are written: a table of Command values with
// compulsory help. The console parses the line, checks it against the table,
// completes values and renders results as text or JSON.
package commands
