package keystore

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

func TestSettingsAreShownAndWritten(t *testing.T) {
	o := newHome(t, strings.Replace(ecConfig, "MDSAL", "false", 1))
	open(t, o) // makes the passwords
	b, err := ConfigData(o.Dir)
	if err != nil || strings.Count(string(b), Masked) != 2 || !strings.Contains(string(b), `"ctlKeystore":{"name":"ctl.jks"`) || !strings.Contains(string(b), `"trustKeystore":{"name":"truststore.jks"`) {
		t.Fatalf("%s %v", b, err)
	}
	before, _ := os.ReadFile(ConfigFile(o.Dir))
	if err := SetConfigData(o.Dir, b); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(ConfigFile(o.Dir)); string(after) != string(before) {
		t.Fatalf("what was shown changes something:\n%s", after)
	}
	var d Config
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	d.DName, d.Validity, d.TrustName = "CN=a & b", 30, "t.jks"
	d.Suites = []suite{{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"}, {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"}}
	b, _ = json.Marshal(d)
	if err := SetConfigData(o.Dir, b); err != nil {
		t.Fatal(err)
	}
	c, _, err := readConfig(ConfigFile(o.Dir))
	if err != nil || c.DName != "CN=a & b" || c.Validity != 30 || len(c.Suites) != 2 || c.TrustName != "t.jks" || c.Password == "" || c.Password == Masked {
		t.Fatalf("%+v %v", c, err)
	}
	d.Suites, d.DName = nil, ""
	b, _ = json.Marshal(d)
	if err := SetConfigData(o.Dir, b); err != nil {
		t.Fatal(err)
	}
	if c, _, _ := readConfig(ConfigFile(o.Dir)); len(c.Suites) != 0 || c.DName != defaultConfig().DName {
		t.Fatalf("%+v", c)
	}
	kept, _ := os.ReadFile(ConfigFile(o.Dir))
	for name, spoil := range map[string]func(*Config){
		"password": func(d *Config) { d.Password = "another" }, "trust password": func(d *Config) { d.TrustPassword = "another" },
		"size": func(d *Config) { d.KeySize = 300 }, "suite": func(d *Config) { d.Suites = []suite{{"TLS_NONE"}} },
		"file": func(d *Config) { d.Name = "../x" }, "two reasons": func(d *Config) { d.UseConfig, d.UseMDSAL = false, true },
	} {
		bad := d
		spoil(&bad)
		b, _ := json.Marshal(bad)
		if err := SetConfigData(o.Dir, b); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := SetConfigData(o.Dir, nil); fault.KindOf(err) != fault.Unsupported {
		t.Error(err)
	}
	if now, _ := os.ReadFile(ConfigFile(o.Dir)); string(now) != string(kept) {
		t.Error("a refused change was written")
	}
}
