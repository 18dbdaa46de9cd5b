// Package config reads etc/ctl/karaf/08-authn-config.xml, the old system's file
// of which one value still counts. All else is in ctl.yaml and sec.ini.
package config
