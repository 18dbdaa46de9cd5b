package ldap

import (
	"cmp"
	"net"
	"net/url"
	"strings"
	"time"

	"ctl.internal/sdk/realm"
)

// Settings are how a directory is reached.
type Settings struct {
	Servers  []Server // tried in turn, never empty
	StartTLS bool     // RFC 4511 section 4.14, on ldap:// servers

	SystemUser, SystemPassword string // whom searches run as; empty = the user who logs in

	Connections int           // at most, 1 to 1000
	Dial        time.Duration // to connect and agree on TLS with one server
	SizeLimit   int           // entries of one search
	Idle        time.Duration // how long an unused connection is kept
}

// Server is one address of a directory.
type Server struct {
	URL     string // as written
	Address string // host:port
	Host    string
	TLS     bool
}

// ReadSettings reads the properties that all realms over LDAP have, recording what
// is wrong with them in r. prefix is where a documented realm has those of its server and account.
// Warnings are for the operator's log.
func ReadSettings(r *realm.Reader, prefix string) (s Settings, warnings []string) {
	urls := prefix + "url"
	text := r.Needed(
		urls,
		"the address of the server, such as ldap://ldap.example.org:389; several are separated by blanks or commas",
	)
	for one := range strings.FieldsFuncSeq(text, func(c rune) bool {
		return c == ',' || c == ' ' || c == '\t'
	}) {
		server, why := parseURL(one)
		if why != "" {
			r.Fault(urls, "%q: %s", one, why)
			continue
		}
		s.Servers = append(s.Servers, server)
	}
	s.StartTLS = r.Bool("startTLS", false)
	s.SystemUser = r.String(prefix+"systemUsername", "")
	s.SystemPassword = r.String(prefix+"systemPassword", "")
	if s.SystemUser != "" && s.SystemPassword == "" {
		r.Fault(
			prefix+"systemUsername",
			"an account without a password would be anonymous; write %ssystemPassword too",
			prefix,
		)
	}
	if s.SystemUser == "" && s.SystemPassword != "" {
		r.Fault(
			prefix+"systemPassword",
			"it is used only with a user name; add %ssystemUsername, or remove it",
			prefix,
		)
	}
	s.Connections = r.Int("connections", 32, 1, 1000)
	s.Dial = r.Duration("connectTimeout", 3*time.Second)
	s.SizeLimit = r.Int("sizeLimit", 1000, 1, 100_000)
	s.Idle = r.Duration("idleTimeout", time.Minute)
	for _, server := range s.Servers {
		ip := net.ParseIP(server.Host)
		if !server.TLS &&
			!s.StartTLS &&
			server.Host != "localhost" &&
			(ip == nil || !ip.IsLoopback()) {
			warnings = append(
				warnings,
				"passwords travel to "+server.URL+" in clear text; use ldaps:// or startTLS = true",
			)
		}
	}
	return s, warnings
}

func parseURL(text string) (s Server, why string) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return s, "not an address; write ldap://host:389 or ldaps://host:636"
	}
	port := "389"
	switch strings.ToLower(u.Scheme) {
	case "ldap":
	case "ldaps":
		s.TLS, port = true, "636"
	default:
		return s, "the scheme is neither ldap nor ldaps"
	}
	if u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "" {
		return s, "only scheme, host and port belong here"
	}
	s.URL, s.Host = text, u.Hostname()
	s.Address = net.JoinHostPort(s.Host, cmp.Or(u.Port(), port))
	return s, ""
}
