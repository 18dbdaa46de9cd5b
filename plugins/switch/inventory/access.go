package inventory

import (
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"

	"ctl.internal/plugins/switch/csvlist"
)

// newAccess is nil for a switch that is not asked by SNMP.
func newAccess(e csvlist.Entry) *pluginv1.SnmpAccess {
	if e.Version == csvlist.NoSNMP {
		return nil
	}
	return &pluginv1.SnmpAccess{Port: uint32(e.Port), Version: e.Version,
		ReadCommunity: e.ReadCommunity, WriteCommunity: e.WriteCommunity, User: e.V3User,
		AuthProtocol: e.V3AuthProtocol, AuthPassword: e.V3AuthPassword,
		PrivProtocol: e.V3PrivProtocol, PrivPassword: e.V3PrivPassword}
}

// newCLI leaves transport and port open where the list does: the driver's settings say.
func newCLI(e csvlist.Entry) *pluginv1.CliAccess {
	return &pluginv1.CliAccess{User: e.CLIUser, Password: e.CLIPassword, Transport: e.CLITransport, Port: uint32(e.CLIPort)}
}
