package template

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctl.internal/sdk/bierdriver"
)

func model(t testing.TB) *Model {
	t.Helper()
	m, err := Compile(Templates{Negate: "no ", Leave: "exit",
		BIER: BIER{Header: "router bier", Global: []string{"bfr-id {bfr-id}", "ipv4-prefix {ipv4-bfr-prefix}"}, SubDomain: []string{"sub-domain {sub-domain-id} igp {igp-type}"},
			Encapsulation: []string{"sub-domain {sub-domain-id} {family} {bitstringlength} label {label-base} size {range-size}"}},
		Channel: Channel{Header: "flow {vpn-id} {source-address} {source-wildcard} {group-address} {group-wildcard}", Lines: []string{"ingress {ingress-bfr-id}"}, Egress: []string{"egress {egress-bfr-id}"}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const shown = `hostname r1
!
interface ethernet1
 bfr-id 5
 exit
!
router bier
 bfr-id 3
 ipv4-prefix 192.0.2.1/32
 own-line of the router
 sub-domain 0 igp ISIS
 bfr-id 70000
 exit
!
flow 0 10.0.0.1 32 2001:DB8::1 32
 egress 1
 egress 2
!
flow nonsense
 egress 9
`

func TestParse(t *testing.T) {
	for _, text := range []string{shown, strings.ReplaceAll(shown, "\n", "\r\n")} {
		got := model(t).Parse(text)
		want := []Section{{"router bier", []string{"bfr-id 3", "ipv4-prefix 192.0.2.1/32", "sub-domain 0 igp ISIS"}},
			{"flow 0 10.0.0.1 32 2001:db8::1 32", []string{"egress 1", "egress 2"}}}
		if !slices.EqualFunc(got, want, func(a, b Section) bool { return a.Header == b.Header && slices.Equal(a.Lines, b.Lines) }) {
			t.Errorf("%q", got)
		}
	}
}

func TestDiff(t *testing.T) {
	m := model(t)
	have := m.Parse(shown)
	for name, c := range map[string]struct {
		want  []Section
		typed []string
	}{
		"the same":      {have, nil},
		"all gone":      {nil, []string{"no router bier", "no flow 0 10.0.0.1 32 2001:db8::1 32"}},
		"one line":      {[]Section{have[0], {have[1].Header, []string{"egress 1", "egress 5"}}}, []string{have[1].Header, "no egress 2", "egress 5", "exit"}},
		"a new flow":    {append(slices.Clone(have), Section{"flow 1 10.0.0.1 32 232.0.0.1 32", nil}), []string{"flow 1 10.0.0.1 32 232.0.0.1 32", "exit"}},
		"last go first": {[]Section{{"router bier", nil}, have[1]}, []string{"router bier", "no sub-domain 0 igp ISIS", "no ipv4-prefix 192.0.2.1/32", "no bfr-id 3", "exit"}},
	} {
		typed, edits := m.Diff(have, c.want)
		if !slices.Equal(typed, c.typed) || (len(typed) == 0) != (len(edits) == 0) {
			t.Errorf("%s: %q, %q", name, typed, edits)
		}
	}
}

// A router that shows a section in two parts holds the lines of both.
func TestSectionInTwoParts(t *testing.T) {
	m := model(t)
	got := m.Parse("flow 0 10.0.0.1 32 232.0.0.1 32\n egress 1\nrouter bier\n bfr-id 3\nflow 0 10.0.0.1 32 232.0.0.1 32\n egress 5\n")
	want := []Section{{"flow 0 10.0.0.1 32 232.0.0.1 32", []string{"egress 1", "egress 5"}}, {"router bier", []string{"bfr-id 3"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Whatever a router shows, what is read of it can be typed again.
func FuzzParse(f *testing.F) {
	f.Add(shown)
	f.Add("flow 0 0.0.0.0 0 :: 0\nflow 0 0.0.0.0 0 :: 0")
	f.Add("router bier\n ipv4-prefix ::ffff:1.2.3.4/32\n bfr-id 00003\n")
	m := model(f)
	f.Fuzz(func(t *testing.T, text string) {
		sections := m.Parse(text)
		c := m.Read(sections, nil)
		if _, err := m.Want(c); err != nil {
			t.Errorf("%q became %v, which cannot be typed: %v", text, c, err)
		}
		for _, s := range sections {
			for _, l := range append(s.Lines, s.Header) {
				if strings.ContainsAny(l, "\r\n;|?") {
					t.Errorf("%q has the line %q", text, l)
				}
			}
		}
	})
}

// Another encapsulation is refused, also where no template names one: the router would hold MPLS.
func TestOtherEncapsulationsAreRefused(t *testing.T) {
	c := &bierdriver.Config{Global: &bierdriver.Global{EncapsulationType: "bier-encapsulation-ethernet", BfrId: 3}}
	if got, err := model(t).Want(c); err == nil || !strings.Contains(err.Error(), "mpls only") {
		t.Errorf("%v, %v", got, err)
	}
}
