// Package scaffold writes the first files of a plugin, for ctl plugin new. What it
// writes compiles and passes its own tests at once.
package scaffold
