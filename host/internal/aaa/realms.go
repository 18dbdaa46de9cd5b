package aaa

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/aaa/secini"
	"ctl.internal/sdk/realm"
)

const localRealm = "TokenAuthRealm"

// defaultParallel is how many logins a realm is asked about at once where its plugin says nothing else.
const defaultParallel = 32

// Classes that say what is so anyway: logins are logged, and stored passwords are verified by their form.
const (
	listenerClass = "AuthenticationListener"
	matcherClass  = "PasswordMatcher"
)

var managerProps = []string{"realms", "authenticator.authenticationListeners"}

// compileRealms reads [main]: the realms in the order they are to be tried.
func compileRealms(f *secini.File, o Options, hasher *password.Hasher) ([]authn.Realm, error) {
	kinds := slices.Concat([]string{localRealm}, shippedKinds(), o.RealmKinds)
	classes := slices.Concat(kinds, rules.Classes(), []string{listenerClass, matcherClass})
	var errs []error
	made := map[string]authn.Realm{}
	for _, ob := range f.Objects {
		class := ob.Class[strings.LastIndex(ob.Class, ".")+1:]
		switch {
		case class == "" && ob.Name == "securityManager":
			for _, p := range ob.Props {
				if !slices.Contains(managerProps, p.Name) {
					errs = append(errs, f.Unknown(p.Value.Line, "property", p.Name, managerProps))
				}
			}
		case class == "" && ob.Name == secini.IniRealm, class == "" && rules.IsBuiltin(ob.Name), rules.IsFilter(class), class == listenerClass, class == matcherClass:
		case class == "":
			errs = append(
				errs,
				f.Errorf(
					ob.Line,
					"%q has properties but no class; write `%s = <class>` before them",
					ob.Name,
					ob.Name,
				),
			)
		case class == localRealm:
			made[ob.Name] = authn.Realm{
				Name: ob.Name,
				Kind: class,
			}
		case slices.Contains(kinds, class):
			r, err := outsideRealm(f, ob, class, o)
			if err = errors.Join(checkRealmName(f, ob), err); err != nil {
				errs = append(errs, err)
			}
			made[ob.Name] = r
		default:
			err := f.Unknown(ob.Line, "class", class, classes)
			if strings.HasSuffix(class, "Realm") {
				err = fmt.Errorf(
					"%w; list a class of your own plugin in aaa.realmKinds of etc/ctl.yaml",
					err,
				)
			}
			errs = append(errs, err)
		}
	}
	ini, err := authn.INIRealm(f, hasher)
	if err != nil {
		errs = append(errs, err)
	}
	made[secini.IniRealm] = authn.Realm{
		Name:    secini.IniRealm,
		Kind:    "IniRealm",
		Outside: ini,

		OneDomain: true,
	}
	order, err := realmOrder(f, made)
	return order, errors.Join(append(errs, err)...)
}

func realmOrder(f *secini.File, made map[string]authn.Realm) ([]authn.Realm, error) {
	v, given := f.Object("securityManager").Prop("realms")
	if !given {
		order := []authn.Realm{{
			Name: "tokenAuthRealm",
			Kind: localRealm,
		}}
		if len(f.Users) > 0 {
			order = append(order, made[secini.IniRealm])
		}
		return order, nil
	}
	names, err := f.Refs(v)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, f.Errorf(
			v.Line,
			"no realm is named, so no user could log in; write `securityManager.realms = $tokenAuthRealm`",
		)
	}
	var order []authn.Realm
	for _, n := range names {
		r, ok := made[n]
		switch {
		case !ok && f.Object(n) != nil:
			return nil, f.Errorf(v.Line, "%q is not a realm", n)
		case slices.ContainsFunc(order, func(o authn.Realm) bool { return o.Name == n }):
			return nil, f.Errorf(v.Line, "realm %q is named twice", n)
		}
		order = append(order, r)
	}
	return order, nil
}

func outsideRealm(f *secini.File, ob *secini.Object, class string, o Options) (authn.Realm, error) {
	c := realm.Config{
		Name:       ob.Name,
		Kind:       class,
		Properties: map[string]realm.Property{},
	}
	facts := factsOf(class)
	r := authn.Realm{
		Name:      ob.Name,
		Kind:      class,
		Directory: facts.directory,
		OneDomain: facts.oneDomain,
	}
	for _, p := range ob.Props {
		text := p.Value.Text()
		if p.Name == "timeout" { // ours: every outside call has a deadline
			ms, err := strconv.Atoi(text)
			if err != nil || ms < 1 || ms > 60_000 {
				return r, f.Errorf(
					p.Value.Line,
					"%s.timeout takes milliseconds, 1 to 60000",
					ob.Name,
				)
			}
			r.Timeout = time.Duration(ms) * time.Millisecond
			continue
		}
		if p.Name == "parallel" { // ours, too
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > 1000 {
				return r, f.Errorf(
					p.Value.Line,
					"%s.parallel takes the number of logins that the realm checks at the same time, 1 to 1000",
					ob.Name,
				)
			}
			r.Places = make(chan struct{}, n)
			continue
		}
		prop := realm.Property{
			Value:  text,
			Origin: fmt.Sprintf("%s:%d", f.Name, p.Value.Line),
		}
		var err error
		if prop.List, err = f.List(p.Value); err != nil {
			return r, err
		}
		if pairs, err := f.Map(p.Value); err == nil && len(pairs) > 0 {
			prop.Map = map[string]string{}
			for _, kv := range pairs {
				prop.Map[kv.Key] = kv.Value
			}
		}
		c.Properties[p.Name] = prop
	}
	if r.Places == nil {
		r.Places = make(chan struct{}, facts.parallel)
	}
	if o.Realms != nil {
		r.Epoch = func() uint64 { return o.Realms.Epoch(class) }
	}
	r.Outside = &late{
		config:   c,
		source:   o.Realms,
		log:      o.Logger("org.ctl.aaa"),
		now:      o.Now,
		declared: facts.takes,
	}
	return r, nil
}
