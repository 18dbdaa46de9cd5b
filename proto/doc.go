// Package proto holds the wire contract between the host and its plugins:
// ctl/plugin/v1 with the generated Go beside it. Authors in Go use ctl.internal/sdk
// instead; authors in other languages generate from the .proto files.
//
// Fields are only ever added. The compatibility test of this package compares the
// contract with contract.golden and names what a change would break.
package proto

//go:generate go run ./internal/generate
