// Package service makes the plugin of its settings. The driver is package device.
package service
