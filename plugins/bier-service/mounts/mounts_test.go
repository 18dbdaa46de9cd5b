package mounts

import (
	"strings"
	"testing"
)

func TestMountsThatCannotWork(t *testing.T) {
	right := Mount{Node: "r1", Host: "192.0.2.1", User: "admin", Password: "x"}
	for name, x := range map[string]struct {
		change func(*Mount)
		want   string // "" = it is right
	}{
		"password":               {func(*Mount) {}, ""},
		"no user at all":         {func(m *Mount) { m.User, m.Password = "", "" }, ""},
		"no node":                {func(m *Mount) { m.Node = "" }, "node-id is missing"},
		"no host":                {func(m *Mount) { m.Host = "" }, "host is missing: the address of router r1"},
		"password without user":  {func(m *Mount) { m.User = "" }, "username is missing"},
		"key without user":       {func(m *Mount) { m.User, m.Password, m.PrivateKey = "", "", "x" }, "username is missing"},
		"an invalid key":         {func(m *Mount) { m.PrivateKey = "-----BEGIN X-----" }, "private-key of router r1"},
		"a host key that is not": {func(m *Mount) { m.HostKey = "ssh-ed25519" }, "host-key of router r1"},
		"several host keys": {func(m *Mount) {
			const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1Fb8y9nRZqJqXv0dYQk9Q4yq2n8z5cPq3q9nX7r6bT\n"
			m.HostKey = key + key
		}, "one line"},
	} {
		m := right
		x.change(&m)
		if err := m.Check(); (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}
