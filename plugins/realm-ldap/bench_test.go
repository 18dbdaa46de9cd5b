//go:build peers

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	goldap "github.com/go-ldap/ldap/v3"

	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/realm"
)

// BenchmarkLogins compares logins through the plugin, gRPC included, with the bare
// client library doing bind and search, eight at a time at the same slapd.
func BenchmarkLogins(b *testing.B) {
	url := slapd(b)
	b.Run("bare", func(b *testing.B) {
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			c, err := goldap.DialURL(url)
			if err != nil {
				b.Error(err)
				return
			}
			defer c.Close()
			for pb.Next() {
				if err := c.Bind("uid=alice,dc=x", "pw"); err != nil {
					b.Error(err)
				}
				r, err := c.Search(goldap.NewSearchRequest("dc=x", goldap.ScopeWholeSubtree, goldap.NeverDerefAliases, 1000, 5, false,
					"(uid=alice)", []string{"objectClass"}, nil))
				if err != nil || len(r.Entries) != 1 {
					b.Error(err)
				}
			}
		})
	})
	b.Run("realm", func(b *testing.B) {
		c := realm.NewClient(plugintest.Start(b, options()).Conn)
		if _, err := c.Configure(b.Context(), realm.Config{Name: "r", Kind: kindRoles,
			Properties: properties("userDnTemplate", "uid={0},dc=x", "contextFactory.url", url)}); err != nil {
			b.Fatal(err)
		}
		b.SetParallelism(4)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if r := c.Authenticate(b.Context(), "r", realm.Credentials{User: "alice", Password: "pw"}); r.Outcome != realm.Authenticated || len(r.Roles) == 0 {
					b.Errorf("%+v", r)
				}
			}
		})
	})
}

func slapd(b *testing.B) (url string) {
	b.Helper()
	if _, err := os.Stat("/usr/sbin/slapd"); err != nil {
		b.Skip("SKIPPED, NOT TESTED: the peer slapd is not installed (test/peers/install.sh installs it as root)")
	}
	dir := b.TempDir()
	for name, text := range map[string]string{
		"slapd.conf": fmt.Sprintf("include /etc/ldap/schema/core.schema\ninclude /etc/ldap/schema/cosine.schema\ninclude /etc/ldap/schema/inetorgperson.schema\n"+
			"modulepath /usr/lib/ldap\nmoduleload back_mdb\ndatabase mdb\nsuffix \"dc=x\"\ndirectory %s\nindex uid eq\nindex objectClass eq\n", dir),
		"seed.ldif": "dn: dc=x\nobjectClass: dcObject\nobjectClass: organization\no: x\ndc: x\n\n" +
			"dn: uid=alice,dc=x\nobjectClass: inetOrgPerson\nuid: alice\nsn: x\ncn: x\nuserPassword: pw\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	conf := filepath.Join(dir, "slapd.conf")
	if out, err := exec.Command("/usr/sbin/slapadd", "-q", "-f", conf, "-l", filepath.Join(dir, "seed.ldif")).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	url = "ldap://" + l.Addr().String()
	l.Close()
	cmd := exec.Command("/usr/sbin/slapd", "-d", "0", "-f", conf, "-h", url+"/")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		if c, err := net.Dial("tcp", strings.TrimPrefix(url, "ldap://")); err == nil {
			c.Close()
			return url
		}
		<-tick.C
	}
	b.Fatal("slapd does not serve")
	return ""
}
