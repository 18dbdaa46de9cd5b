package snmp_test

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
	"ctl.internal/plugins/switch/mib"
	"ctl.internal/plugins/switch/snmp"
)

// twoAddresses is an agent that is asked at 127.0.0.1 and answers from 127.0.0.2.
func twoAddresses(t *testing.T, cfg snmpagent.Config) netip.AddrPort {
	t.Helper()
	listen := func(last byte) *net.UDPConn {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, last)})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	asked, answers := listen(1), listen(2)
	agent := snmpagent.New(cfg)
	var work sync.WaitGroup
	work.Go(func() {
		buf := make([]byte, 8192)
		for {
			n, from, err := asked.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			if out := agent.Handle(buf[:n]); out != nil {
				_, _ = answers.WriteToUDPAddrPort(out, from)
			}
		}
	})
	t.Cleanup(func() { asked.Close(); answers.Close(); work.Wait() })
	return asked.LocalAddr().(*net.UDPAddr).AddrPort()
}

// An agent that answers from another address is read where the list or the settings let it, and else the error says
// from where an answer came.
func TestAnswersFromAnotherAddress(t *testing.T) {
	user, err := snmpwire.NewUser("ops", gosnmp.SHA256, "authpass123", gosnmp.AES, "privpass123")
	if err != nil {
		t.Fatal(err)
	}
	at := twoAddresses(t, snmpagent.Config{MIB: oneValue{}, ReadCommunity: "public", Users: []*snmpwire.User{user}, EngineID: []byte("ctl-engine")})
	v2 := snmp.Target{Addr: at, Version: "2c", Community: "public"}
	v3 := snmp.Target{Addr: at, Version: "3", User: "ops", AuthProtocol: "sha-256", AuthPassword: "authpass123", PrivProtocol: "aes", PrivPassword: "privpass123"}
	for name, c := range map[string]struct {
		from string
		any  bool
		good bool
	}{"its address": {"127.0.0.2", false, true}, "any": {"any", false, true}, "the setting": {"", true, true}, "a third address": {"127.0.0.3", false, false}, "none": {"", false, false}} {
		for _, to := range []snmp.Target{v2, v3} {
			wait := 300 * time.Millisecond
			if c.good {
				wait = 20 * time.Second
			}
			cl := client(t, snmp.Options{Timeout: wait, Retries: -1, FromAny: c.any})
			to.From = c.from
			v, err := cl.Get(deadline(t), to, mib.SysName)
			if c.good {
				if err != nil || string(v[0].Bytes()) != "sw1" {
					t.Errorf("%s, version %s: %v", name, to.Version, err)
				}
				continue
			}
			var e *snmp.Error
			if !errors.As(err, &e) || !e.Timeout() {
				t.Errorf("%s, version %s: %v", name, to.Version, err)
			}
		}
	}
	for _, to := range []snmp.Target{v2, v3} {
		cl := client(t, snmp.Options{Timeout: time.Second, Retries: -1})
		_, err := cl.Get(deadline(t), to, mib.SysName)
		if err == nil || !strings.Contains(err.Error(), "one came from 127.0.0.2:") {
			t.Errorf("version %s: %v", to.Version, err)
		}
	}
}

// named is a MIB whose only value, at each name, is a text.
type named string

func (n named) Get(snmpwire.OID) snmpwire.Value {
	return snmpwire.Value{Tag: snmpwire.OctetString, Bytes: []byte(n)}
}
func (n named) Next(at, dst snmpwire.OID) (snmpwire.OID, snmpwire.Value) {
	if at[len(at)-1] == 7 {
		return append(dst[:0], at...), snmpwire.Value{Tag: snmpwire.EndOfMibView}
	}
	return append(append(dst[:0], at...), 7), n.Get(nil)
}
func (n named) Set([]snmpwire.VarBind) (snmpwire.Status, int) {
	if n == "bridge" {
		return snmpwire.NoError, 0
	}
	return snmpwire.NotWritable, 1
}

