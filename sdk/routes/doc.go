// Package routes is the capability of serving an HTTP subtree of the controller.
// A plugin hands sdk.Serve an http.Handler; the host puts access control in front
// of it and streams requests and responses both ways.
package routes
