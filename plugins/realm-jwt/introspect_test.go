package realmjwt

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"ctl.internal/sdk/realm"
)

func TestATokenThatTheProviderHasRevoked(t *testing.T) {
	i := newIssuer(t)
	token := i.token(i.claims())
	status, body, asked := http.StatusOK, "", 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, secret, _ := r.BasicAuth()
		if r.Method != http.MethodPost || r.FormValue("token") != token || r.URL.RawQuery != "" || name != "ctl" || secret != "s%2Bt" {
			t.Errorf("asked %s %s as %s %s", r.Method, r.URL, name, secret)
		}
		asked++
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	properties := map[string]realm.Property{
		"introspection-uri": {Value: s.URL},
		"client-id":         {Value: "ctl"},
		"client-secret":     {Value: "s+t"},
	}
	j := i.mustRealm(properties)
	for _, one := range []struct {
		status int
		body   string
		want   realm.Outcome
		fails  bool
	}{
		{200, `{"active":true}`, realm.Authenticated, false},
		{200, `{"active":false}`, realm.Unknown, false},
		{200, `{}`, realm.Unknown, true},
		{200, `{"active":"true"}`, realm.Unknown, true},
		{200, `<html>`, realm.Unknown, true},
		{401, `{"active":true}`, realm.Unknown, true},
		{302, `{"active":true}`, realm.Unknown, true},
	} {
		status, body = one.status, one.body
		got, err := ask(t, j, token)
		if (err != nil) != one.fails || got.Outcome != one.want || got.Outcome != realm.Authenticated && got.Principal != "" {
			t.Errorf("%d %s: %+v, %v", one.status, one.body, got, err)
		}
	}
	before := asked
	if got, err := ask(t, j, token[:len(token)-4]+"AAAA"); err != nil || got.Outcome != realm.Unknown || asked != before {
		t.Errorf("a bad signature: %+v, %v; the provider was asked about it: %v", got, err, asked != before)
	}
	delete(properties, "client-secret")
	if _, _, err := i.realm(properties); err == nil {
		t.Error("half of the settings is taken")
	}
}
