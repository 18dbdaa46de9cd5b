//go:build peers

package realmpeers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ctl.internal/test/harness"
)

// typed runs a console line at a terminal, types the password when it is asked for,
// and returns what stands on the screen and the exit code.
func typed(t *testing.T, c *harness.Controller, line, password string) (screen string, code int) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(bin, "ctl"), "--home", c.Home, line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	guard := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()
	var text strings.Builder
	asked, buf := false, make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		text.Write(buf[:n])
		if err != nil { // EIO: the other end is closed
			break
		}
		if !asked && strings.Contains(text.String(), "Password: ") {
			asked = true
			quiet(t, master)
			if _, err := io.WriteString(master, password+"\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if !asked {
		t.Errorf("%s: the password was not asked for:\n%s", line, text.String())
	}
	return text.String(), cmd.ProcessState.ExitCode()
}

// quiet waits until the terminal does not echo.
func quiet(t *testing.T, terminal *os.File) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 6000 {
		state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		if state.Lflag&unix.ECHO == 0 {
			return
		}
		<-tick.C
	}
	t.Error("the terminal echoes the password")
}

// secrets are the passwords of TestRealmsInTheConsole, none of which may be seen.
const systemPassword, alicePassword, wrongPassword = "adminpw", "alicepw", "x-no-such-pw"

func TestRealmsInTheConsole(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 0)
	files := ldapINI(s.plain, "contextFactory.systemUsername = \"cn=admin,dc=lab,dc=test\"\ncontextFactory.systemPassword = "+systemPassword)
	files["sec.ini"] = strings.Replace(files["sec.ini"], "[main]\n", fmt.Sprintf(`[main]
downRealm = org.ctl.aaa.sec.realm.CtlJndiLdapRealmAuthNOnly
downRealm.userDnTemplate = uid={0},ou=People,dc=lab,dc=test
downRealm.contextFactory.url = ldap://127.0.0.1:%d
downRealm.timeout = 2500
absentRealm = IdSvcAuthRealm
absentRealm.url = https://127.0.0.1
`, free(t)), 1)
	files["sec.ini"] = strings.Replace(files["sec.ini"], "$tokenAuthRealm,", "$downRealm, $tokenAuthRealm, $absentRealm,", 1)
	c := harness.Start(t, bin, files)
	c.Ctl("feature:install ctl-realm-ldap")

	var list []map[string]any
	if err := json.Unmarshal([]byte(c.Ctl("realm:list --format json")), &list); err != nil || len(list) != 4 {
		t.Fatalf("%v %v", err, list)
	}
	for i, want := range []struct{ realm, kind, timeout string }{
		{"downRealm", "CtlJndiLdapRealmAuthNOnly", "2.5s"}, {"tokenAuthRealm", "TokenAuthRealm", "-"},
		{"absentRealm", "IdSvcAuthRealm", "5s"}, {"ldapRealm", "CtlJndiLdapRealm", "1m0s"},
	} {
		if one := list[i]; one["realm"] != want.realm || one["kind"] != want.kind || one["timeout"] != want.timeout {
			t.Errorf("place %d: %v, want %v", i+1, one, want)
		}
	}
	for _, k := range []struct {
		user, password string
		want           []string
	}{
		{"alice", alicePassword, []string{"downRealm | unavailable", "connection refused", "tokenAuthRealm | unknown", "absentRealm | unavailable",
			"no installed feature serves", "ldapRealm | authenticated | alice | admin user", "decided by ldapRealm"}},
		{"alice", wrongPassword, []string{"ldapRealm | unknown", "decided by no realm"}},
		{"admin", "admin", []string{"tokenAuthRealm | authenticated | admin | admin", "ldapRealm | unknown", "decided by tokenAuthRealm"}},
	} {
		screen, code := typed(t, c, "realm:test "+k.user, k.password)
		flat := strings.Join(strings.Fields(screen), " ")
		for _, want := range k.want {
			if !strings.Contains(flat, want) {
				t.Errorf("%s: %q is not in (exit code %d)\n%s", k.user, want, code, screen)
			}
		}
		if code != 0 {
			t.Errorf("%s: exit code %d", k.user, code)
		}
		if k.user != k.password && strings.Contains(screen, k.password) || strings.Contains(screen, systemPassword) {
			t.Errorf("a password is on the screen:\n%s", screen)
		}
	}
	seen := c.Log() + c.Ctl("history")
	for _, secret := range []string{alicePassword, wrongPassword, systemPassword} {
		if strings.Contains(seen, secret) {
			t.Errorf("%q is in the log or the history", secret)
		}
	}
}

func TestLoginsGoWithTheirRealmButNotWithACrash(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 0)
	files := ldapINI(s.plain, "")
	files["ctl.yaml"] += "  loginCache: 1h\n"
	c := harness.Start(t, bin, files)
	c.Ctl("feature:install ctl-realm-ldap")
	in := []loginCase{{"right", "alice", "alicepw", 200, 200}}
	out := []loginCase{{"gone", "alice", "alicepw", 503, 503}, {"local", "admin", "admin", 200, 200}}
	logins(t, c, in)
	s.kill()
	logins(t, c, in)
	pid := pluginPID(t, c, "realm-ldap")
	if p, err := os.FindProcess(pid); err != nil || p.Kill() != nil {
		t.Fatal("the plugin could not be killed")
	}
	restarted(t, c, "realm-ldap", pid)
	logins(t, c, in) // the same realm: its users are not asked for again
	c.Ctl("plugin:reload realm-ldap")
	logins(t, c, out)
	for _, gone := range []struct{ away, back string }{
		{"plugin:stop realm-ldap", "plugin:start realm-ldap"},
		{"feature:uninstall ctl-realm-ldap", "feature:install ctl-realm-ldap"},
	} {
		s.start(t)
		logins(t, c, in)
		c.Ctl(gone.away)
		logins(t, c, out)
		s.kill()
		c.Ctl(gone.back)
		logins(t, c, out) // what was verified before does not come back with it
	}
}

// restarted waits until a plugin is ready with another process.
func restarted(t *testing.T, c *harness.Controller, name string, old int) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 1200 {
		info := c.Ctl("plugin:info " + name)
		if pid := pidIn(info); strings.Contains(info, "ready") && pid != 0 && pid != old {
			return
		}
		<-tick.C
	}
	t.Errorf("%s is not back after a minute", name)
}

func TestARealmThatIsConfiguredAnewIsAskedAnew(t *testing.T) {
	cert, key := certificate(t, "127.0.0.1")
	s := startSlapd(t, cert, key, 0)
	files := ldapINI(s.plain, "")
	c := harness.Start(t, bin, files)
	c.Ctl("feature:install ctl-realm-ldap")
	logins(t, c, []loginCase{{"before", "alice", "alicepw", 200, 200}})
	file := filepath.Join(c.Home, "etc", "sec.ini")
	write(t, file, strings.Replace(files["sec.ini"], `"boss":"admin,user"`, `"boss":"user"`, 1))
	c.Restart()
	logins(t, c, []loginCase{{"fewer roles now", "alice", "alicepw", 200, 401}})
	s.kill()
	logins(t, c, []loginCase{{"believed for a while, the server being down", "alice", "alicepw", 200, 401}})
	c.Restart()
	logins(t, c, []loginCase{{"the login went with the process that verified it", "alice", "alicepw", 503, 503}, {"local", "admin", "admin", 200, 200}})
}
