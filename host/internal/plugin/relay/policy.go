package relay

import (
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

// personal are capabilities whose messages name the caller. The relay cannot vouch
// for what is inside a message, so they are reached through the host's services
// only, which fill the caller in.
var personal = []string{"operations", "routes", "commands", "realm"}

// Capability returns the capability that a method belongs to: the name of its
// service in lower case. "/ctl.plugin.v1.SwitchDriver/ReadVlans" is "switchdriver".
func Capability(method string) (string, error) {
	service, name, ok := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	if !ok || service == "" || name == "" || !strings.HasPrefix(method, "/") {
		return "", fault.New(fault.Malformed, "%q is not a method", method)
	}
	if strings.HasPrefix(service, "plugin.") || strings.HasPrefix(service, "grpc.") {
		return "", fault.New(fault.Denied, "%s is between the host and a plugin and is not relayed", service)
	}
	c := strings.ToLower(service[strings.LastIndexByte(service, '.')+1:])
	switch {
	case c == "":
		return "", fault.New(fault.Malformed, "%q is not a method", method)
	case strings.HasPrefix(service, "ctl.plugin.v1.") && (c == "base" || strings.HasPrefix(c, "host")):
		return "", fault.New(fault.Denied, "%s is between the host and a plugin and is not relayed", service)
	case slices.Contains(personal, c):
		return "", fault.New(fault.Denied, "the capability %q acts for a user and is not relayed; use the host's Operations service", c)
	}
	return c, nil
}

// Allow decides whether a plugin that uses some capabilities may call a method of a
// provider that serves some.
func Allow(uses []string, method, provider string, serves []string) error {
	c, err := Capability(method)
	if err != nil {
		return err
	}
	if !slices.Contains(uses, c) {
		return fault.New(fault.Denied, "the manifest does not list the capability %q under `uses`", c)
	}
	if !slices.Contains(serves, c) {
		return fault.New(fault.Unsupported, "plugin %s does not serve the capability %q", provider, c)
	}
	return nil
}
