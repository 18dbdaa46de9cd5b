package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// controller is a running ctld whose users come from an LDAP server.
type controller struct {
	cmd  *exec.Cmd
	home string
	http string
}

// settings of the controller: the realm as documented, behind the local one.
const secINI = `[main]
tokenAuthRealm = TokenAuthRealm
ldapRealm = org.ctl.aaa.sec.realm.CtlJndiLdapRealm
ldapRealm.userDnTemplate = uid={0},ou=People,dc=lab,dc=test
ldapRealm.contextFactory.url = %s
ldapRealm.searchBase = dc=lab,dc=test
ldapRealm.ldapAttributeForComparison = title
ldapRealm.groupRolesMap = "clerk":"user"
securityManager.realms = $tokenAuthRealm, $ldapRealm
[urls]
/** = authcBasic, roles[user]
`

func (o options) start(ctx context.Context, home string, s *slapd) (*controller, error) {
	files := map[string]string{"etc/sec.ini": fmt.Sprintf(secINI, s.url), "etc/ctl.yaml": "aaa:\n  loginCache: 0s\n"}
	catalogue, err := os.ReadFile("features.yaml")
	if err != nil {
		return nil, fmt.Errorf("%w; run it from the top of the tree", err)
	}
	files["features.yaml"] = string(catalogue)
	for name, text := range files {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	c := &controller{home: home, cmd: exec.Command(filepath.Join(o.bin, "ctld"), "--home", home, "--http", "127.0.0.1:0", "--ssh", "off", "--admin", "off")}
	c.cmd.Env = append(os.Environ(), "CTL_ADMIN_PASSWORD=admin", "CTL_USER_PASSWORD=user", "SSL_CERT_FILE="+s.certificate)
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "console: ctl") {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with ctld
	address, err := os.ReadFile(filepath.Join(home, "data", "run", "http.addr"))
	if err == nil {
		c.http = strings.TrimSpace(string(address))
		var said []byte
		if said, err = exec.CommandContext(ctx, filepath.Join(o.bin, "ctl"), "--home", home, "feature:install ctl-realm-ldap ctl-restconf").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, said)
		}
	}
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("ctld: %w", err)
	}
	return c, nil
}

func (c *controller) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	_ = c.cmd.Wait()
}

// profile keeps a CPU profile of the host over d in a file; wait ends with it.
func (c *controller) profile(ctx context.Context, file string, d time.Duration) (wait func() error) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(c.home, "data", "run", "pprof.sock"))
	}}}
	done := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://x/debug/pprof/profile?seconds=%d", max(1, int(d.Seconds()))), nil)
		if err != nil {
			done <- err
			return
		}
		answer, err := client.Do(r)
		if err != nil {
			done <- err
			return
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		done <- err
	}()
	return func() error { return <-done }
}
