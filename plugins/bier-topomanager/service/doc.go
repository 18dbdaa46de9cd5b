// Package service is the running plugin: it ties data, sources, RPCs, commands and events
// together.
package service
