package yang

import (
	"fmt"
	"os"
	"testing"

	"ctl.internal/sdk/fault"
)

func testSet(t testing.TB) *Set {
	t.Helper()
	src, err := FromFS("test", os.DirFS("."), "testdata")
	if err != nil {
		t.Fatal(err)
	}
	set, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// one says what the members of the rpc "all" must hold for it to pass, beside
// those that a case gives.
const enough = `"names":["n"],"left":[null]`

func TestConstraints(t *testing.T) {
	rpc := testSet(t).RPC("every", "all")
	ok := ""
	for _, c := range []struct{ in, out, fault string }{
		{`"i8":-128`, `"i8":-128`, ok},
		{`"i8":-129`, "", "invalid /every:input/i8: -129 does not fit int8"},
		{`"i8":"5"`, `"i8":5`, ok},
		{`"i8":"x"`, "", `invalid /every:input/i8: "x" is not a whole number`},
		{`"i8":1.0`, "", "invalid /every:input/i8: 1.0 is not a whole number"},
		{`"i8":"05"`, `"i8":5`, ok},
		{`"i8":null`, "", "invalid /every:input/i8: null is not a value; leave the member out"},
		{`"i8":[1]`, "", "invalid /every:input/i8: want a single value, got an array"},
		{`"i8":{}`, "", "invalid /every:input/i8: want a single value, got an object"},
		{`"i64":"9223372036854775807"`, `"i64":9223372036854775807`, ok},
		{`"i64":9223372036854775808`, "", "invalid /every:input/i64: 9223372036854775808 does not fit int64"},
		{`"i64":-9223372036854775808`, `"i64":-9223372036854775808`, ok},
		{`"u64":18446744073709551615`, `"u64":18446744073709551615`, ok},
		{`"u64":18446744073709551616`, "", "invalid /every:input/u64: 18446744073709551616 does not fit uint64"},
		{`"u16":-0`, `"u16":0`, ok},
		{`"ranged":15`, "", "invalid /every:input/ranged: 15 is not within 1..10|20..30"},
		{`"ranged":20`, `"ranged":20`, ok},
		{`"dec":"1.50"`, `"dec":1.5`, ok},
		{`"dec":-1.5`, `"dec":-1.5`, ok},
		{`"dec":-1.51`, "", "invalid /every:input/dec: -1.51 is not within -1.5..99.99"},
		{`"dec":1.234`, "", "invalid /every:input/dec: 1.234 has more than 2 digits after the point"},
		{`"dec":"-0"`, `"dec":0.0`, ok},
		{`"dec":1e1`, "", "invalid /every:input/dec: 1e1 is not a decimal number"},
		{`"text":"äöüß"`, `"text":"äöüß"`, ok},
		{`"text":"a"`, "", "invalid /every:input/text: 1 characters, but the length must be 2..4"},
		{`"text":12`, `"text":"12"`, ok},
		{`"two-patterns":"ab"`, `"two-patterns":"ab"`, ok},
		{`"two-patterns":"abcd"`, "", `invalid /every:input/two-patterns: "abcd" does not match the pattern .{2,3}`},
		{`"two-patterns":"1ab"`, "", `invalid /every:input/two-patterns: "1ab" does not match the pattern [a-z]*`},
		{`"flag":true`, `"flag":true`, ok},
		{`"flag":"false"`, `"flag":false`, ok},
		{`"flag":"yes"`, "", `invalid /every:input/flag: want true or false, got "yes"`},
		{`"colour":"green"`, `"colour":"green"`, ok},
		{`"colour":"blue"`, "", `invalid /every:input/colour: "blue" is not one of red, green`},
		{`"opts":"c a"`, `"opts":"a c"`, ok},
		{`"opts":"a a"`, "", `invalid /every:input/opts: the bit "a" occurs twice`},
		{`"opts":"z"`, "", `invalid /every:input/opts: the bit "z" is not one of a, b, c`},
		{`"raw":"AAE="`, `"raw":"AAE="`, ok},
		{`"raw":"AA=="`, "", "invalid /every:input/raw: 1 octets, but the length must be 2"},
		{`"raw":"%%"`, "", "invalid /every:input/raw: this is not base64"},
		{`"kind":"near"`, `"kind":"every:near"`, ok},
		{`"kind":"other:far"`, `"kind":"other:far"`, ok},
		{`"kind":"far"`, `"kind":"other:far"`, ok},
		{`"kind":"ev:near"`, "", `invalid /every:input/kind: "ev:near" is not one of the identities every:near, other:far`},
		{`"kind":"sort"`, "", `invalid /every:input/kind: "sort" is not one of the identities every:near, other:far`},
		{`"nothing":[null]`, `"nothing":[null]`, ok},
		{`"nothing":true`, "", "invalid /every:input/nothing: want [null]"},
		{`"either":7`, `"either":7`, ok},
		{`"either":"7"`, `"either":7`, ok},
		{`"either":"auto"`, `"either":"auto"`, ok},
		{`"either":"1.2.3.4"`, `"either":"1.2.3.4"`, ok},
		{`"either":"1.2.3.444"`, "", `invalid /every:input/either: "1.2.3.444" fits none of uint8, enumeration, ipv4-address`},
		{`"where":"/every:settings/user[name='x']"`, `"where":"/every:settings/user[name='x']"`, ok},
		{`"where":"nowhere"`, "", `invalid /every:input/where: an instance-identifier begins with a slash: "nowhere"`},
		{`"ref":"12"`, `"ref":12`, ok},
		{`"addr":"2001:db8::1"`, `"addr":"2001:db8::1"`, ok},
		{`"prefix":"10.0.0.0/33"`, "", `invalid /every:input/prefix: "10.0.0.0/33" fits none of ipv4-prefix, ipv6-prefix`},
		{`"share":101`, "", "invalid /every:input/share: 101 is not within 0..100"},
		{`"tags":["a","a"]`, `"tags":["a","a"]`, ok},
		{`"tags":"a"`, "", "invalid /every:input/tags: want an array, got a string"},
		{`"tags":["a",{}]`, "", "invalid /every:input/tags[2]: want a single value, got an object"},
		{`"pos":{"x":1}`, "", "missing /every:input/pos/y: the member is required"},
		{`"pos":[]`, "", "invalid /every:input/pos: want an object, got an array"},
		{`"item":[{"id":1,"kind":"a"},{"id":2,"kind":"a"}]`, `"item":[{"id":1,"kind":"a"},{"id":2,"kind":"a"}]`, ok},
		{`"item":[{"id":1,"kind":"a"},{"kind":"a","id":"1"}]`, "", "invalid /every:input/item[id='1'][kind='a']: an earlier entry has the same key"},
		{`"item":[{"id":1}]`, "", "missing /every:input/item[1]/kind: the member is required"},
		{`"item":[{"id":1,"kind":"a","port":5},{"id":2,"kind":"a","port":5}]`, "", "invalid /every:input/item[id='2'][kind='a']: an earlier entry has the same port"},
		{`"item":[{"id":1,"kind":"a"},{"id":2,"kind":"a"},{"id":3,"kind":"a"},{"id":4,"kind":"a"}]`, "", "invalid /every:input/item: at most 3 entries are allowed, there are 4"},
		{`"item":{"id":1}`, "", "invalid /every:input/item: want an array, got an object"},
		{`"item":[7]`, "", "invalid /every:input/item[1]: want an object, got a number"},
		{`"loose":[{"v":"a"},{"v":"a"}]`, `"loose":[{"v":"a"},{"v":"a"}]`, ok},
		{`"a1":"x","a2":"y"`, `"a1":"x","a2":"y"`, ok},
		{`"a1":"x"`, "", "missing /every:input/a2: the member is required"},
		{`"short":"x","a2":"y"`, "", `invalid /every:input/a2: the choice "how" has two cases: "short" excludes "one"`},
		{`"right":[null]`, "", `invalid /every:input/left: the choice "must-choose" has two cases: "right" excludes "left"`},
		{`"third":{"t":1},"every:third":{"t":2}`, "", "malformed /every:input/third: the member occurs twice"},
		{`"blob":{"a":[1,{"b":null}]}`, `"blob":{"a":[1,{"b":null}]}`, ok},
		{`"blob":{"a":1,"a":2}`, "", "malformed /every:input/blob/a: the member occurs twice"},
		{`"extra":1`, `"extra":1`, ok},
		{`"other:grafted":1`, `"other:grafted":1`, ok},
		{`"grafted":1`, `"other:grafted":1`, ok},
		{`"every:i8":1`, `"i8":1`, ok},
		{`"other:i8":1`, "", "unknown /every:input/other:i8: there is no such member here"},
		{`"color":"red"`, "", `unknown /every:input/color: there is no such member here (did you mean "colour"?)`},
	} {
		got, err := rpc.DecodeInput([]byte(`{"input":{`+c.in+`,`+enough+`}}`), Options{Lenient: true})
		checkOne(t, c.in, got, err, wrapped(c.out), c.fault)
	}
}

func wrapped(out string) string {
	if out == "" {
		return ""
	}
	return "{" + out + "," + enough + "}"
}

func checkOne(t *testing.T, in string, got []byte, err error, want, wantFault string) {
	t.Helper()
	text := ""
	for _, f := range fault.All(err) {
		if text != "" {
			text += "\n"
		}
		text += fmt.Sprintf("%s %s", f.Kind, f.Error())
	}
	if text != wantFault || string(got) != want {
		t.Errorf("%s\n got %s %q\nwant %s %q", in, got, text, want, wantFault)
	}
}

func TestEveryFaultAtOnce(t *testing.T) {
	rpc := testSet(t).RPC("every", "all")
	_, err := rpc.DecodeInput([]byte(`{"input":{"i8":999,"names":[],"bogus":1,"item":[{"id":1,"kind":"k"},{"id":1,"kind":"k"}]}}`), Options{})
	var got []string
	for _, f := range fault.All(err) {
		got = append(got, f.Kind.String()+" "+f.Path)
	}
	want := []string{"invalid /every:input/i8", "invalid /every:input/names", "unknown /every:input/bogus",
		"invalid /every:input/item[id='1'][kind='k']", "missing /every:input"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestDefaults(t *testing.T) {
	rpc := testSet(t).RPC("every", "defaults")
	for in, want := range map[string]string{
		``:                         `{"f":"ff","a":5,"k":"every:near","l":["x","y"],"c":{"d":50}}`,
		`{"input":{"s2":"q"}}`:     `{"s2":"q","s":"ss","a":5,"k":"every:near","l":["x","y"],"c":{"d":50}}`,
		`{"input":{"a":1,"l":[]}}`: `{"a":1,"l":[],"f":"ff","k":"every:near","c":{"d":50}}`,
	} {
		got, err := rpc.DecodeInput([]byte(in), Options{Defaults: true})
		checkOne(t, in, got, err, want, "")
	}
}

func TestEnvelope(t *testing.T) {
	set := testSet(t)
	for _, c := range []struct{ rpc, in, out, fault string }{
		{"simple", `{"input":{"node-id":1}}`, `{"node-id":1}`, ""},
		{"simple", `{"every:input":{"node-id":1}}`, `{"node-id":1}`, ""},
		{"simple", `{"output":{}}`, "", `unknown /output: the body has the member "input" and no other`},
		{"simple", `{"node-id":1}`, "", `unknown /node-id: the body has the member "input" and no other`},
		{"simple", ``, "", `missing /every:input: the call needs a body with the member "input"`},
		{"simple", `{}`, "", "missing /every:input/node-id: the member is required"},
		{"simple", `[]`, "", `malformed the body must be an object with the member "input", not an array`},
		{"simple", `{"input":{"node-id":1}`, "", "malformed line 1, column 23: the text ends before a closing }"},
		{"none", ``, `{}`, ""},
		{"none", `{"input":{}}`, `{}`, ""},
		{"none", `{"input":null}`, `{}`, ""},
		{"none", `{"input":{"x":1}}`, "", "unknown /every:input/x: there is no such member here"},
	} {
		got, err := set.RPC("every", c.rpc).DecodeInput([]byte(c.in), Options{Lenient: true})
		checkOne(t, c.in, got, err, c.out, c.fault)
	}
}

func TestOutputStyles(t *testing.T) {
	rpc := testSet(t).RPC("every", "all")
	in := `{"big":18446744073709551615,"small":3,"dec":1.5,"kind":"other:far","entry":[{"id":5,"ports":[1]}]}`
	for s, want := range map[Style]string{
		Canonical: in,
		RFC7951:   `{"big":"18446744073709551615","small":3,"dec":"1.5","kind":"other:far","entry":[{"id":"5","ports":[1]}]}`,
	} {
		got, err := rpc.AppendOutput(nil, []byte(in), s)
		checkOne(t, in, got, err, want, "")
	}
	got, err := rpc.AppendOutput(nil, []byte(`{"small":1,"bogus":2}`), Canonical)
	checkOne(t, "unknown member", got, err, `{"small":1}`, "unknown /every:output/bogus: there is no such member here")
	got, err = rpc.AppendOutput(nil, []byte(`{"small":1,"entry":null,"kind":null}`), Canonical)
	checkOne(t, "nil slices of a Go plugin", got, err, `{"small":1}`, "")
	got, err = rpc.AppendOutput(nil, []byte(`{"small":"x"}`), Canonical)
	checkOne(t, "wrong type", got, err, "", "invalid /every:output/small: want a whole number, got a string")
	if got, err = rpc.AppendOutput(nil, nil, Canonical); got != nil || err != nil {
		t.Errorf("no output gives %s, %v", got, err)
	}
}
