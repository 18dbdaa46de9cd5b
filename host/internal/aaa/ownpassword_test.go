package aaa_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/aaa/throttle"
)

// Every user changes its own password, with the present one, outside of /auth/v1, which is for admins.
func TestUsersChangeTheirOwnPassword(t *testing.T) {
	blocked, err := password.ReadBlocklist(strings.NewReader("password1\n7C4A8D09CA3762AF61E59520943DC26494F8941B:37\n"))
	must(t, err)
	l := open(t, defaultINI, func(o *aaa.Options) { o.Blocked = blocked })
	tok := l.token("user", "user")
	for body, status := range map[string]int{
		`{"current":"user","password":"short"}`:                      400,
		`{"current":"user","password":"password1"}`:                  400, // in the list
		`{"current":"user","password":"123456"}`:                     400, // by its SHA-1, and too short
		`{"current":"wrong","password":"good-enough"}`:               400,
		`{"password":"good-enough"}`:                                 400,
		`{"current":"user","password":"good-enough","user":"admin"}`: 400,
	} {
		l.want(status, "POST", "/auth/password", "user:user", body)
	}
	l.want(401, "POST", "/auth/password", "", `{"current":"user","password":"good-enough"}`)
	l.want(405, "GET", "/auth/password", "user:user", "")
	l.want(200, "GET", "/x", "user:user", "")
	l.want(204, "POST", "/auth/password", "user:user", `{"current":"user","password":"good-enough"}`)
	l.want(401, "GET", "/x", "user:user", "")
	l.want(401, "GET", "/x", tok, "") // with the old password all logins ended
	l.want(200, "GET", "/x", "user:good-enough", "")
	l.want(401, "PUT", "/auth/v1/users/user@sdn", "user:good-enough", `{"password":"another-one"}`)
}

// Guessing the present password by a stolen token is throttled as all guessing is.
func TestThePresentPasswordCannotBeGuessed(t *testing.T) {
	l := open(t, defaultINI, func(o *aaa.Options) {
		o.Throttle = throttle.Settings{UserFree: 5, FirstDelay: time.Nanosecond, MaxDelay: 64 * time.Nanosecond}
	})
	tok := l.token("user", "user")
	slow := 0
	for range 30 {
		if l.do("POST", "/auth/password", tok, `{"current":"guess","password":"good-enough"}`).status == 503 {
			slow++
			break
		}
	}
	if slow == 0 {
		t.Error("thirty guesses were all looked at")
	}
}

func TestExpiredAndFirstPasswordsMustBeChanged(t *testing.T) {
	now := time.Unix(1e9, 0)
	file := filepath.Join(t.TempDir(), "first")
	l := open(t, defaultINI, func(o *aaa.Options) {
		o.PasswordMaxAge, o.ChangeFirst, o.Now = 90*24*time.Hour, true, func() time.Time { return now }
		o.First = identity.First{Admin: "admin", File: file} // user's is made at random
	})
	l.want(200, "GET", "/x", adm, "") // given by the operator: never forced
	first := firstPassword(t, file, "user")
	if a := l.want(403, "GET", "/x", "user:"+first, ""); !strings.Contains(a.body, "POST /auth/password") {
		t.Errorf("the refusal names no call: %s", a.body)
	}
	if a := l.want(400, "POST", "/oauth2/token", "", passwordForm+"user&password="+first); !strings.Contains(a.body, "POST /auth/password") {
		t.Errorf("the token endpoint names no call: %s", a.body)
	}
	l.want(204, "POST", "/auth/password", "user:"+first, `{"current":"`+first+`","password":"good-enough"}`)
	tok := l.token("user", "good-enough")
	l.want(200, "GET", "/x", tok, "")
	now = now.Add(91 * 24 * time.Hour)
	l.want(403, "GET", "/x", adm, "")
	l.want(403, "GET", "/x", "user:good-enough", "")
	who, _, err := l.Console().Password(ctx, "admin", "admin", "192.0.2.1:1")
	if err != nil || len(who.Roles) != 0 {
		t.Errorf("at the console: %+v, %v, want one who may change the password only", who, err)
	}
	l.want(204, "POST", "/auth/password", adm, `{"current":"admin","password":"good-enough"}`)
	l.want(200, "GET", "/x", "admin:good-enough", "")
}

func firstPassword(t *testing.T, file, user string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	must(t, err)
	for line := range strings.Lines(string(b)) {
		if name, pw, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == user {
			return pw
		}
	}
	t.Fatalf("no password of %s in %q", user, b)
	return ""
}
