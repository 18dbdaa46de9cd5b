package device

import (
	"testing"
	"unicode/utf8"

	"ctl.internal/internal/netconf/xmltree"
)

// FuzzEvents reads notifications of routers: whatever they hold, it is an event of the
// contract, a change by somebody, or nothing.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{
		`<bfr-id-collision xmlns="urn:ietf:params:xml:ns:yang:ietf-bier"><bfr-id>7</bfr-id></bfr-id-collision>`,
		`<bfr-id-collision xmlns="urn:ietf:params:xml:ns:yang:ietf-bier"><bfr-id-collision><received-bfr-id>7</received-bfr-id></bfr-id-collision></bfr-id-collision>`,
		`<bfr-zero xmlns="urn:ietf:params:xml:ns:yang:ietf-bier"><ipv4-bfr-prefix>10.0.0.1/32</ipv4-bfr-prefix></bfr-zero>`,
		`<sub-domain-id-collision xmlns="urn:ietf:params:xml:ns:yang:ietf-bier"><sub-domain-id>1</sub-domain-id><mt-id>70000</mt-id></sub-domain-id-collision>`,
		`<netconf-config-change xmlns="urn:ietf:params:xml:ns:yang:ietf-netconf-notifications"><changed-by><username>m</username><session-id>3</session-id><source-host>::1</source-host></changed-by><datastore>running</datastore></netconf-config-change>`,
		`<netconf-config-change xmlns="urn:ietf:params:xml:ns:yang:ietf-netconf-notifications"><changed-by><server/></changed-by></netconf-config-change>`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := xmltree.Parse(data)
		if err != nil {
			return
		}
		for _, e := range bierEvents(n) {
			if e.GetKind() == 0 || e.BfrId > 65535 || e.SubDomainId > 65535 || e.MtId > 65535 {
				t.Errorf("%q: %v", data, e)
			}
		}
		if by, _ := parseConfigChange(n, nil); !utf8.ValidString(by) {
			t.Errorf("%q: %q does not fit a message of the contract", data, by)
		}
	})
}
