// Package idmtool is the client behind etc/idmtool: it manages users, roles and
// grants through /auth/v1 and knows nothing else of the controller. The shell's
// aaa: commands do the same inside; they are in aaa/shell.
package idmtool
