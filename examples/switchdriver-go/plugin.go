package main

import (
	"context"
	_ "embed"
	"time"

	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

//go:embed plugin.yaml
var manifest []byte

func options() sdk.Options { return sdk.Options{Manifest: manifest, New: newPlugin} }

// settings are etc/switchdriver-go.yaml; the schema in plugin.yaml has checked them.
type settings struct {
	Port    uint32 `json:"port"`
	Timeout string `json:"timeout"`
}

func newPlugin(_ context.Context, env *sdk.Env) (*sdk.Plugin, error) {
	var s settings
	if err := env.DecodeConfig(&s); err != nil {
		return nil, err
	}
	timeout, err := time.ParseDuration(s.Timeout)
	if err != nil || timeout <= 0 {
		return nil, fault.At(fault.Invalid, "timeout", "%q is no duration; write 10s", s.Timeout)
	}
	return &sdk.Plugin{SwitchDriver: &driver{port: s.Port, timeout: timeout}}, nil
}
