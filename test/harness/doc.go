// Package harness runs a real controller for tests outside package e2e: it builds the
// programs, starts ctld on a home of its own, and asks it by HTTP and by ctl.
package harness
