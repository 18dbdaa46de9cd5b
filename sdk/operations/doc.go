// Package operations is the capability of executing the RPCs of YANG modules.
//
// The host validates the input against the module, so a Handler sees only what
// the schema allows. An HTTP subtree of its own is package routes; a shell
// command is package commands.
package operations
