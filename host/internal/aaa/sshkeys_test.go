package aaa_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/accounting"
)

func newKey(t *testing.T) (key ssh.PublicKey, line string) {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	key, err = ssh.NewPublicKey(public)
	must(t, err)
	return key, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// A key is data of its user: a new user of the same name does not have it, whether it was added or came from a file.
func TestSSHKeysEndWithTheirUser(t *testing.T) {
	dir := t.TempDir()
	l := open(t, defaultINI, func(o *aaa.Options) { o.KeysDir = dir })
	c := l.Console()
	var audit []string
	l.Accounting().Listen(always, func(e accounting.Event) {
		if strings.Contains(e.Action, "ssh key") {
			audit = append(audit, e.User+" "+e.Action+" "+strings.Fields(e.Object)[0])
		}
	})
	added, line := newKey(t)
	filed, filedLine := newKey(t)
	file := filepath.Join(dir, "bob")
	in := func(key ssh.PublicKey) bool {
		_, err := c.Key(ctx, "bob", key, "192.0.2.1:1")
		return err == nil
	}
	bob := l.user("bob", "admin")
	if _, err := l.Identity().AddKey(ctx, bob, line); err != nil {
		t.Fatal(err)
	}
	must(t, os.WriteFile(file, []byte("# a comment\nbroken\nfrom=\"10.0.0.1\" "+filedLine+"\n"+filedLine+" bob@laptop\n"), 0o666))
	must(t, os.Chmod(file, 0o666))
	if in(filed) {
		t.Error("a file that others may write gives access")
	}
	must(t, os.Chmod(file, 0o600))
	if !in(added) || !in(filed) {
		t.Fatal("a key of the user does not log in")
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file stays beside the identities: %v", err)
	}
	must(t, os.WriteFile(file, []byte(filedLine), 0o600)) // as if it could not have been renamed
	old := time.Now().Add(-time.Minute)
	must(t, os.Chtimes(file, old, old))
	must(t, l.Identity().DeleteUser(ctx, bob))
	if in(added) || in(filed) {
		t.Error("a key logs in without its user")
	}
	l.user("bob", "admin")
	if in(added) || in(filed) {
		t.Error("a key of the earlier user of a name opens for the new one")
	}
	if keys, err := l.Identity().Keys(ctx, bob); err != nil || len(keys) != 0 {
		t.Errorf("%v, %v", keys, err)
	}
	if len(audit) != 2 || audit[0] != " add ssh key bob@sdn" || audit[1] != "bob@sdn add ssh key bob@sdn" {
		t.Errorf("audit %q", audit)
	}
}

func TestKeysOfADisabledUserDoNotLogIn(t *testing.T) {
	l := open(t, defaultINI)
	key, line := newKey(t)
	_, err := l.Identity().AddKey(ctx, "user@sdn", line)
	must(t, err)
	if _, err := l.Console().Key(ctx, "user", key, ""); err != nil {
		t.Fatal(err)
	}
	l.want(http.StatusOK, "PUT", "/auth/v1/users/user@sdn", "admin:admin", `{"enabled": false}`)
	if _, err := l.Console().Key(ctx, "user", key, ""); err == nil {
		t.Error("a disabled user logs in")
	}
}

func TestUsersManageTheirOwnKeys(t *testing.T) {
	l := open(t, defaultINI)
	key, line := newKey(t)
	a := l.want(http.StatusCreated, "POST", "/web/keys", "user:user", `{"key": "`+line+` laptop"}`)
	var made struct{ ID, Fingerprint, Comment string }
	must(t, json.Unmarshal([]byte(a.body), &made))
	if made.Fingerprint != ssh.FingerprintSHA256(key) || made.Comment != "laptop" {
		t.Errorf("%+v", made)
	}
	l.want(http.StatusCreated, "POST", "/web/keys", "user:user", `{"key": "`+line+`"}`)
	if a := l.want(http.StatusOK, "GET", "/web/keys", "user:user", ""); strings.Count(a.body, "SHA256:") != 1 {
		t.Error(a.body)
	}
	if a := l.want(http.StatusOK, "GET", "/web/keys", "admin:admin", ""); strings.Contains(a.body, "SHA256:") {
		t.Error(a.body)
	}
	l.want(http.StatusNotFound, "DELETE", "/web/keys/"+made.ID, "admin:admin", "")
	l.want(http.StatusNoContent, "DELETE", "/web/keys/"+made.ID, "user:user", "")
	l.want(http.StatusNotFound, "DELETE", "/web/keys/"+made.ID, "user:user", "")
	l.want(http.StatusUnauthorized, "GET", "/web/keys", "", "")
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	must(t, err)
	short, err := ssh.NewPublicKey(&weak.PublicKey)
	must(t, err)
	for _, bad := range []string{"", "ssh-ed25519", "no key", `from=\"10.0.0.1\" ` + line, line + `\n` + line, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(short)))} {
		if a := l.do("POST", "/web/keys", "user:user", `{"key": "`+bad+`"}`); a.status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", bad, a.status, a.body)
		}
	}
}
