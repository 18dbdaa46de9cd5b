package realmjwt

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	josejson "github.com/go-jose/go-jose/v4/json"

	"ctl.internal/sdk/realm"
)

// Limits of what a token says, those of OpenDaylight.
const (
	maxUser  = 128
	maxRole  = 128
	maxRoles = 200
)

// latest is a time, in Unix seconds, that no token outlives.
const latest = 253402300799 // 9999-12-31

type claims map[string]any

// readClaims reads a payload. A member that is there twice could be read in two ways.
func readClaims(payload []byte) (said claims, why string) {
	if err := josejson.Unmarshal(payload, &said); err != nil || said == nil {
		return nil, "its claims cannot be read in one way only"
	}
	return said, ""
}

// checkClaims says why a token is not good here and now; "" when it is.
func (j *jwtRealm) checkClaims(said claims) string {
	now := j.now()
	exp, given, ok := said.time("exp")
	switch {
	case !given || !ok:
		return "it has no end (claim exp)"
	case !now.Before(exp.Add(j.skew)):
		return "it has expired"
	}
	for _, name := range []string{"nbf", "iat"} {
		at, given, ok := said.time(name)
		switch {
		case given && !ok:
			return "its claim " + name + " is no time"
		case given && now.Add(j.skew).Before(at):
			return "it is not good yet (claim " + name + "): do the clocks agree?"
		}
	}
	audience, ok := said.texts("aud")
	switch {
	case !ok:
		return "its claim aud is no list of names"
	case len(j.audience) > 0 && !haveCommon(audience, j.audience):
		return "it is for another service (claim aud)"
	}
	if len(j.parties) > 0 && !slices.Contains(j.parties, said.party()) {
		return "another client has asked for it (claim azp)"
	}
	return ""
}

// party is the client that has asked for a token: client_id of RFC 9068, azp of OpenID Connect.
func (said claims) party() string {
	if azp, given := said["azp"]; given {
		text, _ := azp.(string)
		return text
	}
	text, _ := said["client_id"].(string)
	return text
}

func haveCommon(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// time returns a claim that is a number of seconds; ok is false if it is something else.
func (said claims) time(name string) (at time.Time, given, ok bool) {
	v, given := said[name]
	n, ok := v.(float64)
	if !ok || n < 0 || n > latest {
		return time.Time{}, given, false
	}
	return time.Unix(int64(n), 0), true, true
}

// texts returns a claim that is a text or a list of texts; ok is false if it is something else.
func (said claims) texts(name string) (out []string, ok bool) {
	return textsOf(said[name])
}

func textsOf(v any) (out []string, ok bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		for _, one := range v {
			text, ok := one.(string)
			if !ok {
				return nil, false
			}
			out = append(out, text)
		}
		return out, true
	}
	return nil, false
}

// at returns the claim at a path, such as realm_access.roles. A claim whose name has dots comes first.
func (said claims) at(path string) any {
	if v, given := said[path]; given {
		return v
	}
	var v any = map[string]any(said)
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[name]
	}
	return v
}

// resultOf takes user and roles from claims that are good.
func (j *jwtRealm) resultOf(said claims) (realm.Result, error) {
	user, _ := said.at(j.user).(string)
	if !isName(user, maxUser) {
		return refuse("its claim " + j.user + " names no user")
	}
	groups, ok := textsOf(said.at(j.role))
	if !ok {
		return refuse("its claim " + j.role + " is no list of names")
	}
	var roles, grounds []string
	for _, group := range groups {
		given := []string{group}
		if j.roles != nil {
			given = strings.Split(j.roles[group], ",")
		}
		for _, role := range given {
			if role = strings.TrimSpace(role); isName(role, maxRole) {
				roles = append(roles, role)
				grounds = append(grounds, fmt.Sprintf("%q gives %s", group, role))
			}
		}
	}
	slices.Sort(roles)
	if roles = slices.Compact(roles); len(roles) > maxRoles {
		return refuse(fmt.Sprintf("it gives more than %d roles", maxRoles))
	}
	exp, _, _ := said.time("exp")
	return realm.Result{
		Outcome:   realm.Authenticated,
		Principal: user,
		Roles:     roles,
		Reason:    groundsOf(j.role, grounds),
		Expires:   exp.Add(j.skew),
	}, nil
}

// maxGrounds bounds how many grounds are said.
const maxGrounds = 8

// groundsOf says which claim gave which role.
func groundsOf(claim string, grounds []string) string {
	if len(grounds) == 0 {
		return "claim " + claim + " gives no role"
	}
	text := strings.Join(grounds[:min(len(grounds), maxGrounds)], ", ")
	if len(grounds) > maxGrounds {
		text += ", …"
	}
	return "claim " + claim + ": " + text
}

func isName(s string, most int) bool {
	return s != "" && len(s) <= most && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r)
	})
}
