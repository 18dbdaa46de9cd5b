package bier

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFormsOfMounts(t *testing.T) {
	const flat = `{"node-id":"r","netconf-node-topology:host":"h","netconf-node-topology:port":7,"netconf-node-topology:username":"u","netconf-node-topology:password":"p"}`
	for name, c := range map[string]struct {
		text, want, refused string
	}{
		"flat":         {flat, flat, ""},
		"no mount":     {`{"node-id":"r"}`, `{"node-id":"r"}`, ""},
		"container":    {`{"node-id":"r","netconf-node-topology:netconf-node":{"host":"h","port":7,"login-password-unencrypted":{"username":"u","password":"p"}}}`, flat, ""},
		"over SSH":     {`{"node-id":"r","netconf-node-topology:netconf-node":{"host":"h","port":7,"protocol":{"name":"SSH"},"login-password-unencrypted":{"username":"u","password":"p"}}}`, flat, ""},
		"over TLS":     {`{"node-id":"r","netconf-node-topology:netconf-node":{"protocol":{"name":"TLS"}}}`, `{"node-id":"r"}`, "TLS"},
		"encrypted":    {`{"node-id":"r","netconf-node-topology:netconf-node":{"login-password":{"username":"u","password":"cA=="}}}`, `{"node-id":"r"}`, "login-password-unencrypted"},
		"by a key":     {`{"node-id":"r","netconf-node-topology:netconf-node":{"key-based":{"username":"u","key-id":"k"}}}`, `{"node-id":"r"}`, "private-key"},
		"both forms":   {`{"node-id":"r","netconf-node-topology:port":1,"netconf-node-topology:netconf-node":{"host":"h"}}`, `{"node-id":"r","netconf-node-topology:host":"h","netconf-node-topology:port":1}`, "one of the two"},
		"no container": {`{"node-id":"r","netconf-node-topology:netconf-node":7}`, `{"node-id":"r","netconf-node-topology:netconf-node":7}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, refused := FlattenMount([]byte(c.text))
			var have, want any
			if err := json.Unmarshal(got, &have); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, have); diff != "" {
				t.Error(diff)
			}
			if (refused == nil) != (c.refused == "") || refused != nil && !strings.Contains(refused.Error(), c.refused) {
				t.Errorf("refused: %v, want %q", refused, c.refused)
			}
		})
	}
}
