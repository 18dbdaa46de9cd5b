// Package service is the running plugin: it ties sources, store, RPCs, commands
// and events together.
package service
