package realpeers

import (
	"bufio"
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/network"
	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/sdk/plugintest/reserve"
)

// snmptrapd starts the receiver; lines are what it logs.
func snmptrapd(t *testing.T) (port int, lines <-chan string) {
	t.Helper()
	port = reserve.Port(t, "udp", "127.0.0.1")
	conf := filepath.Join(t.TempDir(), "snmptrapd.conf")
	text := "authCommunity log private\n" +
		"createUser -e 0x8001869f03020000000001 ops SHA-256 authpass123 AES privpass123\n" +
		"createUser ops SHA-256 authpass123 AES privpass123\nauthUser log ops\n" +
		"format1 v1 %w.%q %v\\n\nformat2 %V | %v\\n\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := command(ctx, t, "snmptrapd", "-f", "-n", "-On", "-C", "-c", conf, "-Lo", "udp:127.0.0.1:"+strconv.Itoa(port))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := make(chan string, 100)
	go func() {
		defer close(c)
		for s := bufio.NewScanner(out); s.Scan(); {
			c <- s.Text()
		}
	}()
	t.Cleanup(func() {
		cancel()
		for range c { // until the process has closed its output
			continue
		}
		_ = cmd.Wait() // killed
	})
	return port, c
}

// wait returns the first line with a text.
func wait(t *testing.T, lines <-chan string, text string) string {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				t.Fatalf("snmptrapd ended before it logged %q", text)
			}
			if strings.Contains(line, text) {
				return line
			}
		case <-deadline.C:
			t.Fatalf("snmptrapd does not log %q", text)
		}
	}
}

func TestTrapsArriveAtSnmptrapd(t *testing.T) {
	need(t, "snmptrapd")
	port, lines := snmptrapd(t)
	wait(t, lines, "NET-SNMP version")
	n := start(t, network.Options{Topology: "chain:2", V3: true})
	user, err := snmpwire.NewUser("ops", gosnmp.SHA256, "authpass123", gosnmp.AES, "privpass123")
	if err != nil {
		t.Fatal(err)
	}
	for i, to := range []snmpagent.Target{
		{Version: snmpwire.Version2c, Community: "private", Inform: true, Retries: 20}, // first: it waits for the receiver
		{Version: snmpwire.Version1, Community: "private"},
		{Version: snmpwire.Version2c, Community: "private"},
		{Version: snmpwire.Version3, User: user},
		{Version: snmpwire.Version3, User: user, Inform: true, Retries: 20},
	} {
		to.Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port))
		mark := 1000 + i
		note := snmpagent.Notification{Trap: snmpwire.MustOID(network.LinkDown), Enterprise: snmpwire.MustOID("1.3.6.1.4.1.99999.1"),
			VarBinds: []snmpwire.VarBind{{Name: snmpwire.MustOID("1.3.6.1.2.1.2.2.1.1." + strconv.Itoa(mark)), Value: snmpwire.Int32(mark)}}}
		if err := n.Nodes()[0].Server.Notify(context.Background(), to, note); err != nil {
			t.Fatalf("version %d, inform %v: %v", to.Version, to.Inform, err)
		}
		wait(t, lines, ".1.3.6.1.2.1.2.2.1.1."+strconv.Itoa(mark)+" = INTEGER: "+strconv.Itoa(mark))
	}
}
