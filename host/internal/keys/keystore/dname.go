package keystore

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"slices"
	"strings"

	"github.com/go-ldap/ldap/v3"
)

var attributes = map[string]asn1.ObjectIdentifier{
	"CN": {2, 5, 4, 3}, "SERIALNUMBER": {2, 5, 4, 5}, "C": {2, 5, 4, 6}, "L": {2, 5, 4, 7}, "ST": {2, 5, 4, 8}, "S": {2, 5, 4, 8},
	"STREET": {2, 5, 4, 9}, "O": {2, 5, 4, 10}, "OU": {2, 5, 4, 11}, "T": {2, 5, 4, 12},
	"UID": {0, 9, 2342, 19200300, 100, 1, 1}, "DC": {0, 9, 2342, 19200300, 100, 1, 25},
	"EMAILADDRESS": {1, 2, 840, 113549, 1, 9, 1}, "E": {1, 2, 840, 113549, 1, 9, 1},
}

// parseDName reads a distinguished name of RFC 4514. The text has the most
// specific part first, the encoded name last.
func parseDName(text string) (pkix.RDNSequence, error) {
	if len(text) > 1024 {
		return nil, fmt.Errorf("<dname> has %d characters, at most 1024 are possible", len(text))
	}
	dn, err := ldap.ParseDN(text)
	if err != nil || len(dn.RDNs) == 0 {
		return nil, fmt.Errorf("<dname> %q is not a distinguished name such as CN=ctl, O=Lab, C=XX", text)
	}
	var out pkix.RDNSequence
	for _, rdn := range dn.RDNs {
		var set pkix.RelativeDistinguishedNameSET
		for _, a := range rdn.Attributes {
			name := strings.ToUpper(strings.TrimSpace(a.Type))
			oid, ok := attributes[name]
			if !ok {
				return nil, fmt.Errorf("<dname>: no such attribute %q; possible are CN, OU, O, L, ST, C, STREET, T, DC, UID, SERIALNUMBER, EMAILADDRESS", a.Type)
			}
			value := strings.TrimSpace(a.Value)
			if value == "" || (name == "C" && len(value) != 2) {
				return nil, fmt.Errorf("<dname>: %s=%q: a value is needed, for C a country code of two letters", name, value)
			}
			set = append(set, pkix.AttributeTypeAndValue{Type: oid, Value: value})
		}
		out = append(out, set)
	}
	slices.Reverse(out)
	if _, err := asn1.Marshal(out); err != nil {
		return nil, fmt.Errorf("<dname> %q cannot be encoded: %v", text, err)
	}
	return out, nil
}

// commonName is the CN of a name, if it has one.
func commonName(seq pkix.RDNSequence) string {
	var n pkix.Name
	n.FillFromRDNSequence(&seq)
	return n.CommonName
}
