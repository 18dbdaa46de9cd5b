package switchlist

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const title = "MAC,IP,SNMP_Community,CLI_Username,CLI_Password,Model\n"

func lines(problems []Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

// keys shows the switches of a list without their secrets.
func keys(entries []Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.MAC.String()+" "+e.Address.String())
	}
	return out
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		problems   []string // beginnings, in order
	}{
		{"the sample of the documents, no newline at the end",
			title + "90:94:e4:23:13:e0,192.168.0.32,private,admin,password,D-Link_DGS3650",
			[]string{"90:94:e4:23:13:e0 192.168.0.32"}, nil},
		{"the old five columns",
			"MAC,IP,SNMP_Community,CLI_Username,CLI_Password\n90:94:e4:23:13:e0,192.168.0.32,private,admin,password\n",
			[]string{"90:94:e4:23:13:e0 192.168.0.32"}, nil},
		{"a title line that names nothing: by position",
			"# my switches\n9094e42313e0,10.0.0.1,private\n",
			[]string{"90:94:e4:23:13:e0 10.0.0.1"}, nil},
		{"columns by name in another order",
			"Driver,IP,Model,MAC,Read_Community\nx,10.0.0.1,M,90-94-e4-23-13-e0,public\n",
			[]string{"90:94:e4:23:13:e0 10.0.0.1"}, nil},
		{"blank lines, comments, blanks around cells, CRLF, byte order mark",
			"\ufeff" + strings.ReplaceAll(title+"\n  # old core\n 90:94:e4:23:13:e0 , 10.0.0.1 , private \n", "\n", "\r\n"),
			[]string{"90:94:e4:23:13:e0 10.0.0.1"}, nil},
		{"a comma in a quoted password",
			title + "90:94:e4:23:13:e0,10.0.0.1,private,admin,\"a,\"\"b\",M\n",
			[]string{"90:94:e4:23:13:e0 10.0.0.1"}, nil},
		{"every bad line is named, good ones stay",
			title + "zz,10.0.0.1,private\n90:94:e4:23:13:e1,10.0.0.300,private\n90:94:e4:23:13:e2,10.0.0.2,private\n90:94:e4:23:13:e3,10.0.0.3\n90:94:e4:23:13:e4,10.0.0.4,\"open\n",
			[]string{"90:94:e4:23:13:e2 10.0.0.2"},
			[]string{`f:2: MAC: "zz"`, `f:3: IP: "10.0.0.300"`, "f:5: SNMP_Community: the community is missing", "f:6: column "}},
		{"all faults of a line at once",
			title + "01:00:5e:00:00:01,0.0.0.0,private\n", nil,
			[]string{`f:2: MAC: 01:00:5e:00:00:01 is not the address of a single device; IP: "0.0.0.0"`}},
		{"too many cells",
			title + "90:94:e4:23:13:e0,10.0.0.1,private,admin,a,M,more\n", nil, []string{"f:2: 7 cells, but the title line has 6 columns"}},
		{"the title line was forgotten",
			"90:94:e4:23:13:e0,10.0.0.1,private\n90:94:e4:23:13:e1,10.0.0.2,private\n",
			[]string{"90:94:e4:23:13:e1 10.0.0.2"}, []string{"f:1: the first line must be the title line"}},
		{"the later of two lines with one MAC holds",
			title + "90:94:e4:23:13:e0,10.0.0.1,private\n90:94:e4:23:13:e0,10.0.0.2,private\n",
			[]string{"90:94:e4:23:13:e0 10.0.0.2"}, []string{"f:3: MAC 90:94:e4:23:13:e0 stands in line 2"}},
		{"an unknown column is reported and not used",
			"MAC,IP,Community,SNMP_Community\n90:94:e4:23:13:e0,10.0.0.1,x,private\n",
			[]string{"90:94:e4:23:13:e0 10.0.0.1"}, []string{`f:1: unknown column "Community"`}},
		{"version 3",
			"MAC,IP,Version,V3_User,V3_Auth_Protocol,V3_Auth_Password,V3_Priv_Protocol,V3_Priv_Password,Port\n" +
				"90:94:e4:23:13:e0,10.0.0.1,3,ops,SHA256,authpass123,AES,privpass123,1161\n" +
				"90:94:e4:23:13:e1,10.0.0.1,v3,ops,,,,,\n" +
				"90:94:e4:23:13:e2,10.0.0.1,3,ops,SHA3,short,,,\n" +
				"90:94:e4:23:13:e3,10.0.0.1,3,,,,AES,privpass123,0\n",
			[]string{"90:94:e4:23:13:e0 10.0.0.1", "90:94:e4:23:13:e1 10.0.0.1"},
			[]string{`f:4: V3_Auth_Protocol: "SHA3" is not known`, `f:5: Port: "0"`}},
		{"switches that only a driver serves need no community",
			"MAC,IP,Version,Driver,CLI_Transport,CLI_Port,SNMP_Community\n" +
				"90:94:e4:23:13:e0,10.0.0.1,none,,SSH,2222,\n" +
				"90:94:e4:23:13:e1,10.0.0.1,,switch-driver-ovs,,,\n" +
				"90:94:e4:23:13:e2,10.0.0.1,,standard-mib,,,\n" +
				"90:94:e4:23:13:e3,10.0.0.1,none,standard-mib,,,\n" +
				"90:94:e4:23:13:e4,10.0.0.1,none,,rsh,0,\n",
			[]string{"90:94:e4:23:13:e0 10.0.0.1", "90:94:e4:23:13:e1 10.0.0.1"},
			[]string{"f:4: SNMP_Community: the community is missing", "f:5: Driver: the driver standard-mib needs SNMP",
				`f:6: CLI_Port: "0" is not a TCP port, 1 to 65535; CLI_Transport: "rsh" is not a transport; write telnet or ssh`}},
		{"contexts, and other addresses of a switch",
			"MAC,IP,SNMP_Community,V3_User,V3_Context,V3_Bridge_Context,Answers_From\n" +
				"90:94:e4:23:13:e0,10.0.0.1,,ops,all,bridge-0,10.0.0.7\n" +
				"90:94:e4:23:13:e1,10.0.0.1,c,,,,ANY\n" +
				"90:94:e4:23:13:e2,10.0.0.1,c,,,,same\n" +
				"90:94:e4:23:13:e3,10.0.0.1,,ops," + strings.Repeat("x", 256) + ",,\n",
			[]string{"90:94:e4:23:13:e0 10.0.0.1", "90:94:e4:23:13:e1 10.0.0.1"},
			[]string{`f:4: Answers_From: "same" is not an IP address; write the address from which the switch answers, or any`, "f:5: V3_Context: the context has more than 255 octets"}},
		{"empty file", "", nil, nil},
		{"a NUL in a cell", title + "90:94:e4:23:13:e0,10.0.0.1,pri\x00vate\n", nil, []string{"f:2: SNMP_Community: octet 4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, problems := Parse("f", []byte(c.text))
			if d := cmp.Diff(c.want, keys(got)); d != "" {
				t.Error("switches (-want +got):\n" + d)
			}
			if len(problems) != len(c.problems) {
				t.Fatalf("problems %q, want %q", lines(problems), c.problems)
			}
			for i, want := range c.problems {
				if !strings.HasPrefix(problems[i].String(), want) {
					t.Errorf("problem %q, want it to begin with %q", problems[i], want)
				}
			}
		})
	}
}

