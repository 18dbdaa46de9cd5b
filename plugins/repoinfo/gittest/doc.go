// Package gittest builds repositories with fixed dates through real git, for
// the tests of this plugin and for its benchmark. Not for the plugin itself.
package gittest
