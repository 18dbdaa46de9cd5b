package ldap

import (
	"errors"
	"fmt"
	"strings"

	ber "github.com/go-asn1-ber/asn1-ber"
	goldap "github.com/go-ldap/ldap/v3"

	"ctl.internal/sdk/realm"
)

// RefusedError is a server's answer that the credentials are not good.
type RefusedError struct{ Reason string }

// Error returns the reason; it holds no secret.
func (e *RefusedError) Error() string { return e.Reason }

// Outcome is what an error of a login means to the controller.
func Outcome(err error) realm.Result {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return realm.Result{
			Outcome: realm.Unknown,
			Reason:  refused.Reason,
		}
	}
	return realm.Result{
		Outcome: realm.Unavailable,
		Reason:  err.Error(),
	}
}

// refusals are the result codes of a bind that mean: not with these credentials.
var refusals = map[uint16]string{
	goldap.LDAPResultInvalidCredentials:          "user unknown or password wrong",
	goldap.LDAPResultInappropriateAuthentication: "this entry has no password",
	goldap.LDAPResultNoSuchObject:                "no such entry",
	goldap.LDAPResultInvalidDNSyntax:             "the name makes no entry's name",
	goldap.LDAPResultUnwillingToPerform:          "the server will not log this user in",
	goldap.LDAPResultConstraintViolation:         "too many wrong passwords",
	goldap.LDAPResultInsufficientAccessRights:    "this entry may not log in",
}

// states are the sub-codes that a directory service adds to result code 49.
var states = map[string]string{
	"525": "no such user",
	"52e": "user unknown or password wrong",
	"530": "not at this time of day",
	"531": "not from this machine",
	"532": "the password has expired",
	"533": "the account is disabled",
	"701": "the account has expired",
	"773": "the password must be changed",
	"775": "the account is locked",
}

// bindError turns the error of a bind into a RefusedError where it is one.
func bindError(err error) error {
	code, ok := resultCode(err)
	if !ok { // also what its policy says
		return err
	}
	reason, ok := refusals[code]
	if !ok {
		return serverError(err)
	}
	_, rest, found := strings.Cut(err.Error(), ", data ")
	if found && code == goldap.LDAPResultInvalidCredentials {
		state, _, _ := strings.Cut(rest, ",")
		if known := states[strings.TrimSpace(state)]; known != "" {
			reason = known
		}
	}
	return &RefusedError{reason}
}

// policySays is why a server's password policy (draft-behera-ldap-password-policy, section 6.2) does not let the user
// go on, though the password may be right; empty if it does. A server without one ignores the control.
func policySays(r *goldap.SimpleBindResult) string {
	if r == nil {
		return ""
	}
	for _, c := range r.Controls {
		policy, ok := c.(*goldap.ControlBeheraPasswordPolicy)
		if !ok {
			continue
		}
		switch {
		case policy.Error == goldap.BeheraPasswordExpired:
			return "the password has expired"
		case policy.Error == goldap.BeheraAccountLocked:
			return "the account is locked"
		case policy.Error == goldap.BeheraChangeAfterReset:
			return "the password must be changed"
		case policy.Grace >= 0:
			return fmt.Sprintf(
				"the password has expired; it can be changed in %d further logins",
				policy.Grace,
			)
		}
	}
	return ""
}

// isCredentials reports whether an error is the server's answer that the credentials are not good.
func isCredentials(err error) bool {
	code, ok := resultCode(err)
	return ok && refusals[code] != ""
}

// serverError says what to do about codes that are a matter of configuration.
func serverError(err error) error {
	code, _ := resultCode(err)
	switch code {
	case goldap.LDAPResultStrongAuthRequired, goldap.LDAPResultConfidentialityRequired:
		return fmt.Errorf(
			"the server wants an encrypted connection; use ldaps:// or startTLS = true: %w",
			err,
		)
	case goldap.LDAPResultReferral:
		return fmt.Errorf(
			"the server refers to another one%s, which is not followed; name that one in the url: %w",
			firstReferral(err),
			err,
		)
	}
	return err
}

// referralTag is that of LDAPResult.referral (RFC 4511 section 4.1.9).
const referralTag = 3

// firstReferral is the first address that a server refers to, in parentheses; empty when it
// names none.
func firstReferral(err error) string {
	var e *goldap.Error
	if !errors.As(err, &e) || e.Packet == nil || len(e.Packet.Children) < 2 {
		return ""
	}
	for _, part := range e.Packet.Children[1].Children {
		if part.ClassType != ber.ClassContext ||
			part.Tag != referralTag ||
			len(part.Children) == 0 {
			continue
		}
		address, ok := part.Children[0].Value.(string)
		if ok && address != "" {
			return fmt.Sprintf(" (%.200q)", address)
		}
	}
	return ""
}

// resultCode returns the code that the server sent; ok is false for an error of
// this side or of the connection, after which the connection is of no more use.
func resultCode(err error) (code uint16, ok bool) {
	var e *goldap.Error
	if !errors.As(err, &e) || e.ResultCode >= goldap.ErrorNetwork || e.ResultCode == 0 {
		return 0, false
	}
	return e.ResultCode, true
}

// mayTryElsewhere reports whether another server may do better.
func mayTryElsewhere(err error) bool {
	code, ok := resultCode(err)
	return !ok || code == goldap.LDAPResultBusy || code == goldap.LDAPResultUnavailable
}

// isSearchForbidden reports whether a server refused a search as such: asking again, or
// another server, changes nothing.
func isSearchForbidden(err error) bool {
	code, ok := resultCode(err)
	return ok &&
		(code == goldap.LDAPResultInsufficientAccessRights || code == goldap.LDAPResultNoSuchObject || code == goldap.LDAPResultOperationsError)
}
