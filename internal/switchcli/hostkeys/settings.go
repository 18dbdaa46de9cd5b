package hostkeys

import (
	"net/netip"

	"golang.org/x/crypto/ssh"

	"ctl.internal/sdk/fault"
)

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
			bad = append(bad, fault.At(fault.Invalid, path+"known_hosts", "%.60q is no IP address", address))
			continue
		}
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(key)); err != nil {
			bad = append(bad, fault.At(fault.Invalid, path+"known_hosts/"+address, "that is no line such as \"ssh-ed25519 AAAA…\""))
		}
		known[a.String()] = key
	}
	return known, bad
}
