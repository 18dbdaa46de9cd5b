// Package webpeers opens the controller's pages in Chromium and uses them as an
// engineer does.
package webpeers
