// Package relay carries calls from one plugin to another through the host without
// looking into the messages, so that a new kind of plug point between plugins needs
// no change here. It decides who may call what (policy.go), forwards frames
// (relay.go) and leaves finding the provider's process to package plugin.
package relay
