package vendorfile

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/internal/switchcli"
	"ctl.internal/sdk/fault"
)

const sample = `<?xml version="1.0" encoding="UTF-8"?>
<!-- two makes -->
<VsConfig>
  <SwitchConfig>
    <model>D-Link_DGS-1510-28X</model>
    <port_number>28</port_number>
    <vlan_port_list_value_hex_string_length>96</vlan_port_list_value_hex_string_length>
    <FunctionConfig>
      <function_name>add_vlan_and_set_port</function_name>
      <channel>snmp</channel>
      <commands_with_items_in_order>
        <command>${vlan_create}$</command>
        <command>${vlan_name}$ ${egress_ports}$ ${untagged_ports}$</command>
      </commands_with_items_in_order>
    </FunctionConfig>
  </SwitchConfig>
  <SwitchConfig>
    <model>Dell_PowerConnect-5548</model>
    <login>
      <channel>telnet</channel>
      <prompt_in_order>
        <prompt><order>2</order><prompt_string>console&gt; </prompt_string><send_string>enable</send_string></prompt>
        <prompt><order>1</order><prompt_string>Password:</prompt_string><send_string>${password}$</send_string></prompt>
        <prompt><order>3</order><prompt_string>console# </prompt_string><send_string></send_string></prompt>
      </prompt_in_order>
    </login>
    <FunctionConfig>
      <function_name>set_acl_rule</function_name>
      <channel>telnet</channel>
      <layer>ip</layer>
      <permit_tag>allow</permit_tag>
      <commands_with_items_in_order>
        <level>
          <command>configure</command>
          <level>
            <command>acl ${profile_id}$</command>
            <command>rule ${rule_id}$ ${action}$ {vlan ${vlan_id}$} [from ${src_ip}$|to ${dst_ip}$]</command>
            <leave>quit</leave>
          </level>
        </level>
      </commands_with_items_in_order>
    </FunctionConfig>
  </SwitchConfig>
</VsConfig>
`

func TestParse(t *testing.T) {
	f := Parse("v.xml", []byte(sample))
	if len(f.Problems) > 0 {
		t.Fatal(f.Problems)
	}
	m := f.Models["D-Link_DGS-1510-28X"]
	if m == nil || m.Ports != 28 || m.ListDigits != 96 {
		t.Fatalf("%+v", m)
	}
	got := m.Function(AddVLANAndSetPort, "").SETs
	if d := cmp.Diff([]string{"vlan_create"}, got[0]); d != "" || len(got) != 2 || len(got[1]) != 3 {
		t.Errorf("commands %+v", got)
	}
	dell := f.Models["Dell_PowerConnect-5548"]
	want := []switchcli.Step{{Prompt: "Password:", Send: "${password}$"}, {Prompt: "console>", Send: "enable"}, {Prompt: "console#"}}
	if d := cmp.Diff(want, dell.Login.Login); d != "" {
		t.Error(d)
	}
	rule := dell.Function(SetACLRule, "ip")
	if rule == nil || dell.Function(SetACLRule, "mac") != nil || rule.Permit != "allow" || rule.Deny != "deny" {
		t.Fatalf("%+v", rule)
	}
	values := map[string]Value{"profile_id": {"1", "profile-id"}, "rule_id": {"2", "rule-id"}, "action": {"allow", ""}, "dst_ip": {"10.0.0.1", "dst-ip"}}
	var lines []string
	for _, c := range rule.Commands {
		l, err := c.Template.Expand(values)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if d := cmp.Diff([]string{"configure", "acl 1", "rule 2 allow to 10.0.0.1", "quit", "exit"}, lines); d != "" {
		t.Error(d)
	}
}

// Every fault has its line, and spoils no more than it must.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"<port_number>28<", "<port_number>x<", `6: <port_number> is "x"`},
		{"<port_number>28<", "<port_number>999<", `4: 96 hexadecimal digits are not enough for 999 ports`},
		{">96<", ">95<", "4: vlan_port_list_value_hex_string_length is 95"},
		{"<port_number>28</port_number>", "<portnumber>28</portnumber>", `6: <portnumber> is not allowed in <SwitchConfig>, which has model, port_number, vlan_port_list_value_hex_string_length, login, FunctionConfig (did you mean "port_number"?)`},
		{"<channel>snmp<", "<channel>carrier<", `10: <channel> is "carrier"`},
		{"${vlan_create}$<", "${vlan_made}$<", "12: unknown tag ${vlan_made}$"},
		{"<command>${vlan_create}$</command>\n", "\n", "13: the first command does not create the VLAN"},
		{"${egress_ports}$ ${untagged_ports}$", "${egress_ports}$", "11: ${untagged_ports}$ is 0 times"},
		{"<function_name>add_vlan_and_set_port<", "<function_name>add_vlan_and_set_ports<", `8: unknown function "add_vlan_and_set_ports"`},
		{"<order>2</order>", "<order>1</order>", "23: <prompt> needs a unique <order>"},
		{"${password}$", "${passwd}$", "23: send_string: unknown tag"},
		{"<model>Dell_PowerConnect-5548</model>", "", "17: <SwitchConfig> has no <model>"},
		{"<model>Dell_PowerConnect-5548</model>", "<model>D-Link_DGS-1510-28X</model>", "is already described in line 4"},
		{"[from", "from", "37: ] closes nothing"},
		{"{vlan ${vlan_id}$}", "{vlan ${vlan_id}$", "37: a } is missing"},
		{"<VsConfig>", `<VsConfig a="b">`, "3: <VsConfig> has an attribute"},
		{"<!-- two makes -->", `<!DOCTYPE x [<!ENTITY a "aaaa">]>`, "2: a document type"},
		{"</VsConfig>", "", "45: unexpected EOF"},
		{"<VsConfig>", "<Config>", "3: the root element is <Config>"},
	} {
		text := strings.Replace(sample, c.from, c.to, 1)
		if c.from == "<VsConfig>" && c.to == "<Config>" {
			text = strings.Replace(text, "</VsConfig>", "</Config>", 1)
		}
		f := Parse("v.xml", []byte(text))
		if len(f.Problems) == 0 || !strings.Contains(fmt.Sprint(f.Problems), c.want) {
			t.Errorf("%q → %q: %v\nwant %s", c.from, c.to, f.Problems, c.want)
		}
	}
	f := Parse("v.xml", []byte(strings.Replace(sample, "[from", "from", 1)))
	if f.Models["D-Link_DGS-1510-28X"] == nil || len(f.Models["Dell_PowerConnect-5548"].Functions) != 0 || len(f.Models["Dell_PowerConnect-5548"].Login.Login) != 3 {
		t.Error("a bad function spoils more than itself")
	}
}

