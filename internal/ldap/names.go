package ldap

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	goldap "github.com/go-ldap/ldap/v3"
	"golang.org/x/text/unicode/norm"
)

// maxName bounds a user name, in bytes.
const maxName = 256

// Name is the name a user is looked up by: what was typed before the @, or all of
// it when a domain other than the controller's own was given. Ok is false for a name
// that no directory can hold.
func Name(user, domain string) (name string, ok bool) {
	name = user
	if domain != "" && domain != "sdn" {
		name += "@" + domain
	}
	return name, name != "" && len(name) <= maxName && utf8.ValidString(name) && !strings.ContainsRune(name, 0)
}

// Template makes the name to bind with of a user's name, which replaces {0}.
type Template struct {
	text string
	dn   bool
}

// NewTemplate compiles a template. One that is no DN ("{0}@example.org", "LAB\{0}")
// gets the user's name as it is.
func NewTemplate(text string) Template {
	_, err := goldap.ParseDN(strings.ReplaceAll(text, "{0}", "x"))
	return Template{text, err == nil && text != ""}
}

// Name puts a user's name into the template, in a DN as a value of RFC 4514.
func (t Template) Name(user string) string {
	if t.dn {
		user = goldap.EscapeDN(user)
	}
	return strings.ReplaceAll(t.text, "{0}", user)
}

// IsDN reports whether the template makes names of entries.
func (t Template) IsDN() bool { return t.dn }

// Within reports whether every name of the template is that of an entry in the subtree
// of base.
func (t Template) Within(base string) bool {
	dn, errDN := goldap.ParseDN(t.Name("x"))
	top, errTop := goldap.ParseDN(base)
	return t.dn && errDN == nil && errTop == nil && (top.AncestorOfFold(dn) || top.EqualFold(dn))
}

// FoldName is what all spellings have in common under which directories find one account by an attribute that ignores case
// (RFC 4518): case, blanks, forms of characters, and characters that are not seen.
func FoldName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, norm.NFKC.String(name))
	return strings.Join(strings.Fields(norm.NFKC.String(name)), " ")
}

// ignoringCase are attributes of names whose values are equal whatever their case is (RFC 4519, RFC 4524 and Active Directory).
var ignoringCase = []string{"uid", "userid", "cn", "commonname", "sn", "mail", "rfc822mailbox", "employeenumber", "samaccountname", "userprincipalname"}

// IgnoresCase reports whether an attribute is known to hold names whose case does not matter.
func IgnoresCase(attribute string) bool {
	return slices.Contains(ignoringCase, strings.ToLower(attribute))
}

// Naming returns the attribute that holds {0} in a DN template, and the DN below it:
// "uid" and "ou=People,dc=example,dc=org" of "uid={0},ou=People,dc=example,dc=org".
// Both are empty when {0} is not alone in the first part.
func Naming(template string) (attribute, suffix string) {
	dn, err := goldap.ParseDN(strings.ReplaceAll(template, "{0}", "x"))
	if err != nil || len(dn.RDNs) == 0 {
		return "", ""
	}
	_, suffix, _ = strings.Cut(template, ",")
	first := dn.RDNs[0].Attributes
	if strings.Contains(suffix, "{0}") {
		return "", ""
	}
	if len(first) == 1 && first[0].Value == "x" {
		attribute = first[0].Type
	}
	return attribute, strings.TrimSpace(suffix)
}

// Filter puts values into a filter of RFC 4515: {0}, {1} and so on stand for them.
// A value cannot end the place it is put in.
func Filter(template string, values ...string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(template, '{')
		if at < 0 || at+2 >= len(template) {
			break
		}
		n := int(template[at+1] - '0')
		if template[at+2] != '}' || n < 0 || n >= len(values) {
			b.WriteString(template[:at+1])
			template = template[at+1:]
			continue
		}
		b.WriteString(template[:at])
		b.WriteString(goldap.EscapeFilter(values[n]))
		template = template[at+3:]
	}
	return b.String() + template
}

// CheckBase reports whether a text names a place in a directory.
func CheckBase(text string) error {
	if _, err := goldap.ParseDN(text); err != nil {
		return fmt.Errorf("%q is not a DN (%w); write one such as \"dc=example,dc=org\"", text, err)
	}
	return nil
}

// attribute is an AttributeDescription of RFC 4512 section 2.5.
var attribute = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*|[0-9]+(\.[0-9]+)*)(;[A-Za-z0-9-]+)*$`)

// CheckAttribute reports whether a text can be the name of an attribute.
func CheckAttribute(text string) error {
	if !attribute.MatchString(text) {
		return fmt.Errorf("%q cannot be the name of an attribute; write one such as memberOf", text)
	}
	return nil
}

// CheckFilter reports whether a filter template can be used.
func CheckFilter(template string) error {
	if _, err := goldap.CompileFilter(Filter(template, "x", "x")); err != nil {
		return fmt.Errorf(
			"%q is not a filter of RFC 4515 (%w); write one such as \"(uid={0})\"",
			template,
			err,
		)
	}
	return nil
}
