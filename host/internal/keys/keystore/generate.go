package keystore

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"strings"
	"time"
)

// selfSigned makes a key and a certificate for it that serves until a CA has
// signed one. names are host names and addresses besides the CN of dname.
func (c *Config) selfSigned(now time.Time, names []string) (crypto.Signer, []byte, error) {
	spec, err := c.keySpec()
	if err != nil {
		return nil, nil, err
	}
	key, err := spec.generateKey()
	if err != nil {
		return nil, nil, err
	}
	subject, raw, err := parseDName(c.DName)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	t := &x509.Certificate{
		SerialNumber:          serial.Add(serial, big.NewInt(1)),
		RawSubject:            raw,
		SignatureAlgorithm:    spec.sign,
		NotBefore:             now.Add(-time.Minute),
		NotAfter:              now.AddDate(0, 0, c.Validity), // clocks differ
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}
	if spec.curve == nil {
		t.KeyUsage |= x509.KeyUsageKeyEncipherment
	}
	t.DNSNames, t.IPAddresses = alternativeNames(subject, names)
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	return key, der, err
}

func (k keySpec) generateKey() (crypto.Signer, error) {
	if k.curve != nil {
		return ecdsa.GenerateKey(k.curve, rand.Reader)
	}
	return rsa.GenerateKey(rand.Reader, k.bits)
}

// newCertRequest makes a PKCS #10 request with the controller's key.
func (c *Config) newCertRequest(key crypto.Signer, names []string) ([]byte, error) {
	subject, raw, err := parseDName(c.DName)
	if err != nil {
		return nil, err
	}
	t := &x509.CertificateRequest{RawSubject: raw}
	t.DNSNames, t.IPAddresses = alternativeNames(subject, names)
	// An imported key may be of another kind than the settings say.
	spec, err := c.keySpec()
	_, ec := key.(*ecdsa.PrivateKey)
	if err == nil && ec == (spec.curve != nil) {
		t.SignatureAlgorithm = spec.sign
	}
	return x509.CreateCertificateRequest(rand.Reader, t, key)
}

// alternativeNames sorts names into host names and addresses, each once. A CN that is
// no host name is no alternative.
func alternativeNames(subject pkix.RDNSequence, names []string) (dns []string, ips []net.IP) {
	seen := map[string]bool{}
	for _, n := range append([]string{commonName(subject)}, names...) {
		n = strings.TrimSuffix(strings.ToLower(n), ".")
		if n == "" || seen[n] {
			continue
		}
		seen[n] = true
		if ip := net.ParseIP(n); ip != nil {
			if !ip.IsUnspecified() {
				ips = append(ips, ip)
			}
		} else if hostName(n) {
			dns = append(dns, n)
		}
	}
	return dns, ips
}

func hostName(s string) bool {
	for _, label := range strings.Split(s, ".") {
		if label == "" ||
			len(label) > 63 ||
			strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" ||
			label[0] == '-' {
			return false
		}
	}
	return len(s) <= 253
}