// BRIDGE-MIB and Q-BRIDGE-MIB are asked in a context of their own where the list names one.
func TestBridgeContext(t *testing.T) {
	user, err := snmpwire.NewUser("ops", gosnmp.SHA256, "authpass123", gosnmp.AES, "privpass123")
	if err != nil {
		t.Fatal(err)
	}
	host := snmpagent.NewHost()
	t.Cleanup(host.Close)
	server, err := host.Listen(netip.MustParseAddrPort("127.0.0.1:0"), snmpagent.New(snmpagent.Config{MIB: named("own"), EngineID: []byte("ctl-engine"),
		Users: []*snmpwire.User{user}, Views: map[string]snmpagent.MIB{"bridge-0": named("bridge"), "rest": named("rest")}}))
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, snmp.Options{Timeout: 20 * time.Second})
	for _, x := range []struct{ context, bridge, wantOwn, wantBridge string }{
		{"", "", "own", "own"}, {"", "bridge-0", "own", "bridge"}, {"rest", "", "rest", "rest"}, {"rest", "bridge-0", "rest", "bridge"},
	} {
		to := snmp.Target{Addr: server.Addr(), Version: "3", User: "ops", AuthProtocol: "sha-256", AuthPassword: "authpass123",
			PrivProtocol: "aes", PrivPassword: "privpass123", Context: x.context, BridgeContext: x.bridge}
		v, err := c.Get(deadline(t), to, mib.SysName, mib.BaseBridgeAddress, mib.IfName+".1", mib.QPvid+".1")
		if err != nil {
			t.Fatal(err)
		}
		got := []string{string(v[0].Bytes()), string(v[1].Bytes()), string(v[2].Bytes()), string(v[3].Bytes())}
		if want := []string{x.wantOwn, x.wantBridge, x.wantOwn, x.wantBridge}; strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("context %q and %q: got %q, want %q", x.context, x.bridge, got, want)
		}
		walked := map[int]string{}
		err = c.WalkFrom(deadline(t), to, 0, []string{mib.IfName, mib.BasePortIfIndex, mib.IfDescr}, func(column int, _ []uint32, v snmp.Value) error {
			walked[column] = string(v.Bytes())
			return nil
		})
		if err != nil || walked[0] != x.wantOwn || walked[1] != x.wantBridge || walked[2] != x.wantOwn {
			t.Errorf("context %q and %q: walked %v, %v", x.context, x.bridge, walked, err)
		}
		if err := c.Set(deadline(t), to, snmp.Gauge(mib.QPvid+".1", 1)); (err == nil) != (x.wantBridge == "bridge") {
			t.Errorf("context %q and %q: SET %v", x.context, x.bridge, err)
		}
	}
}

// Both forms of the longer AES keys that vendors use, with every authentication protocol; and passwords that were
// changed at the agent and in the list.
func TestV3Keys(t *testing.T) {
	host := snmpagent.NewHost()
	t.Cleanup(host.Close)
	at := netip.MustParseAddrPort("127.0.0.1:0")
	var server *snmpagent.Server
	agent := func(auth gosnmp.SnmpV3AuthProtocol, priv gosnmp.SnmpV3PrivProtocol, password string) {
		t.Helper()
		if server != nil {
			_ = server.Close()
		}
		u, err := snmpwire.NewUser("ops", auth, password, priv, "privpass123")
		if err != nil {
			t.Fatal(err)
		}
		if server, err = host.Listen(at, snmpagent.New(snmpagent.Config{MIB: oneValue{}, Users: []*snmpwire.User{u}, EngineID: []byte("ctl-engine")})); err != nil {
			t.Fatal(err)
		}
		at = server.Addr()
	}
	c := client(t, snmp.Options{Timeout: 20 * time.Second, Retries: 1})
	target := func(auth, priv, password string) snmp.Target {
		return snmp.Target{Addr: at, Version: "3", User: "ops", AuthProtocol: auth, AuthPassword: password, PrivProtocol: priv, PrivPassword: "privpass123"}
	}
	for auth, a := range map[string]gosnmp.SnmpV3AuthProtocol{"md5": gosnmp.MD5, "sha": gosnmp.SHA, "sha-256": gosnmp.SHA256, "sha-512": gosnmp.SHA512} {
		for priv, p := range map[string]gosnmp.SnmpV3PrivProtocol{"des": gosnmp.DES, "aes": gosnmp.AES, "aes-192": gosnmp.AES192, "aes-192-c": gosnmp.AES192C, "aes-256": gosnmp.AES256, "aes-256-c": gosnmp.AES256C} {
			agent(a, p, "authpass123")
			if _, err := c.Get(deadline(t), target(auth, priv, "authpass123"), mib.SysName); err != nil {
				t.Errorf("%s with %s: %v", auth, priv, err)
			}
		}
	}
	agent(gosnmp.SHA, gosnmp.AES256C, "authpass123") // SHA-1 has fewer octets than the key: there the forms differ
	_, err := client(t, snmp.Options{Timeout: 20 * time.Second, Retries: -1}).Get(deadline(t), target("sha", "aes-256", "authpass123"), mib.SysName)
	var e *snmp.Error
	if !errors.As(err, &e) || !e.Access() || !strings.Contains(err.Error(), "aes-256-c") {
		t.Errorf("the other form of keys: %v", err)
	}
	agent(gosnmp.SHA256, gosnmp.AES, "authpass123")
	old := target("sha-256", "aes", "authpass123")
	if _, err := c.Get(deadline(t), old, mib.SysName); err != nil {
		t.Fatal(err)
	}
	agent(gosnmp.SHA256, gosnmp.AES, "changed-pass")
	if _, err := c.Get(deadline(t), old, mib.SysName); !errors.As(err, &e) || !e.Access() {
		t.Errorf("a changed password: %v", err)
	}
	if _, err := c.Get(deadline(t), target("sha-256", "aes", "changed-pass"), mib.SysName); err != nil {
		t.Errorf("the new password: %v", err)
	}
}
