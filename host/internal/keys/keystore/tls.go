package keystore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"slices"
	"sync/atomic"

	"ctl.internal/sdk/fault"
)

// TLSOptions are the settings of a listener that are not the keystore's.
type TLSOptions struct {
	MinVersion uint16             // where the keystore's settings do not say
	Clients    tls.ClientAuthType // verified against the trust keystore
}

// ServerTLS returns the settings of a listener. A connection gets the keystores as
// they are when it begins; those that are open go on.
func (s *Service) ServerTLS(o TLSOptions) *tls.Config {
	type made struct {
		of     *state
		config *tls.Config
	}
	var last atomic.Pointer[made]
	current := func() *tls.Config {
		st := s.now.Load()
		if m := last.Load(); m != nil && m.of == st {
			return m.config
		}
		m := &made{st, st.serverTLS(o)}
		last.Store(m)
		return m.config
	}
	c := current().Clone()
	c.CipherSuites = nil // the listener's check for HTTP/2 wants more; each connection has its own
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return current(), nil
	}
	return c
}

func (st *state) serverTLS(o TLSOptions) *tls.Config {
	cert := tls.Certificate{
		Certificate: rawCerts(st.chain),
		PrivateKey:  st.key,
		Leaf:        st.chain[0],
	}
	c := &tls.Config{
		Certificates: []tls.Certificate{cert},
		MinVersion:   o.MinVersion,
		MaxVersion:   st.policy.max,
		CipherSuites: st.policy.suites,
		ClientAuth:   o.Clients,
		NextProtos:   []string{"h2", "http/1.1"},
	}
	if !st.policy.isHTTP2Capable() {
		c.NextProtos = []string{"http/1.1"}
	}
	if st.policy.min != 0 {
		c.MinVersion = st.policy.min
	} else if st.policy.max != 0 {
		c.MinVersion = min(c.MinVersion, st.policy.max)
	}
	if o.Clients != tls.NoClientCert {
		c.ClientCAs = st.certPool()
	}
	return c
}

// Pool are the certificates of the trust keystore.
func (s *Service) Pool() *x509.CertPool {
	return s.now.Load().certPool()
}

// Trust returns the certificates of the trust keystore as PEM.
func (s *Service) Trust(context.Context) ([]byte, error) {
	return PEM("CERTIFICATE", rawCerts(s.now.Load().nodeCerts())...), nil
}

// nodeCerts are the certificates of the nodes, by alias.
func (st *state) nodeCerts() (all []*x509.Certificate) {
	for _, alias := range slices.Sorted(maps.Keys(st.nodes)) {
		all = append(all, st.nodes[alias])
	}
	return all
}

// Identity returns the controller's chain and key as PEM.
func (s *Service) Identity(context.Context) (certificate, key []byte, err error) {
	st := s.now.Load()
	der, err := x509.MarshalPKCS8PrivateKey(st.key)
	if err != nil {
		return nil, nil, fault.Wrap(fault.Internal, err, "the controller's key cannot be encoded")
	}
	return PEM("CERTIFICATE", rawCerts(st.chain)...), PEM("PRIVATE KEY", der), nil
}
