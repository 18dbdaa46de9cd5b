package realmidsvc

import (
	"regexp"
	"slices"
)

// The forms of POST /v3/auth/tokens.
type (
	tokenRequest struct {
		Auth auth `json:"auth"`
	}
	auth struct {
		Identity identity `json:"identity"`
		Scope    *scope   `json:"scope,omitempty"`
	}
	identity struct {
		Methods    []string       `json:"methods"`
		Password   *password      `json:"password,omitempty"`
		Credential *appCredential `json:"application_credential,omitempty"`
	}
	password struct {
		User user `json:"user"`
	}
	user struct {
		Name     string `json:"name"`
		Password string `json:"password"`
		Domain   named  `json:"domain"`
	}
	appCredential struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	}
	scope struct {
		Domain *named  `json:"domain,omitempty"`
		System *system `json:"system,omitempty"`
	}
	system struct {
		All bool `json:"all"`
	}
	named struct {
		Name string `json:"name"`
	}
	tokenAnswer struct {
		Token struct {
			User  named   `json:"user"`
			Roles []named `json:"roles"`
		} `json:"token"`
	}
)

// passwordLogin asks for a token of the user's own domain, which has the roles there.
func passwordLogin(name, domain, secret string) tokenRequest {
	return tokenRequest{auth{
		Identity: identity{
			Methods:  []string{"password"},
			Password: &password{user{name, secret, named{domain}}},
		},
		Scope: &scope{Domain: &named{domain}},
	}}
}

// credentialLogin asks for a token of what the application credential was made for.
func credentialLogin(id, secret string) tokenRequest {
	return tokenRequest{auth{Identity: identity{
		Methods:    []string{"application_credential"},
		Credential: &appCredential{id, secret},
	}}}
}

// credentialID is the form of an application credential's id.
var credentialID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// roles returns the names of the roles, sorted, each once.
func (t tokenAnswer) roles() []string {
	var out []string
	for _, r := range t.Token.Roles {
		if r.Name != "" {
			out = append(out, r.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
