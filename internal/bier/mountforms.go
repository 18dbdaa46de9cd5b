package bier

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// mountModule qualifies the members by which a node of MountTopology is mounted.
const mountModule = "netconf-node-topology:"

// The reasons why a mount is refused that has another form than a router can be reached by.
var (
	errTwoForms = errors.New("it has members in netconf-node and beside it: write one of the two forms")
	errSealed   = errors.New("login-password is encrypted with a key that this controller does not have: " +
		"write login-password-unencrypted, which is stored encrypted")
	errKeyBased = errors.New("key-based names a key of a key store, which is not used for routers: " +
		"write the flat form with username and private-key")
	errTLS = errors.New("protocol TLS is not used for routers: write SSH, or leave protocol out")
)

// FlattenMount returns a node of MountTopology in the flat form, also one that has the container netconf-node, and what
// refuses it. A node that cannot be read is returned as it is.
func FlattenMount(text []byte) ([]byte, error) {
	if !bytes.Contains(text, []byte("netconf-node\"")) {
		return text, nil
	}
	var node, inner map[string]json.RawMessage
	if json.Unmarshal(text, &node) != nil {
		return text, nil
	}
	container, ok := node[mountModule+"netconf-node"]
	if !ok || json.Unmarshal(container, &inner) != nil {
		return text, nil
	}
	delete(node, mountModule+"netconf-node")
	var refused error
	for name := range node {
		if strings.HasPrefix(name, mountModule) {
			refused = errTwoForms
		}
	}
	for name, value := range inner {
		name = strings.TrimPrefix(name, mountModule)
		switch name {
		case "login-password-unencrypted":
			addMembers(node, value)
		case "login-password":
			refused = errSealed
		case "key-based":
			refused = errKeyBased
		case "protocol":
			if bytes.Contains(value, []byte(`"TLS"`)) {
				refused = errTLS
			}
		default:
			node[mountModule+name] = value
		}
	}
	flat, err := json.Marshal(node)
	if err != nil {
		return text, refused
	}
	return flat, refused
}

// addMembers adds the members of a container to the node.
func addMembers(node map[string]json.RawMessage, container json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(container, &members) != nil {
		return
	}
	for name, value := range members {
		node[mountModule+strings.TrimPrefix(name, mountModule)] = value
	}
}
