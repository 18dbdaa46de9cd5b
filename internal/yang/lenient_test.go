package yang

import "testing"

func TestLenientText(t *testing.T) {
	rpc := testSet(t).RPC("every", "simple")
	const id = `{"node-id":158969157063648}`
	for _, c := range []struct{ in, out, fault string }{
		{`{input:{node-id:158969157063648}}`, id, ""},
		{`{'input':{'node-id':'158969157063648'}}`, id, ""},
		{`{"input":{"node-id":158969157063648,},}`, id, ""},
		{`{ every:input : { every:node-id : 158969157063648 } }`, id, ""},
		{`{input:{node-id:1,vlan-name:v-2.x}}`, `{"node-id":1,"vlan-name":"v-2.x"}`, ""},
		{`{input:{node-id:1,vlan-name:'a"b\''}}`, `{"node-id":1,"vlan-name":"a\"b'"}`, ""},
		{`{"input":{"node-id":1,,}}`, "", "malformed line 1, column 23: a name in quotes is expected here"},
		{`{"input":{"node-id":1}} x`, "", "malformed line 1, column 25: there is text after the end of the document"},
		{"{\"input\":\n {\"vlan-name\":\"a\nb\"}}", "", "malformed line 2, column 17: a string contains a control character"},
		{`{"input":{"vlan-name":"\ud800"}}`, "", "malformed line 1, column 30: the string has half a surrogate pair"},
		{`{"input":{"vlan-name":"\u0000"}}`, "", "malformed line 1, column 30: the string has the character U+0000, which YANG does not allow"},
		{"{\"input\":{\"vlan-name\":\"\xff\"}}", "", "malformed the text is not UTF-8"},
		{`{input:{node-id:NaN}}`, "", "malformed line 1, column 2: a name in quotes is expected here"},
		{`{"input":{"node-id":1,"vlan-name":tru}}`, "", `malformed line 1, column 35: a value is expected here`},
		{`{"input":{"node-id":1,"vlan-name":False}}`, "", `malformed line 1, column 35: a value is expected here`},
		{`{"input":{"node-id":1,"vlan-name":t1}}`, `{"node-id":1,"vlan-name":"t1"}`, ""},
		{"{\"input\":{\"vlan-name\":\"a\ufffe\"}}", "", "malformed the text has the character U+FFFE, which YANG does not allow"},
		{"{\"input\":{\"vlan-name\":\"\U0001ffff\"}}", "", "malformed the text has the character U+1FFFF, which YANG does not allow"},
		{"{\"input\":{\"vlan-name\":\"\ufdd0\"}}", "", "malformed the text has the character U+FDD0, which YANG does not allow"},
		{"{\"input\":{\"node-id\":1,\"vlan-name\":\"\ufffd\U00010000\"}}", "{\"node-id\":1,\"vlan-name\":\"\ufffd\U00010000\"}", ""},
		{`{input:{node-id:0x10}}`, "", `invalid /every:input/node-id: "0x10" is not a whole number`},
		{`{input:{node-id:1 2}}`, "", "malformed line 1, column 2: a name in quotes is expected here"},
	} {
		got, err := rpc.DecodeInput([]byte(c.in), Options{Lenient: true})
		checkOne(t, c.in, got, err, c.out, c.fault)
	}
	_, err := rpc.DecodeInput([]byte(`{input:{node-id:1}}`), Options{})
	checkOne(t, "strict", nil, err, "", "malformed line 1, column 2: a name in quotes is expected here")
}

func TestDepthIsBounded(t *testing.T) {
	rpc := testSet(t).RPC("every", "simple")
	deep := make([]byte, 100_000)
	for i := range deep {
		deep[i] = '['
	}
	_, err := rpc.DecodeInput(deep, Options{Lenient: true})
	checkOne(t, "deep", nil, err, "", "malformed line 1, column 66: values nest more than 64 levels deep")
}

func TestAliases(t *testing.T) {
	rpc := testSet(t).RPC("every", "all")
	a := &Aliases{
		Members: map[string]string{"color": "colour", "n": "names"},
		Values:  map[string]map[string]string{"colour": {"7": "green"}},
		Unwrap:  []string{"names"}, Wrap: []string{"names", "loose"}, Trim: true,
	}
	for _, c := range []struct{ in, out, fault string }{
		{`{"input ":{"names":["a"],"left":[null],"color":7}}`, `{"names":["a"],"left":[null],"colour":"green"}`, ""},
		{`{"input":{"names":[{"x":"a"}],"left ":[null]}}`, `{"names":["a"],"left":[null]}`, ""},
		{`{"input":{"n":" a ","left":[null],"loose":{"v":"q"}}}`, `{"names":["a"],"left":[null],"loose":[{"v":"q"}]}`, ""},
		{`{"input":{"n":"a","names":["b"],"left":[null]}}`, "", "malformed /every:input/names: the member occurs twice"},
		{`{"input":{"names":[{"x":"a","y":"b"}],"left":[null]}}`, "", "invalid /every:input/names[1]: want a single value, got an object"},
		{`{"input":{"names":["a"],"left":[null],"colour":"9"}}`, "", `invalid /every:input/colour: "9" is not one of red, green`},
	} {
		got, err := rpc.DecodeInput([]byte(c.in), Options{Lenient: true, Aliases: a})
		checkOne(t, c.in, got, err, c.out, c.fault)
	}
}

// Below /rests a 64-bit number is a string, as RFC 7951 section 6.1 has it.
func TestExactNumbers(t *testing.T) {
	rpc := testSet(t).RPC("every", "simple")
	for _, c := range []struct{ in, out, fault string }{
		{`{"input":{"node-id":"05"}}`, `{"node-id":5}`, ""},
		{`{"input":{"node-id":5}}`, "", `invalid /every:input/node-id: 5 is a number; int64 is written as a string, "5" (RFC 7951 section 6.1)`},
	} {
		got, err := rpc.DecodeInput([]byte(c.in), Options{Exact: true})
		checkOne(t, c.in, got, err, c.out, c.fault)
	}
}
