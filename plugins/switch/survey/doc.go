// Package survey discovers the network over and over: it asks all switches of the
// inventory at the same time, keeps what each last told, and hands the result on.
// What the answers mean is decided in package discovery.
package survey
