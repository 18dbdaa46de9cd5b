// Package frames carries gRPC calls on without decoding their messages: the relay
// of the host between plugins, and that of the host in package plugintest. Authors
// of plugins do not need it.
package frames
