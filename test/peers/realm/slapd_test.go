//go:build peers

package realmpeers

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	goldap "github.com/go-ldap/ldap/v3"

	"ctl.internal/sdk/plugintest/reserve"
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
	dir := reserve.Dir(t, "ctl-slapd")
	conf := write(t, filepath.Join(dir, "slapd.conf"), fmt.Sprintf(`include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
moduleload ppolicy
TLSCertificateFile %s
TLSCertificateKeyFile %s
referral ldap://elsewhere.lab.test
database mdb
maxsize 268435456
suffix "dc=lab,dc=test"
rootdn "cn=admin,dc=lab,dc=test"
rootpw adminpw
directory %s
dbnosync
index uid eq
index member eq
index objectClass eq
access to attrs=userPassword by anonymous auth by * none
access to * by users read
overlay memberof
overlay ppolicy
ppolicy_default "cn=policy,dc=lab,dc=test"
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
var odd = []string{"a,b", "a=b", "(paren)", "star*", `back\slash`, "plus+", `quo"te`, "#hash", "semi;colon", "ünï", "<angle>", "a b", " before", "after "}

// oddPassword is the password of an odd name, with blanks at both ends.
func oddPassword(name string) string { return " p:" + name + "\x00()*\\,=+\"<>;# " }

// dn is the name of a person's entry.
func dn(uid string) string { return "uid=" + goldap.EscapeDN(uid) + ",ou=People,dc=lab,dc=test" }

func ldif(many int) string {
	var b strings.Builder
	line := func(name, value string) {
		fmt.Fprintf(&b, "%s:: %s\n", name, base64.StdEncoding.EncodeToString([]byte(value)))
	}
	b.WriteString("dn: dc=lab,dc=test\nobjectClass: dcObject\nobjectClass: organization\no: lab\n\ndn: ou=People,dc=lab,dc=test\nobjectClass: organizationalUnit\n\n" +
		"dn: ou=Groups,dc=lab,dc=test\nobjectClass: organizationalUnit\n\n" +
		"dn: cn=policy,dc=lab,dc=test\nobjectClass: device\nobjectClass: pwdPolicy\npwdAttribute: userPassword\npwdLockout: TRUE\npwdMaxFailure: 10000\npwdMustChange: TRUE\n\n" +
		"dn: cn=short,dc=lab,dc=test\nobjectClass: device\nobjectClass: pwdPolicy\npwdAttribute: userPassword\npwdMaxAge: 60\n\n")
	person := func(uid, password, title, more string) {
		line("dn", dn(uid))
		b.WriteString("objectClass: inetOrgPerson\nsn: x\ncn: x\n")
		line("uid", uid)
		line("title", title)
		line("userPassword", password)
		b.WriteString(more + "\n")
	}
	person("alice", "alicepw", "boss", "")
	person("bob", "bobpw", "clerk", "")
	person("off", "offpw", "boss", "pwdAccountLockedTime: 000001010000Z\n") // locked for good
	person("reset", "resetpw", "boss", "pwdReset: TRUE\n")
	person("expired", "expiredpw", "boss", "pwdChangedTime: 20000101000000Z\npwdPolicySubentry: cn=short,dc=lab,dc=test\n")
	for _, name := range odd {
		person(name, oddPassword(name), "boss", "")
	}
	// Both are kept by another server.
	b.WriteString("dn: uid=moved,ou=People,dc=lab,dc=test\nobjectClass: referral\nobjectClass: extensibleObject\nuid: moved\n" +
		"ref: ldap://moved.lab.test/uid=moved,ou=People,dc=lab,dc=test\n\n" +
		"dn: ou=Branch,dc=lab,dc=test\nobjectClass: referral\nobjectClass: extensibleObject\nou: Branch\nref: ldap://branch.lab.test/ou=Branch,dc=lab,dc=test\n\n")
	for i := range many {
		person(fmt.Sprintf("user%05d", i), fmt.Sprintf("pw%05d", i), "clerk", "")
	}
	return b.String()
}

// addGroups makes the group ops, with memberOf at its members: alice and the odd ones.
func (s *slapd) addGroups(t *testing.T) {
	t.Helper()
	c, err := goldap.DialURL(s.plain)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Bind("cn=admin,dc=lab,dc=test", "adminpw"); err != nil {
		t.Fatal(err)
	}
	members := []string{dn("alice"), dn("off")}
	for _, name := range odd {
		members = append(members, dn(name))
	}
	for group, members := range map[string][]string{"ops": members, "staff": {dn("bob"), dn("alice")}} {
		add := goldap.NewAddRequest("cn="+group+",ou=Groups,dc=lab,dc=test", nil)
		add.Attribute("objectClass", []string{"groupOfNames"})
		add.Attribute("cn", []string{group})
		add.Attribute("member", members)
		if err := c.Add(add); err != nil {
			t.Fatal(err)
		}
	}
}

// patience is how long a realm waits for its server where no test is of that, in
// milliseconds: the machine may be busy.
const patience = "60000"

// ldapINI is a realm at a server; more is further lines, of which a later one counts
// for an earlier one.
func ldapINI(url, more string) map[string]string {
	lines := map[string]string{
		"userDnTemplate": "uid={0},ou=People,dc=lab,dc=test", "contextFactory.url": url, "searchBase": "dc=lab,dc=test",
		"timeout": patience, "connectTimeout": patience, "ldapAttributeForComparison": "title", "groupRolesMap": `"boss":"admin,user", "clerk":"user"`,
	}
	for line := range strings.SplitSeq(more, "\n") {
		if name, value, found := strings.Cut(line, " = "); found {
			lines[name] = value
		}
	}
	text := "ldapRealm = org.ctl.aaa.sec.realm.CtlJndiLdapRealm\n"
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		text += "ldapRealm." + name + " = " + lines[name] + "\n"
	}
	return secini(text, "$ldapRealm")
}

var people = []loginCase{
	{"right", "alice", "alicepw", 200, 200},
	{"right, fewer rights", "bob", "bobpw", 200, 401},
	{"wrong", "alice", "bobpw", 401, 401},
	{"empty", "alice", "", 401, 401},
	{"unknown", "carol", "alicepw", 401, 401},
	{"disabled", "off", "offpw", 401, 401},
	{"wild card", "*", "alicepw", 401, 401},
	{"NUL", "alice\x00", "alicepw", 401, 401},
	{"injection", "bob)(uid=alice", "bobpw", 401, 401},
	{"injection into the DN", "bob,ou=People", "bobpw", 401, 401},
	{"one of many", "user09999", "pw09999", 200, 401},
	{"a user of the first realm", "admin", "admin", 200, 200},
}

func TestSlapd(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 10_000)
	s.addGroups(t)
	cases := append(slices.Clone(people), loginCase{"to be changed", "reset", "resetpw", 401, 401}, loginCase{"expired", "expired", "expiredpw", 401, 401})
	for _, name := range odd {
		cases = append(cases, loginCase{"odd", name, oddPassword(name), 200, 200}, loginCase{"odd, wrong", name, "p:" + name, 401, 401},
			loginCase{"odd, blanks cut off", name, strings.TrimSpace(oddPassword(name)), 401, 401})
	}
	const system = "\ncontextFactory.systemUsername = \"cn=admin,dc=lab,dc=test\"\ncontextFactory.systemPassword = adminpw"
	for name, more := range map[string]string{
		"plain":            "",
		"StartTLS":         "startTLS = true",
		"LDAPS":            "contextFactory.url = " + s.secure,
		"memberOf":         "ldapAttributeForComparison = memberOf\ngroupRolesMap = \"cn=ops,ou=Groups,dc=lab,dc=test\":\"admin\"",
		"groups by member": "searchFilter = \"(&(objectClass=groupOfNames)(member={1}))\"\nldapAttributeForComparison = cn\ngroupRolesMap = ops:admin" + system,
	} {
		t.Run(name, func(t *testing.T) {
			files := ldapINI(s.plain, more)
			secure := name == "StartTLS" || name == "LDAPS"
			if secure {
				files = keystores(t, files)
			}
			c := harness.Start(t, bin, files)
			c.Ctl("feature:install ctl-realm-ldap ctl-aaa-cert")
			if secure { // not trusted, then trusted, and nothing is started again
				logins(t, c, []loginCase{{"not trusted yet", "alice", "alicepw", 503, 503}, {"local", "admin", "admin", 200, 200}})
				toldWhy(t, c, "x509")
				trust(t, c, cert)
			}
			logins(t, c, cases)
		})
	}
}

func TestUsersOfARealmWithoutRolesHaveNone(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 0)
	files := ldapINI(s.plain, "")
	files["sec.ini"] = strings.Replace(files["sec.ini"], "realm.CtlJndiLdapRealm", "realm.CtlJndiLdapRealmAuthNOnly", 1)
	c := harness.Start(t, bin, files)
	c.Ctl("feature:install ctl-realm-ldap")
	logins(t, c, []loginCase{{"no role", "alice", "alicepw", 200, 401}, {"wrong", "alice", "x", 401, 401}})
}
