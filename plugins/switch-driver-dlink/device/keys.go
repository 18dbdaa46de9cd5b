package device

import (
	"context"
	"fmt"
	"log/slog"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/switchdriver"
)

// The policies for SSH host keys.
const (
	First = "first" // the one seen first is kept, and asked for from then on
	Known = "known" // only those of the settings
	Any   = "any"   // not looked at
)

// Keys are the SSH host keys of switches.
type Keys struct {
	Policy string
	Known  map[string]string // of the settings, by address
	Store  Store             // keeps those seen first
	Log    *slog.Logger
}

// Store is the part of the host's datastore that Keys needs.
type Store interface {
	Get(ctx context.Context, s host.Space, key string) (host.Entry, error)
	Put(ctx context.Context, s host.Space, key string, value []byte) error
}

func place(address string, port uint16) string { return fmt.Sprintf("host-keys/%s/%d", address, port) }

// of is the key that a switch must show; empty: any.
func (k *Keys) of(ctx context.Context, address string, port uint16) (string, error) {
	if key := k.Known[address]; key != "" {
		return key, nil
	}
	switch k.Policy {
	case Any:
		return "", nil
	case Known:
		return "", fault.New(fault.Denied, "no SSH host key of the switch at %s is known; write it into known_hosts of etc/switch-driver-dlink.yaml", address)
	}
	e, err := k.Store.Get(ctx, host.Private, place(address, port))
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return "", fault.Wrap(fault.Unavailable, err, "the SSH host keys cannot be read: %v", err)
	}
	return string(e.Value), nil
}

// seen keeps the first key of a switch.
func (k *Keys) seen(ctx context.Context, sw *switchdriver.Switch, port uint16, key string) error {
	if k.Policy != First || key == "" {
		return nil
	}
	if err := k.Store.Put(ctx, host.Private, place(sw.Address, port), []byte(key)); err != nil {
		return fault.Wrap(fault.Unavailable, err, "the SSH host key of switch %s cannot be kept: %v", switchdriver.Label(sw), err)
	}
	k.Log.Warn("the SSH host key of a switch is trusted at first sight", "switch", switchdriver.Label(sw), "key", key)
	return nil
}
