// Command lone is a plugin for the tests of clusters that is run on one node at a time. It
// counts calls in its memory, notes them in a file, and reports who called.
package main
