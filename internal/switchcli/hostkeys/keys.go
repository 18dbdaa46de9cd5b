// Package hostkeys keeps the SSH host keys of switches: the first key of a switch is stored in the plugin's private
// data and required from then on; a command lists and deletes them. The session itself is package switchcli.
package hostkeys

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/netconf"
	"ctl.internal/internal/switchcli"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// The policies for a switch whose key is not in the settings.
const (
	First = "first" // the first key is stored and required from then on
	Known = "known" // only keys of the settings are accepted
	Any   = "any"   // keys are not checked
)

// Keys are the SSH host keys of switches. It is safe for concurrent use.
type Keys struct {
	Policy  string            // First, Known or Any
	Known   map[string]string // of the settings, by IP address; lines of authorized_keys
	Store   *host.Datastore   // keeps those seen first; needed with First
	File    string            // of the settings, for errors: "etc/switch.yaml"
	Command string            // by which a key is forgotten, for errors: "switch:hostkeys"
	Log     *slog.Logger
}

// prefix is that of the keys in the plugin's private data, by address and port.
const prefix = "host-keys/"

func hostKeyPlace(t switchcli.Target) string {
	return prefix + t.Host + "/" + strconv.Itoa(t.TCPPort())
}

// Open is switchcli.Open; a switch that is reached by SSH must show its key. The faults
// are those of switchcli.Open, and fault.Denied for a key that is unknown or another one,
// fault.Unavailable when keys cannot be read or kept.
func (k *Keys) Open(
	ctx context.Context,
	t switchcli.Target,
	d switchcli.Dialogue,
) (*switchcli.Session, error) {
	if t.Transport != switchcli.SSH {
		return switchcli.Open(ctx, t, d)
	}
	var err error
	if t.HostKey, err = k.expectedKey(ctx, t); err != nil {
		return nil, err
	}
	s, err := switchcli.Open(ctx, t, d)
	if err != nil {
		return nil, k.explainChangedKey(t, err)
	}
	if k.Policy == First && t.HostKey == "" {
		if err := k.keepKey(ctx, t, s.HostKey()); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// expectedKey is the key that a switch must show; empty: any.
func (k *Keys) expectedKey(ctx context.Context, t switchcli.Target) (string, error) {
	if key := k.Known[t.Host]; key != "" {
		return key, nil
	}
	switch k.Policy {
	case Any:
		return "", nil
	case Known:
		return "", fault.New(
			fault.Denied,
			"no SSH host key of switch %s is known; write it into known_hosts of %s",
			t,
			k.File,
		)
	}
	e, err := k.Store.Get(ctx, host.Private, hostKeyPlace(t))
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return "", fault.Wrap(fault.Unavailable, err, "the SSH host keys cannot be read: %v", err)
	}
	return string(e.Value), nil
}

// keepKey stores the first key if none was stored in the meantime: two nodes cannot trust two
// keys of one switch.
func (k *Keys) keepKey(ctx context.Context, t switchcli.Target, key string) error {
	_, err := k.Store.Commit(
		ctx,
		host.Txn{
			Compares: []host.Compare{{Key: hostKeyPlace(t)}},
			Ops: []host.Op{{
				Key:   hostKeyPlace(t),
				Value: []byte(key),
			}},
		},
	)
	var lost *host.ConflictError
	if errors.As(err, &lost) {
		first, err := k.Store.Get(ctx, host.Private, hostKeyPlace(t))
		switch {
		case err != nil:
			return fault.Wrap(fault.Unavailable, err, "the SSH host keys cannot be read: %v", err)
		case string(first.Value) == key:
			return nil
		}
		return k.explainChangedKey(
			t,
			&netconf.HostKeyError{
				Pinned: string(first.Value),
				Shown:  key,
			},
		)
	}
	if err != nil {
		return fault.Wrap(
			fault.Unavailable,
			err,
			"the SSH host key of switch %s cannot be stored: %v",
			t,
			err,
		)
	}
	k.Log.Warn(
		"the SSH host key of a switch is trusted because it is the first it showed; compare it with the switch's",
		"switch",
		t.String(),
		"key",
		key,
	)
	return nil
}

// explainChangedKey says how to accept another key.
func (k *Keys) explainChangedKey(t switchcli.Target, err error) error {
	var other *netconf.HostKeyError
	if !errors.As(err, &other) {
		return err
	}
	remedy := k.Command + " --forget " + strings.TrimPrefix(hostKeyPlace(t), prefix)
	if k.Known[t.Host] != "" {
		remedy = "known_hosts of " + k.File
	}
	shown := "of kind " + strings.Join(other.Kinds, ", ")
	if other.Shown != "" {
		shown = netconf.Fingerprint(other.Shown)
	}
	f := fault.Device(fault.Denied, "switch %s shows another SSH host key (%s) than the known one (%s): if that is right, because it was replaced, accept it with %s",
		t, shown, netconf.Fingerprint(other.Pinned), remedy)
	f.Cause = err
	return f
}

// splitAddressPort reads ADDRESS, ADDRESS/PORT or ADDRESS:PORT; port 0 means no port.
func splitAddressPort(at string) (address string, port string) {
	if a, p, ok := strings.Cut(at, "/"); ok {
		return a, p
	}
	if a, p, err := net.SplitHostPort(at); err == nil {
		return a, p
	}
	return at, ""
}

// Settings are those of a plugin that has Keys, as its schema describes them.
type Settings struct {
	HostKeys   string            `json:"host_keys"`   // a policy
	KnownHosts map[string]string `json:"known_hosts"` // by IP address
}

// Check returns the known keys by the address's usual form, and what is wrong; path is
// before the names of the settings, "" or "cli/".
func (s Settings) Check(path string) (known map[string]string, bad fault.List) {
	known = map[string]string{}
	for address, key := range s.KnownHosts {
		a, err := netip.ParseAddr(address)
		if err != nil {
			bad = append(
				bad,
				fault.At(fault.Invalid, path+"known_hosts", "%.60q is not an IP address", address),
			)
			continue
		}
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(key)); err != nil {
			bad = append(
				bad,
				fault.At(
					fault.Invalid,
					path+"known_hosts/"+address,
					"this is not a line such as \"ssh-ed25519 AAAA…\"",
				),
			)
		}
		known[a.String()] = key
	}
	return known, bad
}
