package people

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ctl.internal/sdk/fault"
)

// Unaffiliated names people of whom no organization is known.
const Unaffiliated = "(unaffiliated)"

// affiliations says which organization an address or a domain belonged to, and when.
type affiliations struct {
	emails  map[string][]term
	domains map[string][]term // subdomains included
}

// term is a time at an organization.
type term struct {
	organization string
	from, until  int64 // seconds since the epoch; until is excluded, 0 = open
}

// Organization of an address at a time: by the address, by its domain, else the domain
// itself, unless everybody can have an address there.
func (a *affiliations) Organization(email string, when int64) string {
	if name, ok := termAt(a.emails[email], when); ok {
		return name
	}
	_, domain, _ := strings.Cut(email, "@")
	for rest := domain; rest != ""; _, rest, _ = strings.Cut(rest, ".") {
		if name, ok := termAt(a.domains[rest], when); ok {
			return name
		}
	}
	if domain == "" || isFreeDomain(domain) {
		return Unaffiliated
	}
	return domain
}

// termAt returns the term that holds at a time: of several the one that ends first.
func termAt(terms []term, when int64) (name string, ok bool) {
	var best term
	for _, t := range terms {
		if when < t.from || (t.until != 0 && when >= t.until) {
			continue
		}
		if !ok || (t.until != 0 && (best.until == 0 || t.until < best.until)) {
			best, ok = t, true
		}
	}
	return best.organization, ok
}

// readAffiliations takes lines of two forms. That of gitdm's maps, an address or a domain, an
// organization and perhaps the first day after:
//
//	ann@example.org  Example Ltd < 2016-05-01
//	example.org      Example Ltd
//
// and that of the Linux Foundation's lists, a name with addresses ("!" or "@"), then
// indented lines of organizations:
//
//	Ann Author: ann!example.org, ann!home.example
//		Example Ltd from 2014-01-01 until 2016-05-01
//		Another GmbH
func (a *affiliations) readAffiliations(file string, r io.Reader) error {
	lines := bufio.NewScanner(r)
	var person []string // addresses that indented lines belong to
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		bad := func(why string) error {
			return fault.At(fault.Invalid, fmt.Sprintf("%s:%d", file, n), "%s", why)
		}
		switch indented := text != "" && (text[0] == '\t' || text[0] == ' '); {
		case strings.TrimSpace(text) == "":
		case indented && person == nil:
			return bad("an indented line needs a line with a name and addresses before it")
		case indented:
			t, err := parseTerm(text)
			if err != nil {
				return bad(err.Error())
			}
			for _, email := range person {
				a.emails[email] = append(a.emails[email], t)
			}
		case strings.Contains(text, ":"):
			person = nil
			_, list, _ := strings.Cut(text, ":")
			for email := range strings.SplitSeq(list, ",") {
				if email = strings.ToLower(strings.TrimSpace(strings.Replace(email, "!", "@",
					1))); strings.Contains(email, "@") {
					person = append(person, email)
				}
			}
			if person == nil {
				return bad("no address follows the name: write ann!example.org or ann@example.org")
			}
		default:
			person = nil
			fields := strings.Fields(text)
			if len(fields) < 2 {
				return bad("an organization must follow the address or domain")
			}
			t, err := parseTerm(strings.Join(fields[1:], " "))
			if err != nil {
				return bad(err.Error())
			}
			to, key := a.domains, strings.ToLower(fields[0])
			if strings.Contains(key, "@") {
				to = a.emails
			}
			to[key] = append(to[key], t)
		}
	}
	return lines.Err()
}

// parseTerm reads "Example Ltd [from DAY] [until DAY]" and "Example Ltd [< DAY]".
func parseTerm(text string) (t term, err error) {
	fields := strings.Fields(text)
	for len(fields) > 2 {
		mark, day := fields[len(fields)-2], fields[len(fields)-1]
		to := map[string]*int64{
			"<":     &t.until,
			"until": &t.until,
			"from":  &t.from,
		}[mark]
		if to == nil {
			break
		}
		d, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return t, fmt.Errorf("%q is not a day: write it as 2016-05-01", day)
		}
		*to = d.Unix()
		fields = fields[:len(fields)-2]
	}
	if t.until != 0 && t.until <= t.from {
		return t, fmt.Errorf("%q ends before it begins", strings.TrimSpace(text))
	}
	t.organization = strings.Join(fields, " ")
	return t, nil
}

// isFreeDomain reports whether a domain gives addresses to everybody.
func isFreeDomain(domain string) bool {
	if slices.Contains(freeDomains, domain) {
		return true
	}
	first, _, _ := strings.Cut(domain, ".")
	return slices.Contains(freeFamilies, first) && strings.Count(domain, ".") <= 2
}

// freeFamilies have one domain in each of many countries.
var freeFamilies = []string{"yahoo", "hotmail", "outlook", "live", "gmx", "yandex", "ymail", "rocketmail",
	"googlemail", "protonmail"}

var freeDomains = []string{"gmail.com", "users.noreply.github.com", "noreply.github.com", "users.noreply.gitlab.com",
	"users.sourceforge.net",
	"qq.com", "foxmail.com", "163.com", "126.com", "sina.com", "sina.cn", "sohu.com", "139.com", "aliyun.com",
	"msn.com", "aol.com", "aim.com", "icloud.com", "me.com", "mac.com", "proton.me", "pm.me", "web.de", "t-online.de", "freenet.de",
	"posteo.de", "posteo.net", "mailbox.org", "riseup.net", "fastmail.com", "fastmail.fm", "tutanota.com", "tuta.io", "zoho.com", "mail.com",
	"mail.ru", "inbox.ru", "bk.ru", "list.ru", "rambler.ru", "ya.ru", "seznam.cz", "centrum.cz", "wp.pl", "o2.pl", "interia.pl", "free.fr",
	"orange.fr", "laposte.net", "wanadoo.fr", "libero.it", "rediffmail.com", "naver.com", "hanmail.net", "daum.net", "comcast.net",
	"verizon.net", "att.net", "sbcglobal.net", "earthlink.net", "btinternet.com", "localhost", "localhost.localdomain"}
