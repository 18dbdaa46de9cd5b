package main

import (
	bierchannel "ctl.internal/plugins/bier-channel"
	bierdrivercli "ctl.internal/plugins/bier-driver-cli"
	bierdriverietf "ctl.internal/plugins/bier-driver-ietf"
	bierservice "ctl.internal/plugins/bier-service"
	biertopomanager "ctl.internal/plugins/bier-topomanager"
	"ctl.internal/plugins/openflow"
	realmdirectory "ctl.internal/plugins/realm-directory"
	realmidsvc "ctl.internal/plugins/realm-idsvc"
	realmldap "ctl.internal/plugins/realm-ldap"
	"ctl.internal/plugins/repoinfo"
	switchplugin "ctl.internal/plugins/switch"
	switchdriverdlink "ctl.internal/plugins/switch-driver-dlink"
	switchdriverovs "ctl.internal/plugins/switch-driver-ovs"
	"ctl.internal/sdk"
)

// plugins are the programs in this one, by the name of their link.
var plugins = map[string]func() sdk.Options{
	"bier-channel":        bierchannel.Options,
	"bier-driver-cli":     bierdrivercli.Options,
	"bier-driver-ietf":    bierdriverietf.Options,
	"bier-service":        bierservice.Options,
	"bier-topomanager":    biertopomanager.Options,
	"openflow":            openflow.Options,
	"realm-directory":     realmdirectory.Options,
	"realm-idsvc":         realmidsvc.Options,
	"realm-ldap":          realmldap.Options,
	"repoinfo":            repoinfo.Options,
	"switch":              switchplugin.Options,
	"switch-driver-dlink": switchdriverdlink.Options,
	"switch-driver-ovs":   switchdriverovs.Options,
}
