package aaa

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"ctl.internal/host/internal/aaa/authn"
	"ctl.internal/host/internal/aaa/idm"
	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
	"ctl.internal/host/internal/aaa/secini"
	"ctl.internal/internal/nearest"
)

// servedPaths are the paths that the controller serves itself, by their first segment, with the second; nil = all below it.
func servedPaths() map[string][]string {
	out := map[string][]string{
		"restconf":      {"config", "operational", "data", "operations", "modules", "streams", "subscriptions", "yang-library-version"},
		"rests":         {"config", "operational", "data", "ds", "operations", "modules", "streams", "subscriptions", "yang-library-version"},
		"web":           nil,
		"apidoc":        nil,
		"yangui":        nil,
		".well-known":   nil,
		"operations":    nil,
		"subscriptions": nil,
	}
	for _, plugin := range shippedPlugins() {
		for _, r := range plugin.Routes {
			first, _, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
			out[first] = nil
		}
	}
	for _, p := range idm.Paths() {
		list, all := out[p[0]]
		if len(p) > 1 && !(all && list == nil) && !slices.Contains(list, p[1]) {
			out[p[0]] = append(list, p[1])
		}
	}
	return out
}

// servlets are paths relative to upstream's servlets, as its own file has them, and where they are here.
var servlets = map[string]string{
	"v1":          "/auth",
	"token":       "/oauth2",
	"revoke":      "/oauth2",
	"config":      "/restconf",
	"operational": "/restconf",
	"modules":     "/restconf",
	"streams":     "/restconf",
	"data":        "/rests",
}

// Warnings lists what in a valid sec.ini may not mean what its author thinks; each with file, line and
// what to do.
func Warnings(o Options) []*secini.Error {
	o.setDefaults()
	f, err := secini.Parse(o.SecININame, o.SecINI)
	if err != nil {
		return nil
	}
	set, err := rules.Compile(f)
	if err != nil {
		return nil
	}
	w := &warner{f: f, set: set}
	for i := range set.Rules() {
		w.warnUnreachable(i)
		w.warnShadowed(i)
		w.warnMissingLogin(i)
		w.warnWeakerAddress(i)
	}
	w.warnOpenPaths()
	w.warnGroupNames()
	authn.INIWarnings(f, w.warn)
	slices.SortStableFunc(w.out, func(a, b *secini.Error) int { return a.Line - b.Line })
	return w.out
}

type warner struct {
	f   *secini.File
	set *rules.Set
	out []*secini.Error
}

func (w *warner) warn(line int, format string, args ...any) {
	w.out = append(
		w.out,
		&secini.Error{
			File: w.f.Name,
			Line: line,
			Text: fmt.Sprintf(format, args...),
		},
	)
}

// warnUnreachable warns of a rule for paths that nothing is served at.
func (w *warner) warnUnreachable(i int) {
	r := &w.set.Rules()[i]
	text := r.Pattern.String()
	if !strings.HasPrefix(text, "/") {
		w.warn(
			r.Line,
			"%s does not begin with a slash; it is read as /%s, which Shiro would match with nothing: write that",
			text,
			strings.TrimPrefix(text, "*"),
		)
	}
	first, ok := r.Pattern.Literal(0)
	if !ok {
		return
	}
	served := servedPaths()
	second, known := served[first]
	switch s, literal := r.Pattern.Literal(1); {
	case !known && servlets[first] != "":
		w.warn(
			r.Line,
			"%s matches nothing here: rules are for full paths; write %s%s = %s",
			text,
			servlets[first],
			withLeadingSlash(text),
			r.Text,
		)
	case !known:
		w.warn(
			r.Line,
			"%s matches nothing unless a plugin serves paths below /%s%s",
			text,
			first,
			nearest.Hint(first, slices.Sorted(maps.Keys(served))),
		)
	case literal && second != nil && !slices.Contains(second, s):
		w.warn(
			r.Line,
			"%s matches nothing: below /%s there are %s only%s",
			text,
			first,
			strings.Join(second, ", "),
			nearest.Hint(s, second),
		)
	}
}

