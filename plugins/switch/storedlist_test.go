package switchplugin

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/internal/lab/network"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
	"ctl.internal/sdk/plugintest"
)

// Sealed texts of the switch list are opened with the controller's key; stored, they are
// sealed again, and a switch that is not asked by SNMP needs none.
func TestSealedList(t *testing.T) {
	n, err := network.Start(network.Options{Topology: "chain:2"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	h := plugintest.NewHost(t)
	sealed := h.SealText("private")
	text := strings.Replace(string(n.CSV()), ",private,", ","+sealed+",", 1) // of the first switch
	text = strings.Replace(text, "public,private", "public,"+sealed, 1)
	text += "90:94:e4:23:13:e0,192.0.2.1,{sealed}AAAA,,,M\n90:94:e4:23:13:e1,192.0.2.2,,,,Open vSwitch,,none\n"
	list := filepath.Join(t.TempDir(), "sealed.csv")
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l := &lab{Network: n, list: list, Plugin: plugintest.Start(t, Options(), plugintest.WithHost(h), plugintest.WithConfig(map[string]any{"discovery": map[string]any{"interval": "0s"}}))}
	out := l.shell(t, "switch:ReadDB", []string{list}, nil)
	if !strings.Contains(out, list+":4: SNMP_Community: the sealed text does not open: the text was not sealed in this home") || !strings.Contains(out, "3 switches read") || strings.Contains(out, "private") {
		t.Errorf("ReadDB:\n%s", out)
	}
	write := func(name string) {
		t.Helper()
		if err := l.Call(deadline(t), "vlan:add-vlan", map[string]any{"node-id": sw1, "vlan-id": 5, "vlan-name": name}, nil); err != nil {
			t.Error(err)
		}
		if err := l.Call(deadline(t), "vlan:delete-vlan", map[string]any{"node-id": sw1, "vlan-id": 5}, nil); err != nil {
			t.Error(err)
		}
	}
	write("file")
	err = l.Call(deadline(t), "vlan:get-vlan-table", map[string]any{"node-id": 0x9094e42313e1}, nil)
	if !errors.Is(err, &fault.Error{Kind: fault.Unsupported}) || !strings.Contains(err.Error(), "does not use SNMP") {
		t.Errorf("a switch without SNMP: %v", err)
	}
	l.shell(t, "switch:ImportDB", []string{list}, map[string]string{"skip": "true"})
	write("stored")
	public := l.shell(t, "switch:ExportDB", nil, nil)
	if !strings.Contains(public, "90:94:e4:23:13:e1,192.0.2.2,,,,Open vSwitch,,none,") || strings.Contains(public, "sealed") {
		t.Errorf("exported:\n%s", public)
	}
	l.Stop()
	l.Plugin = plugintest.Start(t, Options(), plugintest.WithHost(h))
	write("restarted")
	if out := l.shell(t, "switch:ExportDB", nil, nil); out != public {
		t.Errorf("after a restart:\n%s\nbefore:\n%s", out, public)
	}
}

// What requests make of the list holds over a restart, its secrets sealed; files come
// and go without it.
func TestStoredList(t *testing.T) {
	n, err := network.Start(network.Options{Topology: "chain:2"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	home := t.TempDir()
	data := filepath.Join(home, "data", "plugins", "switch")
	for _, dir := range []string{filepath.Join(home, "etc"), data} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(home, "etc", "switch_swdb.csv")
	if err := n.WriteCSV(file); err != nil {
		t.Fatal(err)
	}
	h := plugintest.NewHost(t)
	run := func() *lab {
		return &lab{Network: n, list: file, Plugin: plugintest.Start(t, Options(), plugintest.WithHost(h), plugintest.WithDataDir(data))}
	}
	l := run()
	add := map[string]string{"node-ip": "127.0.0.1:9", "node-mac": "90:94:e4:23:13:e0", "community": "hush-hush", "cli-password": "very-secret", "cli-user-name": "admin"}
	if err := l.Call(deadline(t), "switch-db:add-switch-entry", add, nil); err != nil {
		t.Fatal(err)
	}
	l.Stop()
	l = run()
	if out := l.shell(t, "switch:PrintDB", nil, nil); !strings.Contains(out, "158969157063648") || !strings.Contains(out, "2199023255553") || strings.Contains(out, "hush") || strings.Contains(out, "very-secret") {
		t.Errorf("after a restart:\n%s", out)
	}
	public := l.shell(t, "switch:ExportDB", nil, nil)
	if !strings.Contains(public, "90:94:e4:23:13:e0,127.0.0.1") || strings.Contains(public, "hush") || strings.Contains(public, "very-secret") || strings.Contains(public, "private") {
		t.Errorf("exported:\n%s", public)
	}
	if _, err := l.Shell(deadline(t), "switch:ExportDB", nil, map[string]string{"secrets": "true"}); err == nil {
		t.Error("secrets were shown at the terminal")
	}
	l.shell(t, "switch:ExportDB", []string{"etc/backup.csv"}, map[string]string{"secrets": "true"})
	backup := filepath.Join(home, "etc", "backup.csv")
	text, err := os.ReadFile(backup)
	if st, _ := os.Stat(backup); err != nil || st.Mode().Perm() != 0o600 || !strings.Contains(string(text), "hush-hush") {
		t.Errorf("backup: %v", err)
	}
	if _, err := l.Shell(deadline(t), "switch:ExportDB", []string{"etc/backup.csv"}, nil); err == nil {
		t.Error("a file was overwritten")
	}
	// A list without secrets, changed by hand, is read again: what is known stays known.
	edited := filepath.Join(home, "etc", "edited.csv")
	if err := os.WriteFile(edited, []byte(strings.Replace(public, "90:94:e4:23:13:e0", "90:94:e4:23:13:e1", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := l.Shell(deadline(t), "switch:ImportDB", []string{"etc/edited.csv"}, nil); err == nil || !strings.Contains(out, "community is missing") {
		t.Errorf("an unknown switch without a community: %v\n%s", err, out)
	}
	l.shell(t, "switch:ImportDB", []string{"etc/edited.csv"}, map[string]string{"skip": "true"})
	if err := l.Call(deadline(t), "vlan:add-vlan", map[string]any{"node-id": sw1, "vlan-id": 5, "vlan-name": "x"}, nil); err != nil {
		t.Errorf("the write community is lost: %v", err)
	}
	keys := 0
	for e, err := range h.Client(t, &pluginv1.Manifest{Name: "switch"}).Datastore.Range(deadline(t), host.Private, "") {
		if err != nil {
			t.Fatal(err)
		}
		keys++
		for _, secret := range []string{"hush", "very-secret", "private"} {
			if strings.Contains(string(e.Value), secret) {
				t.Errorf("%s lies in clear under %s", secret, e.Key)
			}
		}
	}
	if keys < 3 {
		t.Errorf("%d keys are stored", keys)
	}
	if err := l.Call(deadline(t), "switch-db:clear-db", nil, nil); err != nil {
		t.Fatal(err)
	}
	l.Stop()
	l = run()
	if out := l.shell(t, "switch:PrintDB", nil, nil); !strings.Contains(out, "empty") {
		t.Errorf("a cleared list comes back:\n%s", out)
	}
	var loaded struct {
		Path     string `json:"path"`
		Switches int    `json:"switches"`
	}
	if err := l.Call(deadline(t), "switch-db:reload-db", nil, &loaded); err != nil || loaded.Path == "" || loaded.Switches == 0 {
		t.Fatal(err)
	}
	l.Stop()
	l = run()
	if out := l.shell(t, "switch:PrintDB", nil, nil); !strings.Contains(out, "2199023255554") || strings.Contains(out, "158969157063648") {
		t.Errorf("after reload-db:\n%s", out)
	}
}
