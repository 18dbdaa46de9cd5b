package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ctl.internal/internal/ldap/ldaptest"
	"ctl.internal/test/harness"
)

// identityService answers the Identity API for sdnadmin of domains sdn and Default,
// and drops every connection while it is down.
func identityService(t *testing.T) (url string, down *atomic.Bool) {
	down = new(atomic.Bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		type domain struct{ Name string }
		var in struct {
			Auth struct {
				Identity struct {
					Password struct {
						User struct {
							Name, Password string
							Domain         domain
						}
					}
				}
			}
		}
		err := json.NewDecoder(r.Body).Decode(&in)
		u := in.Auth.Identity.Password.User
		if err != nil || r.URL.Path != "/v3/auth/tokens" || u.Name != "sdnadmin" || u.Password != "pw" || u.Domain.Name != "sdn" && u.Domain.Name != "Default" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"token":{"user":{"name":"sdnadmin"},"roles":[{"name":"admin"},{"name":"user"}]}}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, down
}

const certificateRPC = "/restconf/operations/aaa-cert-rpc:getCtlCertificate"

// The cases of the old system's own collection that need more than one program:
// facts about it are reported by the numbers of that collection. Cases 1, 2, 4 to 9 and
// 11 to 13 are TestOldClientsFindWhatTheyKnow and TestFirstStartIsProtectedAndServes.
func TestOldClientsWithRealmsPoliciesAndTLS(t *testing.T) {
	service, down := identityService(t)
	directory := (&ldaptest.Server{Entries: []ldaptest.Entry{
		{DN: "uid=lena,ou=People,dc=lab", Password: "lenas own", Attributes: map[string][]string{"uid": {"lena"}, "objectClass": {"person", "other"}}},
		{DN: "uid=sam,ou=Staff,dc=lab", Password: "sams own", Attributes: map[string][]string{"uid": {"sam"}, "objectClass": {"operator"}}},
	}}).Start(t)
	home := configure(t, "sec.ini", func(shipped string) string {
		return strings.Replace(shipped, "securityManager.realms = $tokenAuthRealm", `idSvcAuthRealm = org.ctl.aaa.sec.realm.IdSvcAuthRealm
idSvcAuthRealm.url = `+service+`
idSvcAuthRealm.timeout = 60000
ldapRealm = CtlJndiLdapRealm
ldapRealm.userDnTemplate = "uid={0},ou=People,dc=lab"
ldapRealm.contextFactory.url = `+directory.URL()+`
ldapRealm.timeout = 60000
ldapRealm.connectTimeout = 60000
ldapRealm.groupRolesMap = "person":"user,ops"
plainRealm = CtlJndiLdapRealm
plainRealm.userDnTemplate = "uid={0},ou=Staff,dc=lab"
plainRealm.contextFactory.url = `+directory.URL()+`
plainRealm.timeout = 60000
plainRealm.connectTimeout = 60000
securityManager.realms = $tokenAuthRealm, $idSvcAuthRealm, $ldapRealm, $plainRealm`, 1)
	})
	edit := func(file, old, new string) {
		t.Helper()
		path := filepath.Join(home, "etc", file)
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), old) {
			t.Fatalf("%s has no %q: %v", path, old, err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(b), old, new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const certFile = "ctl/datastore/initial/config/aaa-cert-config.xml"
	edit(certFile, "<keysize>3072", "<keysize>2048")
	c := start(t, home)
	c.Ctl("feature:install ctl-realm-idsvc ctl-realm-ldap ctl-aaa-cert")
	want := func(t *testing.T, status int, method, path, auth, body string) harness.Answer {
		t.Helper()
		a := c.Do(method, path, auth, body)
		if a.Status != status {
			t.Errorf("%s %s as %q: %d %s, want %d", method, path, auth, a.Status, a.Body, status)
		}
		return a
	}
	policy := func(t *testing.T, words ...string) {
		t.Helper()
		if a := c.Do("PUT", jsonPolicies, admin, policies(words...)); a.Status/100 != 2 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		t.Cleanup(func() { c.Do("DELETE", jsonPolicies, admin, "") })
	}

	t.Run("3 any other path", func(t *testing.T) {
		for _, auth := range []string{"", "admin:bad", "bad:admin"} {
			want(t, 401, "GET", "/jolokia", auth, "")
		}
		// Not 200: there is no such service. It is the mux that says so, not access control.
		want(t, 404, "GET", "/jolokia", admin, "")
	})
	t.Run("14 identity service", func(t *testing.T) {
		for _, k := range []struct {
			auth string
			want int
		}{
			{"sdnadmin@sdn:pw", 200}, {"sdnadmin:pw", 200}, // without a domain: Default
			{"wrong@sdn:pw", 401}, {"sdnadmin@wrong:pw", 401}, {"sdnadmin@sdn:bad", 401},
		} {
			want(t, k.want, "POST", certificateRPC, k.auth, "")
			want(t, k.want, "GET", "/restconf/modules", k.auth, "")
		}
		down.Store(true)
		defer down.Store(false)
		// Others log in as before, the users of the service do not. (Who logged in a
		// moment ago is still believed: this is another user to the controller.)
		want(t, 503, "POST", certificateRPC, "sdnadmin@Default:pw", "")
		want(t, 200, "POST", certificateRPC, admin, "")
		down.Store(false)
		// That it was down is not kept as a refusal.
		want(t, 200, "POST", certificateRPC, "sdnadmin@Default:pw", "")
	})
	t.Run("15 static and dynamic rules are both asked", func(t *testing.T) {
		policy(t, "/**", "user", "get post put delete")
		want(t, 401, "POST", certificateRPC, user, "")
		want(t, 200, "GET", "/restconf/modules", user, "")
	})
	t.Run("16 role of a policy", func(t *testing.T) {
		want(t, 201, "POST", "/auth/v1/users", admin, `{"name":"only","password":"only admin","domainid":"sdn"}`)
		want(t, 201, "POST", "/auth/v1/domains/sdn/users/only@sdn/roles", admin, `{"roleid":"admin@sdn"}`)
		const path = "/restconf/operational/network-topology:network-topology"
		before := c.Do("GET", path, "only:only admin", "").Status
		policy(t, "/restconf/operational/**", "user", "get")
		want(t, 401, "GET", path, "only:only admin", "")
		if got := c.Do("GET", path, user, "").Status; got != before || got == 401 {
			t.Errorf("as user: %d; before the policy: %d", got, before)
		}
	})
	t.Run("17 order of policies", func(t *testing.T) {
		special := []string{"/specialendpoint", "/specialendpoint/", "/specialendpoint/x"}
		t.Run("wide first", func(t *testing.T) {
			// The list needs a first entry with which policies can still be changed.
			policy(t, "/restconf/config/aaa:http-authorization/**", "admin", "put", "/**", "admin", "get", "/specialendpoint/**", "dog", "get")
			for _, p := range special {
				want(t, 404, "GET", p, admin, "") // nothing is there: it passed
			}
		})
		t.Run("narrow first", func(t *testing.T) {
			policy(t, "/restconf/config/aaa:http-authorization/**", "admin", "put", "/specialendpoint/**", "dog", "get", "/**", "admin", "get")
			for _, p := range special {
				want(t, 401, "GET", p, admin, "")
			}
			want(t, 404, "GET", "/abc", admin, "")
		})
	})
	t.Run("18 actions of a policy", func(t *testing.T) {
		policy(t, "/restconf/config/network-topology:network-topology/**", "user", "get")
		want(t, 404, "GET", "/restconf/config/network-topology:network-topology", user, "")
		want(t, 401, "PUT", "/restconf/config/network-topology:network-topology", user, `{"network-topology":{}}`)
		if a := c.Do("PUT", jsonPolicies, admin, `{"aaa:policies":{"aaa:policies":[{"aaa:resource":"/restconf/modules"}]}}`); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		want(t, 401, "GET", "/restconf/modules", admin, "") // a policy without permissions
		// What cannot be read denies: TestUnreadablePoliciesDeny in package aaa.
	})
	t.Run("the broker reports what it refuses", func(t *testing.T) {
		c.Ctl("feature:install ctl-aaa-authz")
		const broker, path = "/restconf/config/authorization-schema:simple-authorization", "/restconf/config/network-topology:network-topology"
		const topology = `{"network-topology":{"topology":[{"topology-id":"lab"}]}}`
		// With a slash at the end, as the documents have it.
		want(t, 201, "POST", broker+"/policies/RestConfService/", admin, `{"policies":{"resource":"*","service":"RestConfService","role":"admin"}}`)
		want(t, 401, "GET", path, user, "")
		want(t, 401, "PUT", path, user, topology)
		want(t, 404, "GET", path, admin, "") // it was not written
		want(t, 201, "PUT", path, admin, topology)
		want(t, 200, "DELETE", path, admin, "")
		want(t, 200, "DELETE", broker, admin, "")
		want(t, 404, "GET", path, user, "")
	})
	t.Run("20 roles of a directory, and the refresh grant", func(t *testing.T) {
		policy(t, "/restconf/modules/**", "ops", "get", "/restconf/streams/**", "operator", "get")
		want(t, 200, "GET", "/restconf/modules", "lena:lenas own", "") // person → user,ops
		want(t, 401, "GET", "/restconf/streams", "lena:lenas own", "") // other is not in the map
		want(t, 200, "GET", "/restconf/streams", "sam:sams own", "")   // no map: the value is the role
		want(t, 401, "GET", "/restconf/modules", "sam:sams own", "")
		a := c.form("/oauth2/token", "grant_type", "password", "username", "user", "password", "user", "scope", "sdn")
		first, _ := a.JSON(t)["access_token"].(string)
		refresh, _ := a.JSON(t)["refresh_token"].(string)
		a = c.form("/oauth2/token", "grant_type", "refresh_token", "refresh_token", refresh, "scope", "sdn")
		second, _ := a.JSON(t)["access_token"].(string)
		if a.Status != 200 || second == "" || second == first { // not 201: RFC 6749
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		want(t, 200, "GET", "/restconf/operations", "Bearer "+second, "")
		// The rights of users of a realm without a system account cannot be looked up at use: a token of at most half an hour
		// with those of this login, which nothing but the password renews.
		a = c.form("/oauth2/token", "grant_type", "password", "username", "lena", "password", "lenas own")
		short, _ := a.JSON(t)["access_token"].(string)
		life, _ := a.JSON(t)["expires_in"].(float64)
		if a.Status != 200 || life <= 0 || life > 1800 || strings.Contains(a.Body, "refresh_token") {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		want(t, 200, "GET", "/restconf/modules", "Bearer "+short, "")
		want(t, 401, "GET", "/restconf/streams", "Bearer "+short, "")
	})
	t.Run("10 access control off and on", func(t *testing.T) {
		const on, off = "\n/** = authcBasic, dynamicAuthorization", "\n/** = anon"
		edit("sec.ini", on, off)
		want(t, 401, "GET", "/restconf/modules", "", "") // not before the restart
		c.Restart()
		want(t, 200, "GET", "/restconf/modules", "", "")
		want(t, 401, "GET", "/auth/v1/users", "", "") // it has a line of its own
		edit("sec.ini", off, on)
		c.Restart()
		want(t, 401, "GET", "/restconf/modules", "Bearer notARealToken", "")
		want(t, 200, "GET", "/restconf/modules", admin, "")
	})
	t.Run("19 TLS", func(t *testing.T) { tlsCase(t, c, edit) })
}

// authority is a CA for the certificate of the controller and of its clients.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{key: key}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Lab CA"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.cert, err = x509.ParseCertificate(a.sign(t, template, template, key.Public()))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (a authority) sign(t *testing.T, template, parent *x509.Certificate, public any) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func (a authority) issue(t *testing.T, name string, public any) []byte {
	t.Helper()
	return a.sign(t, &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, a.cert, public)
}

func tlsCase(t *testing.T, c *controller, edit func(file, old, new string)) {
	address := func() string {
		b, err := os.ReadFile(filepath.Join(c.Home, "data", "run", "https.addr"))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	get := func(conf *tls.Config) (int, error) {
		client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: conf, DisableKeepAlives: true}}
		r, err := http.NewRequest("GET", "https://"+address()+"/restconf/modules", nil)
		if err != nil {
			return 0, err
		}
		r.SetBasicAuth("admin", "admin")
		res, err := client.Do(r)
		if err != nil {
			return 0, err
		}
		return res.StatusCode, res.Body.Close()
	}
	rpc := func(name, input string) map[string]any {
		t.Helper()
		a := c.Do("POST", "/rests/operations/aaa-cert-rpc:"+name, admin, input)
		if a.Status/100 != 2 {
			t.Fatalf("%s: %d %s", name, a.Status, a.Body)
		}
		if a.Body == "" {
			return nil
		}
		out, _ := a.JSON(t)["aaa-cert-rpc:output"].(map[string]any)
		return out
	}
	if address() != "" {
		t.Error("https is open before it was asked for")
	}
	c.Args = append(c.Args, "--https", "127.0.0.1:0")
	c.Restart()
	if status, err := get(&tls.Config{InsecureSkipVerify: true}); status != 200 {
		t.Fatalf("self-signed, not verified: %d, %v", status, err)
	}
	ca := newAuthority(t)
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	if status, err := get(&tls.Config{RootCAs: pool}); err == nil {
		t.Errorf("a self-signed certificate is taken for one of the CA: %d", status)
	}
	request, err := base64.StdEncoding.DecodeString(fmt.Sprint(rpc("getCtlCertificateReq", "")["ctl-cert-req"]))
	if err != nil {
		t.Fatal(err)
	}
	csr, err := x509.ParseCertificateRequest(request)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.StdEncoding.EncodeToString
	rpc("setNodeCertifcate", `{"aaa-cert-rpc:input":{"node-alias":"lab-ca","node-cert":"`+encode(ca.cert.Raw)+`"}}`)
	rpc("setCtlCertificate", `{"aaa-cert-rpc:input":{"ctl-cert-alias":"controller","ctl-cert":"`+encode(ca.issue(t, "ctl", csr.PublicKey))+`"}}`)
	if status, err := get(&tls.Config{RootCAs: pool}); status != 200 {
		t.Errorf("signed by the CA, verified: %d, %v", status, err)
	}
	settings := filepath.Join(c.Home, "etc", "ctl.yaml")
	if err := os.WriteFile(settings, []byte("tls:\n  clientCertificates: required\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Restart()
	if status, err := get(&tls.Config{RootCAs: pool}); err == nil {
		t.Errorf("without a client's certificate: %d", status)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := tls.Certificate{Certificate: [][]byte{ca.issue(t, "client", key.Public())}, PrivateKey: key}
	if status, err := get(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}}); status != 200 {
		t.Errorf("with a client's certificate: %d, %v", status, err)
	}
}