func withLeadingSlash(pattern string) string {
	return "/" + strings.TrimPrefix(pattern, "/")
}

// warnShadowed warns of a rule that never decides.
func (w *warner) warnShadowed(i int) {
	all := w.set.Rules()
	for j := range i {
		if all[j].Pattern.Covers(all[i].Pattern) {
			w.warn(
				all[i].Line,
				"%s is never reached: line %d, %s, matches all of it before; put this line above that one",
				all[i].Pattern,
				all[j].Line,
				all[j].Pattern,
			)
			return
		}
	}
}

// warnMissingLogin warns of filters that ask who the caller is before anything finds out.
func (w *warner) warnMissingLogin(i int) {
	r := &w.set.Rules()[i]
	if name := r.NeedsLogin(); name != "" {
		w.warn(
			r.Line,
			"%s rejects every request: no filter before it requires a login; write %s = authcBasic, %s",
			name,
			r.Pattern,
			r.Text,
		)
	}
	for _, u := range w.f.URLs {
		for _, fl := range u.Filters {
			if u.Line == r.Line &&
				strings.Contains(strings.ToLower(fl.Name), "role") &&
				slices.ContainsFunc(fl.Args, func(a string) bool {
					return strings.Contains(a, ",")
				}) {
				w.warn(
					u.Line,
					"roles in one pair of quotes are several roles, as in Shiro; write %s[%s]",
					fl.Name,
					strings.Join(fl.Args, ", "),
				)
			}
		}
	}
}

// warnWeakerAddress warns of a rule that is weaker than that for another address of the same thing, and so never
// takes effect.
func (w *warner) warnWeakerAddress(i int) {
	r := &w.set.Rules()[i]
	sample, err := reqpath.ParseString("/" + strings.Join(r.Pattern.Sample(), "/"))
	if err != nil || w.set.Match(sample.Segments()) != r {
		return
	}
	all, depth := rootsOf(sample)
	if all == nil {
		return
	}
	var missing []string
	for _, root := range all {
		p := reqpath.Of(root, sample.Segments()[depth:])
		other := w.set.Match(p.Segments())
		if other == r || other != nil && isWeakerRule(other.Text, r.Text) {
			continue
		}
		rest := strings.SplitN(
			strings.TrimPrefix(withLeadingSlash(r.Pattern.String()), "/"),
			"/",
			depth+1,
		)
		list := reqpath.Of(root, nil).Canonical()
		if len(rest) > depth {
			list += "/" + rest[depth]
		}
		by := "no line, so a login is needed"
		if other != nil {
			by = fmt.Sprintf("line %d, %s = %s", other.Line, other.Pattern, other.Text)
		}
		missing = append(missing, fmt.Sprintf("%s (decided by %s)", list, by))
	}
	if len(missing) > 0 {
		w.warn(r.Line, "%s = %s does not decide alone: the same is served at other addresses, and the strictest answer counts; list these as well: %s",
			r.Pattern, r.Text, strings.Join(missing, "; "))
	}
}

// isWeakerRule reports whether a rule asks for nothing that the other does not ask for. Policies that are asked, too, take
// nothing away from a line that asks for roles or permissions.
func isWeakerRule(text, than string) bool {
	closes := strings.Contains(than, "oles[") || strings.Contains(than, "perms[")
	for _, f := range strings.Split(text, ", ") {
		if f == "dynamicAuthorization" && closes {
			continue
		}
		if f != "anon" &&
			f != "noSessionCreation" &&
			!slices.Contains(strings.Split(than, ", "), f) {
			return false
		}
	}
	return true
}

// sensitive are writes that only administrators should be able to do.
var sensitive = []struct{ what, method, path, propose string }{
	{"users, roles and passwords", http.MethodPost, "/auth/v1/users", "/auth/v1/** = authcBasic, roles[admin]"},
	{"the access policies", http.MethodPut, "/restconf/config/" + PolicyNode + "/policies",
		"/restconf/config/aaa*/** = authcBasic, roles[admin] (and the same below /restconf/operational, /restconf/data and /rests/data)"},
	{"the keystores and certificates", http.MethodPost, "/operations/aaa-cert-rpc:setCtlCertificate",
		"/operations/aaa-cert-rpc** = authcBasic, roles[admin] (and the same below /restconf/operations and /rests/operations)"},
}

