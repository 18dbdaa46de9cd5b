package vendorfile_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"ctl.internal/internal/lab/sshhost"
	"ctl.internal/internal/switchcli/hostkeys"
	"ctl.internal/plugins/switch/driver"
	"ctl.internal/plugins/switch/mibdriver"
	"ctl.internal/plugins/switch/snmp"
	"ctl.internal/plugins/switch/vendorfile"
	"ctl.internal/plugins/switch/writes"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/switchdriver"
)

// Over SSH the key seen first is kept; a switch with another one gets no password, until
// the old key is forgotten.
func TestHostKey(t *testing.T) {
	h, err := sshhost.Start(sshhost.Options{User: "admin", Password: "s3cret", Serve: func(_ string, ch ssh.Channel, requests <-chan *ssh.Request) {
		if !sshhost.Wanted(requests, "shell", "") {
			return
		}
		_, _ = io.WriteString(ch, "sw# ")
		for in := bufio.NewScanner(ch); in.Scan(); {
			fmt.Fprintf(ch, "%s\r\ndone\r\nsw# ", in.Text())
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Down)
	path := filepath.Join(t.TempDir(), "v.xml")
	if err := os.WriteFile(path, []byte(config("M", function("enable_stp", "ssh", "", "spanning-tree"))), 0o600); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	c := snmp.NewClient(snmp.Options{})
	t.Cleanup(c.Close)
	keys := &hostkeys.Keys{Policy: hostkeys.First, Store: plugintest.NewHost(t).Client(t, &pluginv1.Manifest{Name: "switch"}).Datastore,
		File: "etc/switch.yaml", Command: "switch:hostkeys", Log: log}
	standard := mibdriver.New(c)
	x := vendorfile.New(vendorfile.NewSource([]string{path}, log), standard, keys)
	x.Next = driver.New(driver.Options{Standard: standard, File: x, Log: log}).Next
	sw := &switchdriver.Switch{NodeId: 1, Address: h.Host(), Model: "M", Cli: &pluginv1.CliAccess{Port: uint32(h.Port()), User: "admin", Password: "s3cret"}}
	enable := func() error {
		_, err := x.Perform(deadline(t), sw, &writes.Operation{Request: &pluginv1.WriteStpRequest{Enable: true}})
		return err
	}
	table := hostkeys.Table("switch:hostkeys", func() *hostkeys.Keys { return keys })
	run := func(options map[string]string) (string, error) {
		var out strings.Builder
		err := table.Run(deadline(t), &commands.Invocation{Options: options, Stdout: &out, Format: "text"})
		return out.String(), err
	}
	for range 2 {
		if err := enable(); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := run(nil); err != nil || !strings.Contains(out, "SHA256:") || !strings.Contains(out, h.Host()) {
		t.Errorf("%v\n%s", err, out)
	}
	if err := h.NewHostKey(); err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("%s/%d", h.Host(), h.Port())
	if err := enable(); !errors.Is(err, &fault.Error{Kind: fault.Denied}) || !strings.Contains(err.Error(), "switch:hostkeys --forget "+at) {
		t.Errorf("another key: %v", err)
	}
	if _, err := run(map[string]string{"forget": "192.0.2.1"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("forgetting a key that is not known: %v", err)
	}
	if got := table.Options[0].Complete(deadline(t), "127"); len(got) != 1 || got[0] != at {
		t.Errorf("completion: %v", got)
	}
	if out, err := run(map[string]string{"forget": at}); err != nil || !strings.Contains(out, at) {
		t.Errorf("%q %v", out, err)
	}
	if err := enable(); err != nil {
		t.Errorf("after that: %v", err)
	}
	keys.Policy, keys.Known = hostkeys.Known, map[string]string{h.Host(): h.HostKey()}
	if err := enable(); err != nil {
		t.Errorf("a key of the settings: %v", err)
	}
	if _, err := run(map[string]string{"forget": at}); err != nil {
		t.Errorf("forgetting beside the settings: %v", err)
	}
	if _, err := run(map[string]string{"forget": at}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("forgetting a key of the settings: %v", err)
	}
	keys.Known = nil
	if err := enable(); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "known_hosts of etc/switch.yaml") {
		t.Errorf("an unknown key: %v", err)
	}
}
