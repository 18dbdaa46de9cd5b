// Package service puts the rooms of the plugin together: settings in, an HTTP
// handler and shell commands out, and everything ended in order.
package service
