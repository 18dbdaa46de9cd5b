package realm_test

import (
	"context"
	"crypto/subtle"
	"fmt"

	"ctl.internal/sdk/realm"
)

// oneUser makes realms with one user, whose name and password are properties in sec.ini.
type oneUser struct{}

func (oneUser) New(_ context.Context, c realm.Config) (realm.Realm, []string, error) {
	r := realm.Read(c)
	u := user{r.Needed("user", "the name of the user"), r.Needed("password", "his password")}
	return u, nil, r.Err()
}

type user struct{ name, password string }

func (u user) Authenticate(_ context.Context, c realm.Credentials) (realm.Result, error) {
	if c.User != u.name || subtle.ConstantTimeCompare([]byte(c.Password), []byte(u.password)) != 1 {
		return realm.Result{Outcome: realm.Unknown, Reason: "wrong user or password"}, nil // the next realm is asked
	}
	return realm.Result{Outcome: realm.Authenticated, Principal: u.name, Roles: []string{"user"}}, nil
}

func (user) Close() error { return nil }

// A plugin returns a Factory in sdk.Plugin.Realm. It makes an instance for each realm of its kinds in sec.ini.
func Example() {
	ctx := context.Background()
	_, _, err := oneUser{}.New(ctx, realm.Config{Name: "one", Kind: "OneUserRealm", Properties: map[string]realm.Property{"user": {Value: "ann"}}})
	fmt.Println(err)

	r, _, _ := oneUser{}.New(ctx, realm.Config{Name: "one", Kind: "OneUserRealm",
		Properties: map[string]realm.Property{"user": {Value: "ann"}, "password": {Value: "secret"}}})
	for _, password := range []string{"guess", "secret"} {
		result, _ := r.Authenticate(ctx, realm.Credentials{User: "ann", Password: password})
		fmt.Println(result.Outcome == realm.Authenticated, result.Roles)
	}
	// Output:
	// realm one needs `one.password = ...`: his password
	// false []
	// true [user]
}
