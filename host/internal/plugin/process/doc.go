// Package process runs one process of one plugin: it verifies and executes the
// file, shakes hands through go-plugin, carries its log on and ends it, in order or
// by force, with every process it started. It knows nothing of restarts (package
// plugin) nor of what is said over the connection (packages sdk/...).
//
// go-plugin makes the handshake and the mutual TLS. Starting, reading the streams,
// watching and killing are done here, because what go-plugin does there by itself
// can be made to hang or to crash the host by a bad plugin.
package process