func TestParseKeepsEveryColumn(t *testing.T) {
	text := strings.Join(columnNames[:], ",") + "\n" +
		`90:94:e4:23:13:e0,192.0.2.1,both,admin,"p,w",DGS-3650,1161,2c,u,sha,12345678,aes,87654321,r,w,dlink,ssh,2222`
	got, problems := Parse("f", []byte(text))
	if len(problems) > 0 || len(got) != 1 {
		t.Fatal(problems)
	}
	e := got[0]
	if e.ReadCommunity != "r" || e.WriteCommunity != "w" || e.Port != 1161 || e.Version != "2c" || e.Driver != "dlink" ||
		e.CLIPassword != "p,w" || e.CLIUser != "admin" || e.Model != "DGS-3650" || e.V3User != "u" || e.Line != 2 ||
		e.CLITransport != "ssh" || e.CLIPort != 2222 {
		t.Errorf("%+v", e)
	}
}

// What Write makes, Parse reads: every column comes back.
func TestWriteAndParse(t *testing.T) {
	want, problems := Parse("f", []byte(strings.Join(columnNames[:], ",")+"\n"+
		`90:94:e4:23:13:e0,192.0.2.1,,admin,"p,w",DGS-3650,1161,,u,sha,12345678,aes,87654321,r,w,dlink,ssh,2222`+"\n"+
		`90:94:e4:23:13:e1,192.0.2.2,,,,Open vSwitch,,,,,,,,,,switch-driver-ovs,,`+"\n"+
		`90:94:e4:23:13:e2,2001:db8::2,private,,only a password,M,,,,,,,,,,,telnet,`+"\n"))
	if len(problems) > 0 || len(want) != 3 || want[1].Version != NoSNMP || want[1].String() != "switch 90:94:e4:23:13:e1 (192.0.2.2)" {
		t.Fatal(problems, want)
	}
	var b strings.Builder
	if err := Write(&b, want, true); err != nil {
		t.Fatal(err)
	}
	got, problems := Parse("f", []byte(b.String()))
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" || len(problems) > 0 {
		t.Error(problems, d)
	}
	b.Reset()
	if err := Write(&b, want, false); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"p,w", "12345678", "87654321", "private", "only a password"} {
		if strings.Contains(b.String(), secret) {
			t.Errorf("without secrets there is %q", secret)
		}
	}
	got, problems = ParseWith(Options{Known: want}, "f", []byte(b.String()))
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" || len(problems) > 0 {
		t.Error("secrets are not taken from what is known:", problems, d)
	}
}