// warnOpenPaths warns where anybody who can log in, or anybody at all, may write what decides access; once for each line that
// lets them.
func (w *warner) warnOpenPaths() {
	type place struct {
		line int
		who  string
	}
	what, propose := map[place][]string{}, map[place][]string{}
	var places []place
	for _, s := range sensitive {
		p, err := reqpath.ParseString(s.path)
		if err != nil {
			continue
		}
		e := &anyUser{}
		a := &AAA{rules: w.set}
		passes := true
		for _, one := range append(a.otherAddresses(p, ""), p) {
			q := rules.Request{
				HTTP: &http.Request{
					Method: s.method,
					Header: http.Header{},
				},
				Path: one,
			}
			q.Caller.Roles = []string{"user"}
			passes = passes && w.set.Decide(e, &q) == rules.Pass
		}
		if !passes {
			continue
		}
		at := place{w.set.Line(p.Segments()), "anybody, without a login,"}
		if e.asked {
			at.who = "every user who can log in"
		}
		if what[at] == nil {
			places = append(places, at)
		}
		what[at], propose[at] = append(what[at], s.what), append(propose[at], s.propose)
	}
	for _, at := range places {
		w.warn(
			at.line,
			"%s may change %s, unless a policy forbids it; put above this line: %s",
			at.who,
			strings.Join(what[at], ", "),
			strings.Join(propose[at], "; "),
		)
	}
}

// anyUser is a user without a role that matters, whom no policy forbids anything.
type anyUser struct{ asked bool }

func (e *anyUser) Authenticate(r *rules.Request, _ rules.Schemes) (rules.Verdict, bool) {
	e.asked, r.Known = true, true
	return rules.Pass, true
}

func (e *anyUser) Dynamic(*rules.Request) rules.Verdict {
	return rules.Pass
}

// warnGroupNames warns of keys of a groupRolesMap that cannot be the DN of a group.
func (w *warner) warnGroupNames() {
	for _, ob := range w.f.Objects {
		class := ob.Class[strings.LastIndex(ob.Class, ".")+1:]
		v, ok := ob.Prop("groupRolesMap")
		attribute, _ := ob.Prop("ldapAttributeForComparison")
		if !ok || !factsOf(class).directory && !strings.EqualFold(attribute.Raw, "memberOf") {
			continue
		}
		pairs, err := w.f.Map(v)
		if err != nil { // pairs quoted as a whole: "DN:role"
			continue
		}
		for _, kv := range pairs {
			if !strings.Contains(kv.Key, "=") {
				w.warn(v.Line, "%s.groupRolesMap: %q is not the DN of a group, so it gives no user a role; write the DN, such as \"CN=%s,OU=Groups,DC=example,DC=org\":\"%s\"; realm:test looks them up",
					ob.Name, kv.Key, kv.Key, kv.Value)
			}
		}
	}
}

// servletRule refuses a file that closes the identity service by the path it had relative to upstream's
// servlet: nothing would be closed.
func servletRule(f *secini.File, set *rules.Set) error {
	if set == nil {
		return nil
	}
	users, _ := reqpath.ParseString("/auth/v1/users")
	if r := set.Match(users.Segments()); r != nil {
		if first, _ := r.Pattern.Literal(0); first == "auth" {
			return nil // it is closed, or opened, by a line of its own
		}
	}
	for i := range set.Rules() {
		r := &set.Rules()[i]
		first, ok := r.Pattern.Literal(0)
		if ok && first == "v1" {
			return f.Errorf(r.Line, "%s is relative to a servlet of upstream and matches nothing here, so that /auth/v1 would be open to every user; write %s%s = %s above the line that matches /auth/v1 now",
				r.Pattern, servlets[first], withLeadingSlash(r.Pattern.String()), r.Text)
		}
	}
	return nil
}
