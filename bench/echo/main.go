// Command echo is a plugin with one RPC that does nothing; bench measures with it
// what the host adds to a bare call.
package main

import (
	"context"
	"embed"
	"strings"

	"ctl.internal/sdk"
	"ctl.internal/sdk/operations"
)

//go:embed plugin.yaml yang
var files embed.FS

var padding = strings.Repeat("x", 900)

func main() {
	manifest, err := files.ReadFile("plugin.yaml")
	if err != nil {
		panic(err)
	}
	sdk.Serve(sdk.Options{
		Manifest: manifest,
		YANG:     files,
		New: func(context.Context, *sdk.Env) (*sdk.Plugin, error) {
			return &sdk.Plugin{Operations: operations.Mux{"bench-echo:echo": operations.Func(echoInput)}}, nil
		},
	})
}

type input struct {
	NodeID int64  `json:"node-id"`
	Name   string `json:"vlan-name"`
}

type output struct {
	NodeID  int64  `json:"node-id"`
	Name    string `json:"vlan-name,omitempty"`
	Padding string `json:"padding"`
}

func echoInput(_ context.Context, in input) (output, error) {
	return output{
		NodeID:  in.NodeID,
		Name:    in.Name,
		Padding: padding,
	}, nil
}
