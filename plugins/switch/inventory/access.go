package inventory

import (
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"

	"ctl.internal/plugins/switch/csvlist"
)

func newAccess(e csvlist.Entry) *pluginv1.SnmpAccess {
	return &pluginv1.SnmpAccess{Port: uint32(e.Port), Version: e.Version,
		ReadCommunity: e.ReadCommunity, WriteCommunity: e.WriteCommunity, User: e.V3User,
		AuthProtocol: e.V3AuthProtocol, AuthPassword: e.V3AuthPassword,
		PrivProtocol: e.V3PrivProtocol, PrivPassword: e.V3PrivPassword}
}

// newCLI leaves the transport open: which one a switch speaks its driver knows.
func newCLI(e csvlist.Entry) *pluginv1.CliAccess {
	return &pluginv1.CliAccess{User: e.CLIUser, Password: e.CLIPassword}
}
