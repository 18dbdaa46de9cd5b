package realmidsvc

import (
	"slices"
	"testing"
	"unicode/utf8"

	"ctl.internal/sdk/realm"
)

// Whatever an identity service answers, only a token that names its user opens the
// door, and what is said of him can be used as it is.
func FuzzVerdict(f *testing.F) {
	for _, s := range []string{
		`{"token":{"user":{"name":"alice"},"roles":[{"name":"admin"},{"name":"admin"},{"name":""},{"name":"user"}]}}`,
		`{"token":{"user":{"name":"bob@sdn"},"roles":null}}`, `{"token":{"user":{}}}`, `{"token":[]}`, `{"error":{"code":401}}`, `[]`, `{`, ``,
		`{"TOKEN":{"USER":{"NAME":"x"},"roles":[{"name":"a\u0000b"}]}}`, `{"token":{"user":{"name":"` + "\xff" + `"},"roles":[{"name":"\ud800"}]}}`,
	} {
		f.Add(uint16(201), "alice", s)
		f.Add(uint16(200), "0123456789abcdef0123456789abcdef", s)
		f.Add(uint16(401), "bob", s)
	}
	f.Fuzz(func(t *testing.T, status uint16, name, body string) {
		got, err := resultOfAnswer(name, int(status), []byte(body))
		switch {
		case err != nil:
			if got.Outcome == realm.Authenticated || got.Principal != "" || len(got.Roles) > 0 {
				t.Errorf("an error, and %+v", got)
			}
		case got.Outcome == realm.Authenticated:
			if status != 200 && status != 201 {
				t.Errorf("status %d gives access", status)
			}
			if got.Principal != name && !credentialID.MatchString(name) {
				t.Errorf("%q came in as %q", name, got.Principal)
			}
			if credentialID.MatchString(name) && (got.Principal == "" || !utf8.ValidString(got.Principal)) {
				t.Errorf("the principal is %q", got.Principal)
			}
			if !slices.IsSorted(got.Roles) || len(slices.Compact(slices.Clone(got.Roles))) != len(got.Roles) || slices.Contains(got.Roles, "") {
				t.Errorf("roles %q", got.Roles)
			}
		default:
			if got.Principal != "" || got.Roles != nil {
				t.Errorf("refused, and %+v", got)
			}
		}
	})
}
