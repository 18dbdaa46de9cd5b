// Package switchdriverjs holds the test of the example driver in JavaScript: the plugin
// protocol without the SDK. See README.md.
package switchdriverjs
