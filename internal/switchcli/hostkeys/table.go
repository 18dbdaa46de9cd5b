package hostkeys

import (
	"context"
	"maps"
	"slices"
	"strings"

	"ctl.internal/internal/netconf"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// Table is the command that lists host keys and forgets one. keys is called when it
// runs; it returns nil before the plugin is configured.
func Table(name string, keys func() *Keys) commands.Command {
	return commands.Command{
		Name:    name,
		Summary: "Show the SSH host keys of switches, and forget one that has changed",
		Help: "The key that a switch shows at its command line first is kept, and the switch is refused when it shows another.\n" +
			"When that is right, because the switch was replaced, forget the old key: the next one is kept instead.\n\n" +
			"Example: " + name + " --forget 192.0.2.32",
		Options: []commands.Option{{
			Name: "forget",
			Help: "address of the switch, or address/port",
			Complete: func(ctx context.Context, prefix string) []string {
				return completeAddress(ctx, keys(), prefix)
			},
		}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			k := keys()
			if k == nil {
				return fault.New(fault.Unavailable, "the plugin is not configured yet")
			}
			if at, asked := in.Options["forget"]; asked {
				return k.forgetKey(ctx, in, at)
			}
			return k.showKeys(ctx, in)
		},
	}
}

// keptKeys are the keys of the store, by address and port as split reads it.
func (k *Keys) keptKeys(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	if k.Store == nil {
		return out, nil
	}
	for e, err := range k.Store.Range(ctx, host.Private, prefix) {
		if err != nil {
			return nil, fault.Wrap(
				fault.Unavailable,
				err,
				"the SSH host keys cannot be read: %v",
				err,
			)
		}
		out[strings.TrimPrefix(e.Key, prefix)] = string(e.Value)
	}
	return out, nil
}

func (k *Keys) showKeys(ctx context.Context, in *commands.Invocation) error {
	kept, err := k.keptKeys(ctx)
	if err != nil {
		return err
	}
	t := commands.Table{
		Empty: "No SSH host key is known.",
		Columns: []commands.Column{{
			Title: "Address",
			Key:   "address",
		}, {Title: "Port", Key: "port", Right: true},
			{
				Title: "Known from",
				Key:   "known-from",
			}, {
				Title: "Type",
				Key:   "type",
			}, {Title: "Fingerprint", Key: "fingerprint"}},
	}
	add := func(at, from, key string) {
		address, port := splitAddressPort(at)
		kind, _, _ := strings.Cut(key, " ")
		t.Add(address, port, from, kind, netconf.Fingerprint(key))
	}
	for _, at := range slices.Sorted(maps.Keys(k.Known)) {
		add(at+"/", k.File, k.Known[at])
	}
	for _, at := range slices.Sorted(maps.Keys(kept)) {
		add(at, "first sight", kept[at])
	}
	return in.Emit(t, nil)
}

func (k *Keys) forgetKey(ctx context.Context, in *commands.Invocation, at string) error {
	kept, err := k.keptKeys(ctx)
	if err != nil {
		return err
	}
	address, port := splitAddressPort(at)
	var gone []string
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		a, p := splitAddressPort(name)
		if a == address && (port == "" || p == port) {
			if err := k.Store.Delete(ctx, prefix+name); err != nil {
				return fault.Wrap(
					fault.Unavailable,
					err,
					"the SSH host key of %s could not be deleted: %v",
					name,
					err,
				)
			}
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		if k.Known[address] != "" {
			return fault.New(
				fault.Invalid,
				"the SSH host key of %s is in known_hosts of %s; change it there",
				address,
				k.File,
			)
		}
		return fault.New(fault.NotFound, "no SSH host key of %s is known", at)
	}
	return in.Emit(map[string][]string{"forgotten": gone}, func() string {
		return "forgotten: " + strings.Join(gone, ", ") + "\n"
	})
}

func completeAddress(ctx context.Context, k *Keys, begin string) (out []string) {
	if k == nil {
		return nil
	}
	kept, err := k.keptKeys(ctx)
	if err != nil {
		return nil
	}
	for _, at := range slices.Sorted(maps.Keys(kept)) {
		if strings.HasPrefix(at, begin) {
			out = append(out, at)
		}
	}
	return out
}
