// Package device types at routers: a session for each call, one call at a time for
// each router, every answer awaited and looked at. Driver implements bierdriver.
// What to type is decided in package template.
package device
