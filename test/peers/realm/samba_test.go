//go:build peers

package realmpeers

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

// sambaIP is an address of the test's own: the ports of a domain controller are fixed.
func sambaIP(t *testing.T) string {
	t.Helper()
	n := reserve.Number(t, "samba", 256, 65_000)
	return fmt.Sprintf("127.77.%d.%d", n>>8, n&0xff)
}

// startSamba runs a domain controller of ad.lab.test.
func startSamba(t *testing.T, sambaIP, cert, key string) (conf string, d *daemon) {
	t.Helper()
	tool := program(t, "samba-tool")
	program(t, "samba")
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: the peer samba cannot be started: its fixed ports need root")
	}
	dir := reserve.Dir(t, "dc")
	must(t, nil, tool, "domain", "provision", "--realm=AD.LAB.TEST", "--domain=LAB", "--adminpass=Passw0rd!lab", "--server-role=dc",
		"--dns-backend=NONE", "--use-rfc2307", "--targetdir="+dir+"/dc", "--host-name=dc1", "--host-ip="+sambaIP,
		"--option=interfaces=lo", "--option=bind interfaces only=yes", "--option=vfs objects=acl_xattr dfs_samba4")
	shipped, err := os.ReadFile(dir + "/dc/etc/smb.conf")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.SplitSeq(string(shipped), "\n") {
		if key, _, _ := strings.Cut(strings.TrimSpace(line), " ="); key == "interfaces" || key == "server services" {
			continue
		}
		lines = append(lines, line)
		if strings.TrimSpace(line) == "[global]" {
			lines = append(lines, "interfaces = "+sambaIP+"/8", "server services = ldap", "ldap server require strong auth = no", "pid directory = "+dir,
				"log file = "+dir+"/log", "tls enabled = yes", "tls keyfile = "+key, "tls certfile = "+cert, "tls cafile = "+cert, "prefork children = 1")
		}
	}
	conf = write(t, filepath.Join(dir, "smb.conf"), strings.Join(lines, "\n"))
	must(t, nil, tool, "user", "create", "alice", "Alice!pw0", "-s", conf)
	must(t, nil, tool, "user", "create", "bob", "Bob!pw00", "-s", conf)
	must(t, nil, tool, "user", "create", "off", "Off!pw00", "-s", conf)
	must(t, nil, tool, "user", "disable", "off", "-s", conf)
	must(t, nil, tool, "group", "add", "ops", "-s", conf)
	must(t, nil, tool, "group", "add", "lab-admins", "-s", conf)
	must(t, nil, tool, "group", "addmembers", "ops", "alice", "-s", conf)
	must(t, nil, tool, "group", "addmembers", "lab-admins", "ops", "-s", conf)
	return conf, serveSamba(t, sambaIP, conf)
}

func serveSamba(t *testing.T, sambaIP, conf string) *daemon {
	t.Helper()
	return serve(t, sambaIP+":636", nil, program(t, "samba"), "-F", "--no-process-group", "-s", conf)
}

func directoryINI(url, more string) map[string]string {
	return uncached(secini(`adRealm = org.ctl.aaa.sec.realm.CtlDirectoryRealm
adRealm.url = `+url+`
adRealm.timeout = `+patience+`
adRealm.connectTimeout = `+patience+`
adRealm.principalSuffix = @ad.lab.test
adRealm.groupRolesMap = "CN=lab-admins,CN=Users,DC=ad,DC=lab,DC=test":"admin"
`+more, "$adRealm"))
}

func TestSambaAsADirectoryService(t *testing.T) {
	t.Parallel()
	ip := sambaIP(t)
	cert, key := certificate(t, ip)
	conf, server := startSamba(t, ip, cert, key)
	cases := []loginCase{
		{"admin by a nested group", "alice", "Alice!pw0", 200, 200},
		{"full name", "alice@ad.lab.test", "Alice!pw0", 200, 200},
		{"by the old name", `LAB\alice`, "Alice!pw0", 200, 200},
		{"in no group", "bob", "Bob!pw00", 200, 401},
		{"wrong", "alice", "Bob!pw00", 401, 401},
		{"unknown", "eve", "Bob!pw00", 401, 401},
		{"wrong domain", "alice@nowhere.test", "Alice!pw0", 401, 401},
		{"disabled", "off", "Off!pw00", 401, 401},
		{"empty", "alice", "", 401, 401},
		{"wild card", "*", "Alice!pw0", 401, 401},
		{"local", "admin", "admin", 200, 200},
	}
	down := []loginCase{{"down", "alice", "Alice!pw0", 503, 503}, {"local", "admin", "admin", 200, 200}}
	var controllers []*harness.Controller
	for name, files := range map[string]map[string]string{
		"LDAPS": directoryINI("ldaps://"+ip, ""), "StartTLS": directoryINI("ldap://"+ip, "adRealm.startTLS = true"),
	} {
		c := harness.Start(t, bin, keystores(t, files))
		controllers = append(controllers, c)
		t.Run(name, func(t *testing.T) {
			c.Ctl("feature:install ctl-realm-directory ctl-aaa-cert")
			logins(t, c, down)
			toldWhy(t, c, "x509")
			trust(t, c, cert)
			logins(t, c, cases)
		})
	}
	// A third that does not wait as long as those, without encryption.
	hasty := directoryINI("ldap://"+ip, "")
	hasty["sec.ini"] = regexp.MustCompile(`(?m)^adRealm\.timeout.*\n`).ReplaceAllString(hasty["sec.ini"], "")
	hasty["sec.ini"] = strings.Replace(hasty["sec.ini"], "adRealm.url", "adRealm.timeout = 5000\nadRealm.url", 1)
	h := harness.Start(t, bin, hasty)
	h.Ctl("feature:install ctl-realm-directory")
	eventually(t, h, "alice", "Alice!pw0", 200)
	server.pauseAll(t)
	logins(t, h, []loginCase{{"frozen", "alice", "Alice!pw0", 503, 503}, {"local", "admin", "admin", 200, 200}})
	server.resumeAll(t)
	eventually(t, h, "alice", "Alice!pw0", 200)
	whileTheyLogIn(t, controllers[0], "alice", "Alice!pw0", func() {
		server.kill()
		server = serveSamba(t, ip, conf)
		eventually(t, controllers[0], "bob", "Bob!pw00", 200)
	})
	logins(t, controllers[0], cases)
	server.kill()
	for _, c := range controllers {
		eventually(t, c, "alice", "Alice!pw0", 503) // its children may serve a moment longer
		logins(t, c, down)
	}
}