// Texts of aaa:seal-secret are opened, each once; one that does not open is reported with its
// line and column, and no text of a secret is in a problem.
func TestSealed(t *testing.T) {
	text := "MAC,IP,SNMP_Community,CLI_Username,CLI_Password,Model\n" +
		"90:94:e4:23:13:e0,10.0.0.1,{sealed}YQ==,admin,{sealed}cGxhaW4=,M\n" +
		"90:94:e4:23:13:e1,10.0.0.2,{sealed}YQ==,{sealed}YQ==,open,M\n" +
		"90:94:e4:23:13:e2,10.0.0.3,{sealed}other,admin,{sealed}another,M\n" +
		"90:94:e4:23:13:e3,10.0.0.4,{sealed}YQ==,admin,,M\n"
	asked := map[string]int{}
	open := func(s string) (string, error) {
		asked[s]++
		switch s {
		case "{sealed}YQ==":
			return "private", nil
		case "{sealed}cGxhaW4=":
			return "p,\"w", nil
		}
		return "", errors.New("not of this home; create it again with aaa:seal-secret")
	}
	got, problems := ParseWith(Options{Open: open}, "f", []byte(text))
	want := []string{"f:3: CLI_Username: a text of aaa:seal-secret may stand for a community or a password only",
		"f:4: SNMP_Community: the sealed text does not open: not of this home; create it again with aaa:seal-secret; CLI_Password: the sealed text does not open: not of this home; create it again with aaa:seal-secret"}
	if d := cmp.Diff(want, lines(problems)); d != "" {
		t.Error(d)
	}
	if len(got) != 2 || got[0].WriteCommunity != "private" || got[0].CLIPassword != "p,\"w" || got[1].ReadCommunity != "private" || asked["{sealed}YQ=="] != 1 {
		t.Errorf("%d switches, asked %v", len(got), asked)
	}
	if _, problems := Parse("f", []byte(text)); len(problems) != 4 || !strings.HasPrefix(problems[0].String(), "f:2: SNMP_Community: the sealed text does not open: no controller") {
		t.Errorf("without a key: %v", problems)
	}
	if _, l := (Info{IP: "10.0.0.1", MAC: "90:94:e4:23:13:e0", Community: "{sealed}YQ=="}).Entry(""); len(l) != 1 || l[0].Path != "community" {
		t.Errorf("in a request: %v", l)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(title + "90:94:e4:23:13:e0,10.0.0.1,private,admin,\"p,\"\"w\",M\n#x\n\n"))
	f.Add([]byte("\ufeffMAC,IP,Version\n\"\n,,,\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, problems := Parse("f", text)
		last, seen := 0, map[string]bool{}
		for _, e := range entries {
			if e.Line <= 1 || !e.MAC.Unicast() || !e.Address.IsValid() || e.Port == 0 {
				t.Fatalf("unusable switch %+v", e)
			}
			if seen[e.MAC.String()] {
				t.Fatalf("two switches with MAC %s", e.MAC)
			}
			seen[e.MAC.String()] = true
		}
		for _, p := range problems {
			if p.Line < last {
				t.Fatalf("problems out of order at %s", p)
			}
			last = p.Line
		}
	})
}

