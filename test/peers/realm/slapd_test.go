//go:build peers

package realmpeers

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	goldap "github.com/go-ldap/ldap/v3"

	"ctl.internal/test/harness"
)

type slapd struct {
	*daemon
	plain, secure string
	conf          []string
}

// startSlapd runs an OpenLDAP server with people of odd names and many ordinary ones.
func startSlapd(t *testing.T, cert, key string, many int) *slapd {
	t.Helper()
	server, add := program(t, "slapd"), program(t, "slapadd")
	dir := t.TempDir()
	conf := write(t, filepath.Join(dir, "slapd.conf"), fmt.Sprintf(`include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile %s
TLSCertificateKeyFile %s
database mdb
maxsize 268435456
suffix "dc=lab,dc=test"
rootdn "cn=admin,dc=lab,dc=test"
rootpw adminpw
directory %s
index uid eq
index objectClass eq
access to attrs=userPassword by anonymous auth by * none
access to * by users read
`, cert, key, dir))
	must(t, nil, add, "-q", "-f", conf, "-l", write(t, filepath.Join(dir, "seed.ldif"), ldif(many)))
	s := &slapd{plain: fmt.Sprintf("ldap://127.0.0.1:%d", free(t)), secure: fmt.Sprintf("ldaps://127.0.0.1:%d", free(t))}
	s.conf = []string{server, "-d", "0", "-f", conf, "-h", s.plain + "/ " + s.secure + "/"}
	s.start(t)
	return s
}

func (s *slapd) start(t *testing.T) {
	t.Helper()
	s.daemon = serve(t, strings.TrimPrefix(s.plain, "ldap://"), nil, s.conf[0], s.conf[1:]...)
}

// odd are names and passwords that a careless client gets wrong.
var odd = []string{"a,b", "a=b", "(paren)", "star*", `back\slash`, "plus+", `quo"te`, "#hash", "semi;colon", "ünï", "<angle>", "a b"}

func ldif(many int) string {
	var b strings.Builder
	line := func(name, value string) {
		fmt.Fprintf(&b, "%s:: %s\n", name, base64.StdEncoding.EncodeToString([]byte(value)))
	}
	b.WriteString("dn: dc=lab,dc=test\nobjectClass: dcObject\nobjectClass: organization\no: lab\n\ndn: ou=People,dc=lab,dc=test\nobjectClass: organizationalUnit\n\n")
	person := func(uid, password, title string) {
		line("dn", "uid="+goldap.EscapeDN(uid)+",ou=People,dc=lab,dc=test")
		b.WriteString("objectClass: inetOrgPerson\nsn: x\ncn: x\n")
		line("uid", uid)
		line("title", title)
		line("userPassword", password)
		b.WriteString("\n")
	}
	person("alice", "alicepw", "boss")
	person("bob", "bobpw", "clerk")
	for _, name := range odd {
		person(name, "p:"+name+"\x00,=", "boss")
	}
	for i := range many {
		person(fmt.Sprintf("user%05d", i), fmt.Sprintf("pw%05d", i), "clerk")
	}
	return b.String()
}

func ldapINI(url, more string) map[string]string {
	return secini(`ldapRealm = org.ctl.aaa.sec.realm.CtlJndiLdapRealm
ldapRealm.userDnTemplate = uid={0},ou=People,dc=lab,dc=test
ldapRealm.contextFactory.url = `+url+`
ldapRealm.searchBase = dc=lab,dc=test
ldapRealm.ldapAttributeForComparison = title
ldapRealm.groupRolesMap = "boss":"admin,user", "clerk":"user"
`+more, "$ldapRealm")
}

var people = []loginCase{
	{"right", "alice", "alicepw", 200, 200},
	{"right, fewer rights", "bob", "bobpw", 200, 401},
	{"wrong", "alice", "bobpw", 401, 401},
	{"empty", "alice", "", 401, 401},
	{"unknown", "carol", "alicepw", 401, 401},
	{"wild card", "*", "alicepw", 401, 401},
	{"injection", "bob)(uid=alice", "bobpw", 401, 401},
	{"one of many", "user09999", "pw09999", 200, 401},
	{"a user of the first realm", "admin", "admin", 200, 200},
}

func TestSlapd(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 10_000)
	cases := people
	for _, name := range odd {
		cases = append(cases, loginCase{"odd", name, "p:" + name + "\x00,=", 200, 200}, loginCase{"odd, wrong", name, "p:" + name, 401, 401})
	}
	for name, k := range map[string]struct{ url, more string }{
		"plain": {s.plain, ""}, "StartTLS": {s.plain, "ldapRealm.startTLS = true"}, "LDAPS": {s.secure, ""},
		"system account": {s.plain, "ldapRealm.contextFactory.systemUsername = \"cn=admin,dc=lab,dc=test\"\nldapRealm.contextFactory.systemPassword = adminpw"},
	} {
		t.Run(name, func(t *testing.T) {
			c := harness.Start(t, bin, ldapINI(k.url, k.more), "SSL_CERT_FILE="+cert)
			c.Ctl("feature:install ctl-realm-ldap")
			logins(t, c, cases)
		})
	}
}

func TestSlapdIsNotWhoItShouldBe(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	other, _ := certificate(t, "127.0.0.1")
	wrongName, wrongKey := certificate(t, "127.0.0.9")
	for name, k := range map[string]struct{ cert, key, trusted string }{"unknown signer": {cert, key, other}, "wrong name": {wrongName, wrongKey, wrongName}} {
		t.Run(name, func(t *testing.T) {
			s := startSlapd(t, k.cert, k.key, 0)
			c := harness.Start(t, bin, ldapINI(s.secure, ""), "SSL_CERT_FILE="+k.trusted)
			c.Ctl("feature:install ctl-realm-ldap")
			logins(t, c, []loginCase{{"right", "alice", "alicepw", 401, 401}, {"local", "admin", "admin", 200, 200}})
			if log := c.Log(); !strings.Contains(log, "a realm cannot be asked") || !strings.Contains(log, "x509") {
				t.Error("the log does not tell why")
			}
		})
	}
}

func TestSlapdGoesAndComes(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 0)
	c := harness.Start(t, bin, ldapINI(s.plain, ""))
	c.Ctl("feature:install ctl-realm-ldap")
	right := []loginCase{{"right", "alice", "alicepw", 200, 200}}
	logins(t, c, right)
	s.kill()
	logins(t, c, []loginCase{{"not cached, server down", "bob", "bobpw", 401, 401}, {"local", "admin", "admin", 200, 200}})
	s.start(t)
	logins(t, c, append(right, loginCase{"not kept as a refusal", "bob", "bobpw", 200, 401}))
}