func TestTemplate(t *testing.T) {
	const acl = "create access_profile profile_id ${profile_id}$ profile_name ${profile_name}$ [ethernet vlan ${vlan_mask}$|ip {source_ip_mask ${src_ip_mask}$} {destination_ip_mask ${dst_ip_mask}$}]"
	tags := describedFunctions()[CreateACLProfile].tags
	tmpl, err := parseTemplate(acl, tags)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		values map[string]Value
		want   string
	}{
		{map[string]Value{"profile_id": {"1", "a"}, "profile_name": {"p", "b"}, "vlan_mask": {"0x0fff", "c"}}, "create access_profile profile_id 1 profile_name p ethernet vlan 0x0fff"},
		{map[string]Value{"profile_id": {"1", "a"}, "profile_name": {"p", "b"}, "dst_ip_mask": {"255.0.0.0", "c"}}, "create access_profile profile_id 1 profile_name p ip destination_ip_mask 255.0.0.0"},
	} {
		if got, err := tmpl.Expand(c.values); err != nil || got != c.want {
			t.Errorf("%q %v", got, err)
		}
	}
	if _, err := tmpl.Expand(map[string]Value{"profile_id": {"1", "a"}}); err == nil {
		t.Error("a missing value was not missed")
	}
	_, err = tmpl.Expand(map[string]Value{"profile_id": {"1", "a"}, "profile_name": {"p\nreboot", "profile-name"}, "vlan_mask": {"0x0fff", "c"}})
	if !errors.Is(err, &fault.Error{Kind: fault.Invalid}) || !strings.Contains(err.Error(), "profile-name") {
		t.Errorf("a second command: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("<VsConfig><SwitchConfig><model>a</model></SwitchConfig></VsConfig>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, m := range Parse("f", text).Models {
			if name != m.Name || name == "" {
				t.Errorf("%q %q", name, m.Name)
			}
			for _, fn := range m.Functions {
				if fn.Channel == SNMP {
					continue
				}
				values := map[string]Value{}
				for _, tag := range describedFunctions()[fn.Name].tags {
					values[tag] = Value{"1", tag}
				}
				for _, c := range fn.Commands {
					if line, err := c.Template.Expand(values); err == nil && strings.ContainsAny(line, "\r\n?") {
						t.Errorf("%q", line)
					}
				}
			}
		}
	})
}

// An element that is not known drops only itself, and all faults of a file are reported at once.
func TestUnknownElements(t *testing.T) {
	text := strings.Replace(sample, "<port_number>28</port_number>", "<portnumber>28</portnumber>", 1)
	f := Parse("v.xml", []byte(text))
	if m := f.Models["D-Link_DGS-1510-28X"]; len(f.Problems) != 1 || m == nil || len(m.Functions) == 0 {
		t.Errorf("%v, %+v", f.Problems, m)
	}
	text = strings.Replace(sample, "<port_number>28<", "<port_number>x<", 1)
	text = strings.Replace(text, "${vlan_create}$<", "${vlan_made}$<", 1)
	f = Parse("v.xml", []byte(text))
	if all := fmt.Sprint(f.Problems); f.Models["D-Link_DGS-1510-28X"] != nil || !strings.Contains(all, "<port_number>") || !strings.Contains(all, "${vlan_made}$") {
		t.Errorf("%v", f.Problems)
	}
}
