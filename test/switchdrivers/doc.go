// Package switchdrivers tests the switch plugin together with the drivers that are
// plugins of their own, as the controller joins them.
package switchdrivers
