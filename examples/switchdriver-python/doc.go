// Package switchdriverpython holds the test of the example driver in Python: the
// plugin protocol without the SDK. See README.md.
package switchdriverpython
