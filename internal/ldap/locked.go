package ldap

import (
	"strconv"
	"strings"
	"time"

	goldap "github.com/go-ldap/ldap/v3"
)

// LockAttributes are those by which servers keep an entry from logging in: of a directory service, of
// OpenLDAP's password policy, of 389 Directory Server.
var LockAttributes = []string{"userAccountControl", "accountExpires", "lockoutTime", "pwdAccountLockedTime", "pwdReset", "nsAccountLock"}

const (
	accountDisabled = 0x2                    // of userAccountControl
	never           = 0x7fffffffffffffff     // of accountExpires; 0 is the same
	epoch1601       = 11_644_473_600_000_000 // microseconds from 1601 to 1970; accountExpires counts tenths of them
)

// accountLockReason says why an entry may not log in, empty when nothing says so. Who logs in with a password
// gets the server's own word; this is for who is looked up.
func accountLockReason(e *goldap.Entry) string {
	value := e.GetEqualFoldAttributeValue
	n, err := strconv.ParseInt(value("userAccountControl"), 10, 64)
	if err == nil && n&accountDisabled != 0 {
		return "the account is disabled"
	}
	if n, err := strconv.ParseInt(value("accountExpires"), 10, 64); err == nil && n > 0 && n != never &&
		time.UnixMicro(n/10-epoch1601).Before(time.Now()) {
		return "the account has expired"
	}
	if n, err := strconv.ParseInt(value("lockoutTime"), 10, 64); err == nil && n > 0 {
		return "the account is locked"
	}
	if value("pwdAccountLockedTime") != "" || strings.EqualFold(value("nsAccountLock"), "true") {
		return "the account is locked"
	}
	if strings.EqualFold(value("pwdReset"), "true") {
		return "the password must be changed"
	}
	return ""
}

// Absent reports whether a search failed because its base is not there.
func Absent(err error) bool {
	code, ok := resultCode(err)
	return ok && (code == goldap.LDAPResultNoSuchObject || code == goldap.LDAPResultInvalidDNSyntax)
}