// A switch that is in the list under two MAC addresses is reported; switches behind one agent
// are asked with communities of their own, and bridges of one host not by SNMP.
func TestTwice(t *testing.T) {
	const title = "MAC,IP,SNMP_Community,CLI_Username,CLI_Password,Model,Port,Version,Driver\n02:00:00:00:00:01,192.0.2.1,c,,,m,,,\n"
	for line, want := range map[string]string{
		"02:00:00:00:00:02,192.0.2.1,c,,,m,,,":       "lab.csv:3: IP 192.0.2.1:161 stands in line 2 already, for 02:00:00:00:00:01",
		"02:00:00:00:00:02,192.0.2.1,c,,,m,161,2c,":  "lab.csv:3: IP 192.0.2.1:161 stands in line 2 already, for 02:00:00:00:00:01",
		"02:00:00:00:00:02,192.0.2.1,c,,,m,162,,":    "",
		"02:00:00:00:00:02,192.0.2.1,d,,,m,,,":       "",
		"02:00:00:00:00:02,192.0.2.1,c,,,m,,none,x":  "",
		"02:00:00:00:00:01,192.0.2.1,c,,,m,,,":       "lab.csv:3: MAC",
		"02:00:00:00:00:02,192.0.2.2,c,,,m,,,\n\n\n": "",
	} {
		entries, problems := Parse("lab.csv", []byte(title+line+"\n"))
		text := ""
		for _, p := range problems {
			text += p.String() + "\n"
		}
		if want == "" && text != "" || !strings.HasPrefix(text, want) || strings.Count(text, "\n") > 1 || len(entries) == 0 {
			t.Errorf("%s: %q, want %q", line, text, want)
		}
	}
}

// What a row says of contexts and of the address of answers is what drivers get, and is written again.
func TestRowsReachDrivers(t *testing.T) {
	got, problems := Parse("f", []byte("MAC,IP,SNMP_Community,V3_User,V3_Context,V3_Bridge_Context,Answers_From\n90:94:e4:23:13:e0,10.0.0.1,,ops,all,bridge-0,10.0.0.7\n"))
	if len(got) != 1 || len(problems) > 0 {
		t.Fatal(got, problems)
	}
	var b strings.Builder
	if err := Write(&b, got, true); err != nil {
		t.Fatal(err)
	}
	again, problems := Parse("f", []byte(b.String()))
	if len(again) != 1 || len(problems) > 0 {
		t.Fatal(again, problems)
	}
	if a := again[0].Switch().Snmp; a.Context != "all" || a.BridgeContext != "bridge-0" || a.AnswersFrom != "10.0.0.7" {
		t.Errorf("a driver gets %v", a)
	}
}
