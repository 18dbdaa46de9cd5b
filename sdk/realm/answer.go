package realm

import (
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// Limits of an answer: names in bytes, and how many roles. An answer to a token that is beyond them is a fault of the plugin. Roles of
// users with a password come from directories, where anything may be called anything: dropRoles leaves those out that are beyond.
const (
	maxPrincipal = 1024
	maxRole      = 255
	maxRoles     = 1000
)

// checkAnswer says why the answer to a kind of credentials cannot be used; "" when it can.
func checkAnswer(r *pluginv1.AuthenticateResponse, kind Kind) string {
	known := false
	for _, outcome := range outcomes {
		known = known || outcome == r.Outcome
	}
	switch {
	case !known:
		return fmt.Sprintf("the answer has outcome %d, which is none of this contract", r.Outcome)
	case r.Outcome != pluginv1.AuthenticateResponse_OUTCOME_AUTHENTICATED:
		return ""
	case r.Principal == "" && kind != Password:
		return "the answer names no user"
	case r.Principal != "" && !isName(r.Principal, maxPrincipal):
		return fmt.Sprintf("the name of the user is longer than %d bytes or no printable text", maxPrincipal)
	case kind != Password && len(r.Roles) > maxRoles:
		return fmt.Sprintf("the answer has %d roles, more than %d", len(r.Roles), maxRoles)
	case r.Expires < 0 || r.Expires > latest.Unix():
		return fmt.Sprintf("the credentials end at %d, which is no time", r.Expires)
	}
	for _, role := range r.Roles {
		if kind != Password && !isName(role, maxRole) {
			return fmt.Sprintf("a role is empty, longer than %d bytes or no printable text", maxRole)
		}
	}
	return ""
}

// dropRoles returns the roles that are names, maxRoles of them at most, and says what was left out; "" when nothing was.
func dropRoles(roles []string) (kept []string, warning string) {
	for _, role := range roles {
		if len(kept) < maxRoles && isName(role, maxRole) {
			kept = append(kept, role)
		}
	}
	if left := len(roles) - len(kept); left > 0 {
		warning = fmt.Sprintf(
			"%d of %d roles are left out: empty, longer than %d bytes, no printable text, or beyond %d",
			left,
			len(roles),
			maxRole,
			maxRoles,
		)
	}
	return kept, warning
}

// latest is a time that no credentials outlive.
var latest = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

func isName(s string, most int) bool {
	if s == "" || len(s) > most || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}
