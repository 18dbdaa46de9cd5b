package keystore

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
)

// Protocols are the TLS protocols of the runtime, in Java's spelling, from TLS 1.0 on.
func Protocols() []string {
	return []string{"TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"}
}

// Suite is a cipher suite of the runtime.
type Suite struct {
	Name     string `json:"name"`
	Insecure bool   `json:"insecure,omitempty"`
	TLS13    bool   `json:"tls13,omitempty"` // of TLS 1.3, where the runtime chooses
	id       uint16
}

// CipherSuites are the cipher suites of the runtime.
func CipherSuites() []Suite {
	var out []Suite
	for _, s := range tls.CipherSuites() {
		out = append(
			out,
			Suite{
				Name:  s.Name,
				TLS13: slices.Contains(s.SupportedVersions, tls.VersionTLS13),
				id:    s.ID,
			},
		)
	}
	for _, s := range tls.InsecureCipherSuites() {
		out = append(out, Suite{
			Name:     s.Name,
			Insecure: true,
			id:       s.ID,
		})
	}
	return out
}

// policy is what a TLS listener offers.
type policy struct {
	min, max uint16   // 0 = no restriction
	suites   []uint16 // of TLS 1.2 and before; nil = the runtime's
	unknown  []string // suites that the runtime does not have
}

// newPolicy reads the restrictions of the settings. It never offers what was not
// listed: the runtime cannot choose among the suites of TLS 1.3, so these are
// listed all, or TLS 1.3 is not offered.
func newPolicy(names, suites []string) (policy, error) {
	var p policy
	var picked []uint16
	for _, n := range names {
		i := slices.IndexFunc(Protocols(), func(name string) bool {
			return strings.EqualFold(name, n)
		})
		if i < 0 {
			return p, fmt.Errorf(
				"<tls-protocols>: %q is not one of %s",
				n,
				strings.Join(Protocols(), ", "),
			)
		}
		if v := tls.VersionTLS10 + uint16(i); !slices.Contains(picked, v) {
			picked = append(picked, v)
		}
	}
	if len(picked) > 0 {
		p.min, p.max = slices.Min(picked), slices.Max(picked)
		if int(p.max-p.min)+1 != len(picked) {
			return p, fmt.Errorf(
				"<tls-protocols> %s: a protocol in the middle is missing, which TLS cannot negotiate; list a range without gaps",
				strings.Join(names, ","),
			)
		}
	}
	if len(suites) == 0 {
		return p, nil
	}
	return p, p.restrictSuites(suites)
}

func (p *policy) restrictSuites(names []string) error {
	have := map[string]Suite{}
	all13 := 0
	for _, s := range CipherSuites() {
		have[s.Name] = s
		if s.TLS13 {
			all13++
		}
	}
	seen13 := map[uint16]bool{}
	for _, n := range names {
		s, ok := have[strings.ToUpper(n)]
		switch {
		case !ok:
			p.unknown = append(p.unknown, n)
		case s.TLS13:
			seen13[s.id] = true
		default:
			p.suites = append(p.suites, s.id)
		}
	}
	limit := func(low, high uint16) {
		p.min = max(p.min, low)
		if p.max == 0 || p.max > high {
			p.max = high
		}
	}
	switch {
	case len(p.suites) == 0 && len(seen13) == 0:
		return fmt.Errorf(
			"<cipher-suites>: the runtime does not support %s; aaa:get-cipher-suites lists the supported suites",
			strings.Join(names, ", "),
		)
	case len(seen13) > 0 && len(seen13) < all13:
		return fmt.Errorf(
			"<cipher-suites>: of the suites of TLS 1.3 (TLS_AES_…, TLS_CHACHA20_…) list all %d or none: the runtime cannot exclude one",
			all13,
		)
	case len(seen13) == 0:
		limit(0, tls.VersionTLS12)
	case len(p.suites) == 0:
		limit(tls.VersionTLS13, tls.VersionTLS13)
	}
	if p.min > p.max && p.max != 0 {
		return fmt.Errorf("<cipher-suites> and <tls-protocols> have nothing in common: no listed suite belongs to a listed protocol")
	}
	return nil
}

// isHTTP2Capable reports whether every suite offered is good enough for HTTP/2 (RFC 9113,
// appendix A): ephemeral keys and authenticated encryption.
func (p *policy) isHTTP2Capable() bool {
	for _, id := range p.suites {
		name := tls.CipherSuiteName(id)
		if !strings.Contains(name, "ECDHE") ||
			!(strings.Contains(name, "GCM") || strings.Contains(name, "CHACHA20")) {
			return false
		}
	}
	return p.max == 0 || p.max >= tls.VersionTLS12
}
