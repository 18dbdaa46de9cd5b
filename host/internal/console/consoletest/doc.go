// Package consoletest is a console with commands of its own, for the tests of the
// server and of ctl.
package consoletest
