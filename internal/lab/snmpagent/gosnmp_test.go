package snmpagent_test

import (
	"testing"

	"github.com/gosnmp/gosnmp"

	"ctl.internal/internal/lab/snmpagent"
	"ctl.internal/internal/lab/snmpwire"
)

// v3 makes an agent with one user, and a client of that user.
func v3(t *testing.T, auth gosnmp.SnmpV3AuthProtocol, priv gosnmp.SnmpV3PrivProtocol) *gosnmp.GoSNMP {
	t.Helper()
	user, err := snmpwire.NewUser("ops", auth, "authpass123", priv, "privpass123")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, snmpagent.Config{MIB: newToy(60).mib(), Users: []*snmpwire.User{user}, EngineID: []byte{0x80, 1, 0x86, 0x9f, 3, 2, 0, 0, 0, 0, 1}})
	return client(t, s, func(g *gosnmp.GoSNMP) { asV3(g, auth, priv) })
}

func asV3(g *gosnmp.GoSNMP, auth gosnmp.SnmpV3AuthProtocol, priv gosnmp.SnmpV3PrivProtocol) {
	g.Version, g.SecurityModel = gosnmp.Version3, gosnmp.UserSecurityModel
	g.MsgFlags = gosnmp.NoAuthNoPriv
	p := &gosnmp.UsmSecurityParameters{UserName: "ops", AuthenticationProtocol: auth, PrivacyProtocol: priv}
	if auth != gosnmp.NoAuth {
		g.MsgFlags, p.AuthenticationPassphrase = gosnmp.AuthNoPriv, "authpass123"
	}
	if priv != gosnmp.NoPriv {
		g.MsgFlags, p.PrivacyPassphrase = gosnmp.AuthPriv, "privpass123"
	}
	g.SecurityParameters = p
}

// Every pair of protocols that gosnmp knows works against the agent.
func TestGosnmpV3(t *testing.T) {
	for auth := gosnmp.NoAuth; auth <= gosnmp.SHA512; auth++ {
		for priv := gosnmp.NoPriv; priv <= gosnmp.AES256C; priv++ {
			if auth == gosnmp.NoAuth && priv != gosnmp.NoPriv {
				continue
			}
			t.Run(auth.String()+" "+priv.String(), func(t *testing.T) {
				t.Parallel()
				g := v3(t, auth, priv)
				list, err := g.BulkWalkAll(row + "1")
				if err != nil || len(list) != 60 {
					t.Fatalf("walk: %d rows, %v", len(list), err)
				}
				r, err := g.Set([]gosnmp.SnmpPDU{{Name: row + "1.7", Type: gosnmp.Integer, Value: 77}})
				if err != nil || r.Error != gosnmp.NoError {
					t.Fatalf("set: %v, %v", r, err)
				}
				r, err = g.Get([]string{row + "1.7"})
				if err != nil || r.Variables[0].Value != 77 {
					t.Fatalf("get: %v, %v", r, err)
				}
			})
		}
	}
}

func TestGosnmpV3Refused(t *testing.T) {
	for name, spoil := range map[string]func(p *gosnmp.UsmSecurityParameters){
		"wrong user":             func(p *gosnmp.UsmSecurityParameters) { p.UserName = "eve" },
		"wrong authentication":   func(p *gosnmp.UsmSecurityParameters) { p.AuthenticationPassphrase = "something else" },
		"wrong digest algorithm": func(p *gosnmp.UsmSecurityParameters) { p.AuthenticationProtocol = gosnmp.SHA512 },
	} {
		g := v3(t, gosnmp.SHA256, gosnmp.AES)
		spoil(g.SecurityParameters.(*gosnmp.UsmSecurityParameters))
		if _, err := g.Get([]string{row + "1.1"}); err == nil {
			t.Errorf("%s: the request is answered", name)
		}
	}
}

func TestGosnmpWalks(t *testing.T) {
	s := serve(t, snmpagent.Config{MIB: newToy(300).mib(), ReadCommunity: "public", WriteCommunity: "private"})
	g := client(t, s, nil)
	bulk, err := g.BulkWalkAll("1.3")
	if err != nil {
		t.Fatal(err)
	}
	next, err := g.WalkAll("1.3")
	if err != nil {
		t.Fatal(err)
	}
	if len(bulk) != 900 || len(next) != 900 {
		t.Errorf("GETBULK walks %d, GETNEXT %d instances, want 900", len(bulk), len(next))
	}
}
