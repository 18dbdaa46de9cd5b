package mib

import "strings"

// tables are the tables that are read, by the identifiers of their entries.
var tables = []struct{ entry, name string }{
	{".1.3.6.1.2.1.2.2.1", "ifTable"}, {".1.3.6.1.2.1.31.1.1.1", "ifXTable"}, {".1.3.6.1.2.1.31.1.2.1", "ifStackTable"},
	{".1.3.6.1.2.1.4.20.1", "ipAddrTable"}, {".1.3.6.1.2.1.4.22.1", "ipNetToMediaTable"},
	{".1.3.6.1.2.1.17.1.4.1", "dot1dBasePortTable"}, {".1.3.6.1.2.1.17.2.15.1", "dot1dStpPortTable"}, {".1.3.6.1.2.1.17.4.3.1", "dot1dTpFdbTable"},
	{".1.3.6.1.2.1.17.7.1.2.2.1", "dot1qTpFdbTable"}, {".1.3.6.1.2.1.17.7.1.4.2.1", "dot1qVlanCurrentTable"},
	{".1.3.6.1.2.1.17.7.1.4.3.1", "dot1qVlanStaticTable"}, {".1.3.6.1.2.1.17.7.1.4.5.1", "dot1qPortVlanTable"},
	{".1.0.8802.1.1.2.1.3.7.1", "lldpLocPortTable"}, {".1.0.8802.1.1.2.1.4.1.1", "lldpRemTable"}, {".1.0.8802.1.1.2.1.4.2.1", "lldpRemManAddrTable"},
	{".1.3.111.2.802.1.1.13.1.3.7.1", "lldpV2LocPortTable"}, {".1.3.111.2.802.1.1.13.1.4.1.1", "lldpV2RemTable"},
	{".1.3.111.2.802.1.1.13.1.4.2.1", "lldpV2RemManAddrTable"}, {".1.3.6.1.4.1.9.9.23.1.2.1.1", "cdpCacheTable"},
	{".1.3.6.1.2.1.47.1.1.1.1", "entPhysicalTable"}, {".1.2.840.10006.300.43.1.2.1.1", "dot3adAggPortTable"},
}

// TableOf names the table that an object is in; the object itself where it is in none that is known.
func TableOf(oid OID) string {
	for _, t := range tables {
		if rest, ok := strings.CutPrefix(oid, t.entry); ok && (rest == "" || rest[0] == '.') {
			return t.name
		}
	}
	return strings.TrimPrefix(oid, ".")
}
