package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ctl.internal/internal/ldap/ldaptest"
	"ctl.internal/test/harness"
)

// processes are the ids of ctld and of the plugins it runs.
func (c *controller) processes() []int {
	c.t.Helper()
	pids := []int{c.PID()}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && fields[1] == strconv.Itoa(c.PID()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// typed runs a console line with lines typed at its prompts.
func (c *controller) typed(line string, input ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(within(c.t), filepath.Join(bin, "ctl"), "--home", c.Home, line)
	cmd.Stdin = strings.NewReader(strings.Join(input, "\n") + "\n")
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// No password and no token of a run with everything logged is found afterwards in a
// file of the home, in an answer, in what a program printed, or where the operating
// system shows the arguments and the environment of the controller and its plugins.
func TestNoSecretOfARunIsFoundAnywhere(t *testing.T) {
	directory := (&ldaptest.Server{Entries: []ldaptest.Entry{
		{DN: "uid=system,dc=lab", Password: "ldap-system-secret"},
		{DN: "uid=lena,ou=People,dc=lab", Password: "lenas-directory-secret", Attributes: map[string][]string{"uid": {"lena"}, "objectClass": {"person"}}},
	}}).Start(t)
	home := configure(t, "sec.ini", func(shipped string) string {
		return strings.Replace(shipped, "securityManager.realms = $tokenAuthRealm", `ldapRealm = CtlJndiLdapRealm
ldapRealm.userDnTemplate = "uid={0},ou=People,dc=lab"
ldapRealm.contextFactory.url = `+directory.URL()+`
ldapRealm.timeout = 60000
ldapRealm.connectTimeout = 60000
ldapRealm.contextFactory.systemUsername = "uid=system,dc=lab"
ldapRealm.contextFactory.systemPassword = ldap-system-secret
ldapRealm.searchBase = "dc=lab"
ldapRealm.groupRolesMap = "person":"user"
securityManager.realms = $tokenAuthRealm, $iniRealm, $ldapRealm`, 1) + "\n[users]\nini = ini-file-secret, user\n"
	})
	// The first start of this home made the built-in users; these passwords are not used.
	env := []string{"CTL_ADMIN_PASSWORD=environment-admin-secret", "CTL_USER_PASSWORD=environment-user-secret"}
	c := run(t, harness.Options{Home: home, Environ: env})
	c.Ctl("log:set TRACE org.ctl")
	c.Ctl("feature:install ctl-realm-ldap ctl-aaa-cli")

	var said strings.Builder // whatever clients got to see
	var secrets []string
	secret := func(s string) string {
		secrets = append(secrets, s)
		return s
	}
	for _, s := range []string{"environment-admin-secret", "environment-user-secret", "ldap-system-secret", "lenas-directory-secret", "ini-file-secret"} {
		secret(s)
	}
	do := func(want int, method, path, auth, body string) harness.Answer {
		t.Helper()
		a := c.Do(method, path, auth, body)
		fmt.Fprintln(&said, a.Header, a.Body)
		if a.Status != want {
			t.Errorf("%s %s as %q: %d %s, want %d", method, path, auth, a.Status, a.Body, want)
		}
		return a
	}
	do(200, "PUT", "/auth/v1/users/admin@sdn", admin, `{"password":"`+secret("admins-own-secret")+`"}`)
	boss := "admin:admins-own-secret"
	do(201, "POST", "/auth/v1/users", boss, `{"name":"bob","domainid":"sdn","password":"`+secret("bobs-first-secret")+`"}`)
	do(201, "POST", "/auth/v1/domains/sdn/users/bob@sdn/roles", boss, `{"roleid":"user@sdn"}`)
	do(400, "POST", "/auth/v1/users", boss, `{"name":"b@d","domainid":"sdn","password":"`+secret("never-stored-secret")+`"}`)
	do(400, "POST", "/auth/v1/users", boss, `{"name":"b","pasword":"`+secret("misspelt-member-secret")+`"}`)
	do(400, "POST", "/auth/v1/users", boss, `{"name":"b","password":"`+secret("broken-json-secret"))
	do(400, "POST", "/auth/v1/users", boss, `{"name":"b","domainid":"sdn","password":["`+secret("wrong-type-secret")+`"]}`)
	do(200, "GET", "/auth/v1/users?pretty-print", boss, "")
	do(200, "GET", "/restconf/modules", "bob:bobs-first-secret", "")
	do(200, "GET", "/restconf/modules", "ini:ini-file-secret", "")
	do(200, "GET", "/restconf/modules", "lena:lenas-directory-secret", "")
	do(401, "GET", "/restconf/modules", "bob:"+secret("wrong-guess-secret"), "")
	do(401, "GET", "/restconf/modules", "Bearer "+secret("not-a-token-secret"), "")
	do(401, "GET", "/restconf/modules", "Digest "+secret("odd-scheme-secret"), "")
	do(404, "GET", "/nowhere?password="+secret("secret-in-a-query"), boss, "")

	refresh := ""
	token := func(fields ...string) string {
		t.Helper()
		a := c.form("/oauth2/token", fields...)
		refresh, _ = a.JSON(t)["refresh_token"].(string)
		secret(refresh)
		issued, _ := a.JSON(t)["access_token"].(string)
		if a.Status != 200 || issued == "" {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return secret(issued)
	}
	token("grant_type", "password", "username", "bob", "password", "bobs-first-secret", "scope", "sdn", "client_id", "lab", "client_secret", secret("a-client-secret"))
	two := token("grant_type", "refresh_token", "refresh_token", refresh)
	do(200, "GET", "/restconf/modules", "Bearer "+two, "")
	token("grant_type", "password", "username", "lena", "password", "lenas-directory-secret")
	for _, fields := range [][]string{
		{"grant_type", "password", "username", "bob", "password", secret("wrong-form-secret")},
		{"grant_type", secret("misplaced-form-secret")},
		{"grant_type", "refresh_token", "refresh_token", secret("no-refresh-token-secret")},
	} {
		a := c.form("/oauth2/token", fields...)
		fmt.Fprintln(&said, a.Header, a.Body)
		if a.Status != 400 {
			t.Errorf("%v: %d %s", fields, a.Status, a.Body)
		}
	}
	for _, path := range []string{"/oauth2/introspect", "/oauth2/revoke"} {
		a := c.form(path, "token", two)
		fmt.Fprintln(&said, a.Header, a.Body)
	}

	idmtool := func(input []string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(within(t), filepath.Join(c.Home, "etc", "idmtool"), args...)
		cmd.Env = append(os.Environ(), "CTL_BIN="+bin)
		cmd.Stdin = strings.NewReader(strings.Join(input, "\n") + "\n")
		out, err := cmd.CombinedOutput()
		said.Write(out)
		if err != nil {
			t.Errorf("idmtool %v: %v\n%s", args, err, out)
		}
	}
	idmtool([]string{"admins-own-secret", secret("carols-tool-secret"), "carols-tool-secret"}, "admin", "add-user", "carol")
	idmtool([]string{"admins-own-secret", secret("carols-next-secret"), "carols-next-secret"}, "admin", "change-password", "carol@sdn")
	for _, k := range []struct {
		line  string
		input []string
		says  string
		own   bool // the secret stands in the line itself, and so in what is said of it
	}{
		{"aaa:add-user --name dave --roleName user", []string{secret("daves-console-secret")}, "has been created", false},
		{"aaa:change-user-pwd -user dave", []string{"daves-console-secret", secret("daves-next-secret")}, "has been changed", false},
		{"aaa:change-user-pwd -user dave", []string{secret("daves-wrong-secret"), "x"}, "wrong", false},
		{"aaa:get-domains", []string{"admin", "admins-own-secret"}, "sdn", false},
		{"realm:test lena", []string{"lenas-directory-secret"}, "ldapRealm", false},
		{"aaa:add-user --name eve --password " + secret("secret-in-the-line"), nil, "error", true},
	} {
		out := c.typed(k.line, k.input...)
		if !k.own {
			said.WriteString(out)
		}
		if !strings.Contains(out, k.says) {
			t.Errorf("%s: %s", k.line, out)
		}
	}

	places := map[string]string{"the answers": said.String()}
	pids := c.processes()
	if len(pids) < 2 {
		t.Errorf("no plugin runs: %v", pids)
	}
	for _, pid := range pids {
		for _, name := range []string{"environ", "cmdline"} {
			file := fmt.Sprintf("/proc/%d/%s", pid, name)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			places[file] = string(b)
		}
	}
	if code := c.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	places["the output of ctld"] = c.Said()
	if err := filepath.WalkDir(c.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == filepath.Join(c.Home, "etc", "sec.ini") {
			return err // sec.ini is where the operator wrote two of them
		}
		b, err := os.ReadFile(path)
		places[path] = string(b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	logged := places[filepath.Join(c.Home, "log", "ctl.log")]
	for _, want := range []string{"Unsuccessful authentication attempt by bob", "access decision", "audit: create user"} {
		if !strings.Contains(logged, want) {
			t.Errorf("not everything was logged: no %q", want)
		}
	}
	if len(places) < 20 {
		t.Errorf("only %d places were searched", len(places))
	}
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s), base64.StdEncoding.EncodeToString([]byte(s)), base64.StdEncoding.EncodeToString([]byte("admin:" + s)),
			base64.StdEncoding.EncodeToString([]byte("bob:" + s))} {
			for place, text := range places {
				if i := strings.Index(text, form); i >= 0 {
					t.Errorf("%q stands in %s: …%q…", s, place, text[max(0, i-120):min(len(text), i+len(form)+40)])
				}
			}
		}
	}
}
