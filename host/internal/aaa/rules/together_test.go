package rules_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/host/internal/aaa/rules"
)

// counting is a world in which a policy denies some addresses, and which counts what it is asked.
type counting struct {
	world
	denied        func(reqpath.Path) bool
	logins, asked int
}

func (c *counting) Authenticate(r *rules.Request, s rules.Schemes) (rules.Verdict, bool) {
	if r.Known {
		return rules.Pass, true
	}
	c.logins++
	return c.world.Authenticate(r, s)
}

func (c *counting) Dynamic(r *rules.Request) rules.Verdict {
	c.asked++
	for _, a := range r.Addresses {
		if c.denied != nil && c.denied(a) {
			return rules.Denied
		}
	}
	return rules.Pass
}

func paths(t testing.TB, texts ...string) (out []reqpath.Path) {
	t.Helper()
	for _, text := range texts {
		p, err := reqpath.ParseString(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// treeAddresses are those of one thing in a data tree.
func treeAddresses(below ...string) (out []string) {
	for _, root := range []string{"/restconf/config", "/restconf/operational", "/restconf/data", "/rests/data",
		"/rests/ds/ietf-datastores:running", "/rests/ds/ietf-datastores:operational", "/rests/ds/ietf-datastores:intended"} {
		for _, b := range below {
			out = append(out, root+b)
		}
	}
	return out
}

// A GET of a tree has 14 addresses and is decided once: one login is looked at, and the policies are asked once.
func TestATreeIsDecidedOnce(t *testing.T) {
	s := compile(t, "[urls]\n/rests/data/aaa*/** = authcBasic, roles[admin]\n/** = authcBasic, dynamicAuthorization\n")
	addresses := treeAddresses("/bier-topology:bier-network-topology", "/bier-network-topology")
	if len(addresses) != 14 {
		t.Fatalf("%d addresses", len(addresses))
	}
	env := &counting{}
	if v := s.Decide(env, request(t, "GET", addresses[0], "user"), paths(t, addresses[1:]...)...); v != rules.Pass {
		t.Fatal(v)
	}
	if env.logins != 1 || env.asked != 1 {
		t.Errorf("%d logins were looked at, the policies were asked %d times", env.logins, env.asked)
	}
}

// Addresses that are decided together pass if each of them passes by itself.
func TestTogetherIsAsOneByOne(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	segments := []string{"/a", "/b", "/c", "/*", "/**", "/a*"}
	filters := []string{"authcBasic", "authcBasic, roles[x]", "authcBasic, dynamicAuthorization", "anon", "roles[y]", "authcBasic[permissive]", "ip[127.0.0.1]", "authcBasic, invalidRequest"}
	passes, refusals := 0, 0
	for range 4_000 {
		var text strings.Builder
		text.WriteString("[urls]\n")
		written := map[string]bool{"/**": true}
		for range 1 + random.IntN(5) {
			root := []string{"/rests/data", "/restconf/config", "/restconf/data", ""}[random.IntN(4)]
			pattern := root + segments[random.IntN(len(segments))] + []string{"", "/**", "/b"}[random.IntN(3)]
			if !written[pattern] {
				fmt.Fprintf(&text, "%s = %s\n", pattern, filters[random.IntN(len(filters))])
			}
			written[pattern] = true
		}
		if random.IntN(2) == 0 {
			text.WriteString("/** = authcBasic, dynamicAuthorization\n")
		}
		s := compile(t, text.String())
		below := []string{"", "/a", "/b", "/a/b", "/c%3Bd"}[random.IntN(5)]
		all := treeAddresses(below, below+"/c")
		denied := random.IntN(3 * len(all))
		newEnv := func() *counting {
			return &counting{denied: func(p reqpath.Path) bool { return denied < len(all) && p.Canonical() == all[denied] }}
		}
		auth := []string{"", "x", "y", "x,y", "bad"}[random.IntN(5)]
		one := rules.Pass
		env, r := newEnv(), request(t, "GET", all[0], auth)
		for _, p := range paths(t, all...) {
			r.Path = p
			if one = s.Decide(env, r); one != rules.Pass {
				break
			}
		}
		together := s.Decide(newEnv(), request(t, "GET", all[0], auth), paths(t, all[1:]...)...)
		if (one == rules.Pass) != (together == rules.Pass) {
			t.Fatalf("%s\n%s as %q: one by one %s, together %s", text.String(), below, auth, one, together)
		}
		if one == rules.Pass {
			passes++
		} else {
			refusals++
		}
	}
	if passes < 300 || refusals < 300 {
		t.Errorf("%d passed, %d were refused: the cases show little", passes, refusals)
	}
}
