package idmtool

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// resolveTime bounds looking a name up.
const resolveTime = 2 * time.Second

// isThisMachine reports whether requests to a host do not leave this machine. Resolve looks a name up.
func isThisMachine(
	ctx context.Context,
	host string,
	resolve func(context.Context, string) ([]netip.Addr, error),
) bool {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addresses := []netip.Addr{}
	if a, err := netip.ParseAddr(name); err == nil {
		addresses = append(addresses, a)
	} else {
		ctx, cancel := context.WithTimeout(ctx, resolveTime)
		defer cancel()
		if addresses, err = resolve(ctx, name); err != nil {
			return false
		}
	}
	own := ownAddresses()
	return len(addresses) > 0 && !slices.ContainsFunc(addresses, func(a netip.Addr) bool {
		a = a.Unmap().WithZone("")
		return !a.IsLoopback() && !a.IsUnspecified() && !slices.Contains(own, a)
	})
}

// ownAddresses are the addresses of the network interfaces.
func ownAddresses() []netip.Addr {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var own []netip.Addr
	for _, one := range found {
		if p, err := netip.ParsePrefix(one.String()); err == nil {
			own = append(own, p.Addr().Unmap())
		}
	}
	return own
}

func resolveName(ctx context.Context, name string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}

// homeCertificate is the certificate with which the controller of a home serves, in DER; nil = it does not serve over TLS.
func homeCertificate(home string) []byte {
	text, err := os.ReadFile(filepath.Join(home, "data", "run", "https.pem"))
	if err != nil {
		return nil
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	return block.Bytes
}

// verifier verifies the certificate of a server.
type verifier struct {
	host string
	home string // whose certificate is accepted, too; empty = of none
}

// verify accepts the certificate of the home, and else one that a certificate authority of the system has signed for the host.
func (v verifier) verify(state tls.ConnectionState) error {
	leaf := state.PeerCertificates[0]
	if v.home != "" && slices.Equal(leaf.Raw, homeCertificate(v.home)) {
		return nil
	}
	between := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		DNSName:       v.host,
		Intermediates: between,
	})
	if err != nil {
		return &tls.CertificateVerificationError{
			UnverifiedCertificates: state.PeerCertificates,
			Err:                    err,
		}
	}
	return nil
}
