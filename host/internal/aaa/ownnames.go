package aaa

import (
	"context"
	"strings"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/aaa/secini"
)

// A user is NAME@DOMAIN, and one of another realm NAME@REALM: no realm, no domain and nothing of the controller itself may have the
// same name, or one user could be taken for another.

// checkRealmName refuses a realm whose users would be called like others.
func checkRealmName(f *secini.File, ob *secini.Object) error {
	for own, whose := range map[string]string{
		identity.SDN: "users of this controller",
		PluginDomain: "plugins that act for themselves",
	} {
		if strings.EqualFold(ob.Name, own) {
			return f.Errorf(
				ob.Line,
				"a realm cannot be called %q, which is the domain of %s; write another name here, in its properties and in securityManager.realms",
				ob.Name,
				whose,
			)
		}
	}
	return nil
}

// whyNoDomain says why users of the controller cannot have a domain of a name; "" = they can.
func whyNoDomain(realms []authn.Realm, name string) string {
	if strings.EqualFold(name, PluginDomain) {
		return "plugins that act for themselves have this domain: choose another name"
	}
	for _, r := range realms {
		if r.Outside != nil && strings.EqualFold(r.Name, name) {
			return "users of the realm " + r.Name + " of etc/sec.ini have this domain: choose another name, or call the realm otherwise there"
		}
	}
	return ""
}

// checkDomains refuses realms that are called like a domain that is there, and warns of one that an earlier release let be made.
func (a *AAA) checkDomains(ctx context.Context, conf config) error {
	domains, err := a.identity.Domains(ctx, identity.Page{})
	if err != nil {
		return err
	}
	for _, d := range domains {
		for _, r := range conf.realms {
			if r.Outside != nil && strings.EqualFold(r.Name, d.Name) {
				return conf.file.Errorf(
					lineOf(conf.file, r.Name),
					"the realm %q is called like the domain %q of users of this controller; call it otherwise here, in its properties and in securityManager.realms",
					r.Name,
					d.Name,
				)
			}
		}
		if strings.EqualFold(d.Name, PluginDomain) {
			a.log.Warn(
				"users of a domain are called like plugins that act for themselves: make them in another domain and delete this one",
				"domain",
				d.Name,
			)
		}
	}
	return nil
}

func lineOf(f *secini.File, name string) int {
	if ob := f.Object(name); ob != nil {
		return ob.Line
	}
	return 1
}
