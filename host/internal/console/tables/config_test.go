package tables

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// What widens the rights of an administrator from another machine is changed only on the machine of the controller.
func TestSettingsThatWidenAreLocal(t *testing.T) {
	dir := home.Dir(t.TempDir())
	if err := os.MkdirAll(dir.Etc(), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir.Etc(), "ctl.yaml")
	c := Config{Home: dir, Validate: func(context.Context) []home.Problem { return nil }}
	set := func(address, key, value string) (string, error) {
		if err := os.WriteFile(file, []byte("limits:\n  body: 1MiB\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		in := &commands.Invocation{Options: map[string]string{"pid": "ctl"}, Args: map[string][]string{"key": {key}, "value": {value}},
			Caller: caller.Caller{User: "admin", Domain: "sdn", Roles: []string{"admin"}, Address: address}, Stdout: &bytes.Buffer{}}
		err := c.setSetting(t.Context(), in)
		text, _ := os.ReadFile(file)
		return string(text), err
	}
	for key, value := range map[string]string{
		"console.directories": "[/etc]", "console": "{directories: [/etc]}", "audit.syslog": `""`, "audit.required": "none", "audit": "{required: none}",
		"supervisor.isolation": "off", "tls.key": "/x", "tls": "{key: /x}", "listeners.admin": "0.0.0.0:1", "listeners": "{admin: 0.0.0.0:1}", "aaa.throttle.after": "1000", "aaa": "{throttle: {after: 1000}}",
	} {
		if text, err := set("192.0.2.1:5000", key, value); err == nil || fault.KindOf(err) != fault.Denied || strings.Contains(text, strings.Split(key, ".")[0]) {
			t.Errorf("%s from another machine: %v\n%s", key, err, text)
		}
		if text, err := set("", key, value); err != nil || !strings.Contains(text, strings.Split(key, ".")[0]) {
			t.Errorf("%s on the machine: %v\n%s", key, err, text)
		}
	}
	if _, err := set("192.0.2.1:5000", "limits.body", "16MiB"); err != nil {
		t.Errorf("a setting that widens nothing: %v", err)
	}
}
