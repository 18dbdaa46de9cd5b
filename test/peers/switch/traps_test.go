//go:build peers

package switchpeers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/plugintest/reserve"

	"ctl.internal/test/harness"
)

type trapReport struct {
	Listening string            `json:"listening"`
	Error     string            `json:"error"`
	Counts    map[string]uint64 `json:"counts"`
	Traps     []trap            `json:"traps"`
}

type trap struct {
	Node    string `json:"node-id"`
	Version string `json:"version"`
	Inform  bool   `json:"inform"`
	Kind    string `json:"kind"`
	IfIndex uint32 `json:"if-index"`
}

// shell runs a command and reads its JSON.
func shell(ctx context.Context, t *testing.T, p *plugintest.Plugin, command string, options map[string]string, into any) {
	t.Helper()
	var out bytes.Buffer
	err := commands.NewClient(p.Conn).Execute(ctx, &commands.Invocation{Name: command, Options: options, Format: "json",
		Stdin: commands.NoInput, Stdout: &out, Stderr: &out})
	if err == nil {
		err = json.Unmarshal(out.Bytes(), into)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, &out)
	}
}

// patiently asks again until nothing differs; the deadline of ctx is the only limit.
func patiently(ctx context.Context, t *testing.T, differs func() string) {
	t.Helper()
	for {
		what := differs()
		if what == "" {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("in vain waited for; what differs is\n%s", what)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// reported waits until switch:traps shows enough, and returns that.
func reported(ctx context.Context, t *testing.T, p *plugintest.Plugin, enough func(*trapReport) bool) *trapReport {
	t.Helper()
	var r *trapReport
	patiently(ctx, t, func() string {
		r = &trapReport{}
		shell(context.WithoutCancel(ctx), t, p, "switch:traps", map[string]string{"last": "0"}, r)
		if enough(r) {
			return ""
		}
		return fmt.Sprintf("%+v", r)
	})
	return r
}

// program runs one of net-snmp's programs with a state of its own.
func program(t *testing.T, state, name string, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(os.Environ(), "MIBS=", "SNMP_PERSISTENT_DIR="+state, "HOME="+state)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %q: %w\n%s", name, args, err, out)
	}
	return nil
}

// net-snmp's programs send every kind of notification; informs end well only when
// they are answered as the program expects. They wait for that for long: an inform that
// is sent again counts again.
func TestTrapPrograms(t *testing.T) {
	need(t, "snmptrap", "snmpinform")
	p := plugin(t, []device{
		{mac: "02:77:00:00:00:01", address: "127.0.0.1", rest: "public,M,2c"},
		{mac: "02:77:00:00:00:02", address: "127.0.0.1", rest: ",M,3,ops,SHA-256,authpass123,AES,privpass123"},
		{mac: "02:77:00:00:00:03", address: "127.0.0.1", rest: ",M,3,old,SHA,authpass123,DES,privpass123"},
		{mac: "02:77:00:00:00:04", address: "127.0.0.1", rest: ",M,3,plain,MD5,authpass123"},
	}, map[string]any{"traps": map[string]any{"listen": "127.0.0.1:0"}, "snmp": map[string]any{"timeout": "100ms", "retries": 0}})
	ctx := long(t)
	at := reported(ctx, t, p, func(r *trapReport) bool { return r.Listening != "" }).Listening
	const linkDown, ifIndex = ".1.3.6.1.6.3.1.1.5.3", ".1.3.6.1.2.1.2.2.1.1.4"
	user := func(name, auth, priv string) []string {
		args := []string{"-v3", "-u", name, "-a", auth, "-A", "authpass123", "-l", "authNoPriv"}
		if priv != "" {
			args = append(args, "-x", priv, "-X", "privpass123", "-l", "authPriv")
		}
		return args
	}
	type sent struct {
		Version, Node string
		Inform        bool
	}
	node := func(n int) string { return fmt.Sprint(0x027700000000 + n) }
	var want []sent
	for i, c := range []struct {
		name string
		args []string
		sent *sent // nil: not believed
	}{
		{"snmptrap", []string{"-v1", "-c", "public", at, ".1.3.6.1.4.1.9", "127.0.0.1", "2", "0", "", ifIndex, "i", "4"}, &sent{"1", node(1), false}},
		{"snmptrap", []string{"-v2c", "-c", "public", at, "", linkDown, ifIndex, "i", "4"}, &sent{"2c", node(1), false}},
		{"snmpinform", []string{"-v2c", "-c", "public", "-t", "30", "-r", "5", at, "", linkDown, ifIndex, "i", "4"}, &sent{"2c", node(1), true}},
		{"snmptrap", append(user("ops", "SHA-256", "AES"), "-e", "0x80001f8804aabbcc01", at, "", linkDown, ifIndex, "i", "4"), &sent{"3", node(2), false}},
		{"snmpinform", append(user("ops", "SHA-256", "AES"), "-t", "30", "-r", "5", at, "", linkDown, ifIndex, "i", "4"), &sent{"3", node(2), true}},
		{"snmpinform", append(user("old", "SHA", "DES"), "-t", "30", "-r", "5", at, "", linkDown, ifIndex, "i", "4"), &sent{"3", node(3), true}},
		{"snmpinform", append(user("plain", "MD5", ""), "-t", "30", "-r", "5", at, "", linkDown, ifIndex, "i", "4"), &sent{"3", node(4), true}},
		{"snmptrap", []string{"-v2c", "-c", "wrong", at, "", linkDown}, nil},
		{"snmptrap", append(user("nobody", "SHA-256", "AES"), "-e", "0x80001f8804aabbcc01", at, "", linkDown), nil},
		{"snmptrap", append(user("ops", "SHA", "AES"), "-e", "0x80001f8804aabbcc01", at, "", linkDown), nil},
	} {
		if err := program(t, t.TempDir(), c.name, c.args...); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		if c.sent != nil {
			want = append(want, *c.sent)
		}
	}
	r := reported(ctx, t, p, func(r *trapReport) bool { return len(r.Traps) >= len(want) && r.Counts["not-authentic"] >= 3 })
	var got []sent
	for _, x := range slices.Backward(r.Traps) {
		got = append(got, sent{x.Version, x.Node, x.Inform})
		if x.Kind != "linkDown" || x.IfIndex != 4 {
			t.Errorf("%+v", x)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("traps (-sent +received):\n" + d)
	}
	if err := program(t, t.TempDir(), "snmpinform", "-v2c", "-c", "wrong", "-r", "0", "-t", "1", at, "", linkDown); err == nil {
		t.Error("an inform with a wrong community is answered")
	}
}

// A ring of real devices, and nothing but their own traps reports what happens:
// linkDown and linkUp of snmpd, lldpRemTablesChange of lldpd, coldStart.
func TestTrapsOfRing(t *testing.T) {
	need(t, "ip", "snmpd", "lldpd", "lldpcli", "snmpbulkwalk", "unshare", "setsid")
	const nodes = 4
	pre, net, port := prefix(t, "t"), subnet(t, 195), reserve.Port(t, "udp", "0.0.0.0")
	manager := fmt.Sprintf("%s.254:%d", net, port)
	lab(t, "lab-lldp.sh", fmt.Sprint("LAB_NODES=", nodes), "LAB_PREFIX="+pre, "LAB_NET="+net, "LAB_TRAPS="+manager)
	var devices []device
	var names []string
	ids := map[string]string{}
	for i := 1; i <= nodes; i++ {
		name := fmt.Sprint(pre, i)
		d := device{name: name, address: fmt.Sprintf("%s.%d", net, i), mac: links(t, name)["mgmt"].MAC, rest: "public,net-snmp,2c"}
		devices, names = append(devices, d), append(names, name)
		ids[fmt.Sprint(number(t, d.mac))] = name
	}
	p := plugin(t, devices, map[string]any{"traps": map[string]any{"listen": manager}})
	ctx := long(t)
	reported(ctx, t, p, func(r *trapReport) bool { return r.Listening == manager })
	as := func(ends int) {
		t.Helper()
		patiently(ctx, t, func() string {
			kernel := truth(t, names)
			if len(kernel) != ends {
				return fmt.Sprintf("the kernel has %d ends up, want %d", len(kernel), ends)
			}
			return cmp.Diff(kernel, found(context.WithoutCancel(ctx), t, p, ids))
		})
	}
	as(2 * nodes)
	// latest is the newest trap of a link, of the first switch.
	cut := links(t, names[0])["e1"].Index
	latest := func(r *trapReport) string {
		for _, x := range r.Traps {
			if ids[x.Node] == names[0] && x.IfIndex == uint32(cut) {
				return x.Kind
			}
		}
		return ""
	}
	set := func(state string) {
		if out, err := exec.CommandContext(harness.Deadline(t), "ip", "-n", names[0], "link", "set", "e1", state).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	came := func(kind string) func(*trapReport) bool {
		return func(r *trapReport) bool {
			return slices.ContainsFunc(r.Traps, func(x trap) bool { return x.Kind == kind && ids[x.Node] != "" })
		}
	}
	// lldpd reports a change only when it reported none for a while: cut until it does.
	for told := false; !told; {
		set("down")
		as(2*nodes - 2)
		// The agent looks at its interfaces once a second: it must have seen this one down.
		reported(ctx, t, p, func(r *trapReport) bool { return latest(r) == "linkDown" })
		set("up")
		as(2 * nodes)
		r := reported(ctx, t, p, func(r *trapReport) bool { return latest(r) == "linkUp" })
		told = came("lldpRemTablesChange")(r)
	}
	restartAgent(t, names[1])
	reported(ctx, t, p, came("coldStart"))
	// lldpd finds the new agent after some seconds; until then its neighbours' word counts.
	patiently(ctx, t, func() string {
		if d := cmp.Diff(truth(t, names), found(context.WithoutCancel(ctx), t, p, ids)); d != "" {
			return d
		}
		var edges []struct {
			Confirmed bool   `json:"confirmed"`
			Node      string `json:"node"`
			Peer      string `json:"peer"`
		}
		shell(context.WithoutCancel(ctx), t, p, "switch:edges", nil, &edges)
		for _, e := range edges {
			if !e.Confirmed {
				return fmt.Sprintf("the edge between %s and %s is reported by one end", ids[e.Node], ids[e.Peer])
			}
		}
		return ""
	})
}

// restartAgent ends the snmpd of a namespace and starts it again as it was.
func restartAgent(t *testing.T, ns string) {
	t.Helper()
	out, err := exec.CommandContext(harness.Deadline(t), "ip", "netns", "pids", ns).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range bytes.Fields(out) {
		proc := "/proc/" + string(pid)
		if comm, err := os.ReadFile(proc + "/comm"); err != nil || string(bytes.TrimSpace(comm)) != "snmpd" {
			continue
		}
		line, err := os.ReadFile(proc + "/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		env, err := os.ReadFile(proc + "/environ")
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"netns", "exec", ns}
		for _, a := range bytes.Split(bytes.TrimRight(line, "\x00"), []byte{0}) {
			args = append(args, string(a))
		}
		// It ends on its own; the address is free once it has.
		if out, err := exec.CommandContext(harness.Deadline(t), "kill", string(pid)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		patiently(long(t), t, func() string {
			if _, err := os.Stat(proc); err == nil {
				return "snmpd " + string(pid) + " is still there"
			}
			return ""
		})
		c := exec.Command("ip", args...)
		for _, e := range bytes.Split(bytes.TrimRight(env, "\x00"), []byte{0}) {
			c.Env = append(c.Env, string(e))
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { _ = c.Wait() }() // the lab ends it with its namespace
		return
	}
	t.Fatalf("there is no snmpd in %s", ns)
}
