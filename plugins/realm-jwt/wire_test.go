package realmjwt

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/realm"
)

// As the controller asks the plugin: over the contract, from a provider with a certificate that is trusted, or is not.
func TestTheProviderMustProveItself(t *testing.T) {
	i := newIssuer(t)
	i.now = time.Now()
	i.Server = httptest.NewTLSServer(http.HandlerFunc(i.answer))
	t.Cleanup(i.Close)
	for _, trusted := range []bool{false, true} {
		host := plugintest.NewHost(t)
		if trusted {
			host.Trust(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw}))
		}
		c := realm.NewClient(plugintest.Start(t, Options(), plugintest.WithHost(host)).Conn)
		_, err := c.Configure(t.Context(), realm.Config{
			Name: "k",
			Kind: "BearerJwtRealm",
			Properties: map[string]realm.Property{
				"expected-issuer": {Value: i.URL},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Takes("k"); !slices.Equal(got, []realm.Kind{realm.Bearer}) {
			t.Errorf("it takes %v", got)
		}
		got := c.Authenticate(t.Context(), "k", realm.Credentials{Bearer: i.token(i.claims())})
		switch {
		case trusted && (got.Outcome != realm.Authenticated || got.Principal != "ann" || got.Expires.Before(i.now)):
			t.Errorf("trusted: %+v", got)
		case !trusted && (got.Outcome != realm.Unavailable || !strings.Contains(got.Reason, "certificate")):
			t.Errorf("not trusted: %+v", got)
		}
		if got := c.Authenticate(t.Context(), "k", realm.Credentials{User: "ann", Password: "pw"}); got.Outcome != realm.Unknown {
			t.Errorf("a password: %+v", got)
		}
	}
}
