package yang

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

const everyNS = `xmlns="urn:test:every"`

func TestXMLInputOfACall(t *testing.T) {
	r := testSet(t).RPC("every", "all")
	for _, c := range []struct{ name, in, want string }{
		{"numbers and words take their types", `<i8> -3 </i8><u64>7</u64><flag>true</flag><dec>1.5</dec><colour>
			red</colour><nothing/>`, `"i8":-3,"u64":7,"flag":true,"dec":1.5,"colour":"red","nothing":[null]`},
		{"text stays as it is", `<tags> a &lt;b&gt; </tags><tags><![CDATA[<c>]]></tags><tags>x<!-- no -->y&#13;</tags>`, `"tags":[" a <b> ","<c>","xy\r"]`},
		{"lists are repeated elements, mixed with others", `<item><id>1</id><kind>a</kind></item><i8>1</i8><item><kind>b</kind><id>1</id></item>`,
			`"item":[{"id":1,"kind":"a"},{"kind":"b","id":1}],"i8":1`},
		{"prefixes of values are those of the document", `<kind xmlns:x="urn:test:every">x:near</kind><where xmlns:x="urn:test:every">/x:settings/x:user[x:name='a/b']/x:friend</where>`,
			`"kind":"every:near","where":"/every:settings/user[name='a/b']/friend"`},
		{"without a prefix the value is of the default namespace", `<kind>near</kind>`, `"kind":"every:near"`},
		{"any data", `<blob><a>1</a><b xmlns="urn:x"><c>x</c></b><a>2</a></blob>`, `"blob":{"a":["1","2"],"{urn:x}b":{"{urn:x}c":"x"}}`},
		{"base64 may be broken over lines", "<raw>\n Y\n\nWI=\n</raw>", `"raw":"YWI="`},
	} {
		body := `<?xml version="1.0" encoding="UTF-8"?><input ` + everyNS + `>` + c.in + `<names>n</names><left/></input>`
		got, err := r.DecodeInput([]byte(body), Options{XML: true})
		want := `{` + c.want + `,"names":["n"],"left":[null]}`
		if string(got) != want || err != nil {
			t.Errorf("%s\n got %s, %v\nwant %s", c.name, got, err, want)
		}
	}
}

func TestXMLThatIsRefused(t *testing.T) {
	r := testSet(t).RPC("every", "simple")
	deep := strings.Repeat("<a>", 70)
	for _, c := range []struct{ body, want string }{
		{`<!DOCTYPE x [<!ENTITY e "v">]><input/>`, "document types"},
		{`<input ` + everyNS + `><node-id>&e;</node-id></input>`, "entity"},
		{`<input ` + everyNS + `>text</input>`, "there is text in input"},
		{`<input ` + everyNS + `><node-id>1</node-id>`, "ends inside|unexpected EOF"},
		{`<input ` + everyNS + `><node-id>1</node></input>`, "line 1"},
		{`<output/>`, `must be "input"`},
		{`<input/><input/>`, "after the end of the document"},
		{``, "needs a body"},
		{`<input ` + everyNS + `><node-id><b/></node-id></input>`, "single value"},
		{`<input ` + everyNS + `><node-id>x</node-id></input>`, "/every:input/node-id"},
		{`<input ` + everyNS + `><node-id>1</node-id><node-id>1</node-id></input>`, "occurs twice"},
		{`<input ` + everyNS + `><x:node-id xmlns:x="urn:other">1</x:node-id></input>`, "no such member"},
		{`<input ` + everyNS + `><node-id xmlns:n="urn:ietf:params:xml:ns:netconf:base:1.0" n:operation="delete">1</node-id></input>`, "YANG patch"},
		{`<input>` + deep, "levels deep"},
		{"<?xml version='1.0' encoding='ISO-8859-1'?><input/>", "encoding"},
		{`<input ` + everyNS + numbered(` a%d=""`, maxXMLAttributes) + `/>`, "line 1, column 1967: an element has more than 256 attributes"},
		{`<input ` + everyNS + numbered(` xmlns:a%d=""`, 200) + `><b` + numbered(` xmlns:b%d=""`, 200) + `/></input>`, "more than 256 namespace declarations"},
	} {
		_, err := r.DecodeInput([]byte(c.body), Options{XML: true})
		ok := false
		for want := range strings.SplitSeq(c.want, "|") {
			ok = ok || err != nil && strings.Contains(err.Error(), want)
		}
		if !ok {
			t.Errorf("%.80s: got %v, want %s", c.body, err, c.want)
		}
	}
}

// numbered is a text with each number below n.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestXMLBoundsAreReached checks documents that are as large as the bounds allow.
func TestXMLBoundsAreReached(t *testing.T) {
	r := testSet(t).RPC("every", "all")
	for _, c := range []struct{ name, attributes, in string }{
		{"attributes", numbered(` a%d=""`, maxXMLAttributes-1), `<names>n</names>`},
		{"declarations", numbered(` xmlns:a%d=""`, maxXMLDeclarations-1), `<names>n</names>`},
		{"declarations of elements that have ended do not count", "",
			strings.Repeat(`<names`+numbered(` xmlns:a%d=""`, maxXMLDeclarations-1)+`>n</names>`, 2)},
	} {
		body := `<input ` + everyNS + c.attributes + `>` + c.in + `<left/></input>`
		_, err := r.DecodeInput([]byte(body), Options{XML: true})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestXMLTextInPieces checks that a text that comments divide is not copied once a piece.
func TestXMLTextInPieces(t *testing.T) {
	r := testSet(t).RPC("every", "all")
	const pieces = 20_000
	body := []byte(`<input ` + everyNS + `><names>` + strings.Repeat("x<!---->", pieces) + `</names><left/></input>`)
	var got []byte
	var err error
	allocations := testing.AllocsPerRun(1, func() {
		got, err = r.DecodeInput(body, Options{XML: true})
	})
	if want := `{"names":["` + strings.Repeat("x", pieces) + `"],"left":[null]}`; string(got) != want || err != nil {
		t.Errorf("got %.80s, %v", got, err)
	}
	if allocations > pieces/10 {
		t.Errorf("%v allocations for %d pieces", allocations, pieces)
	}
}

// TestXMLSaysWhatJSONSays checks that both forms have the same faults.
func TestXMLSaysWhatJSONSays(t *testing.T) {
	r := testSet(t).RPC("every", "all")
	for _, c := range [][2]string{
		{`{"input":{"i8":300,"item":[{"id":1,"kind":"a"},{"id":1,"kind":"a"}],"a1":"x","short":"y"}}`,
			`<input ` + everyNS + `><i8>300</i8><item><id>1</id><kind>a</kind></item><item><id>1</id><kind>a</kind></item><a1>x</a1><short>y</short></input>`},
		{`{"input":{"pos":{"x":1},"colour":"blue","left":[null],"names":["a","b","c","d"]}}`,
			`<input ` + everyNS + `><pos><x>1</x></pos><colour>blue</colour><left/><names>a</names><names>b</names><names>c</names><names>d</names></input>`},
	} {
		_, jerr := r.DecodeInput([]byte(c[0]), Options{Lenient: true})
		_, xerr := r.DecodeInput([]byte(c[1]), Options{XML: true})
		j, x := places(jerr), places(xerr)
		if len(j) < 3 || !slices.Equal(j, x) {
			t.Errorf("JSON: %v\n XML: %v", jerr, xerr)
		}
	}
}

// places are the kinds and paths of faults, sorted.
func places(err error) []string {
	var out []string
	for _, f := range fault.All(err) {
		out = append(out, fmt.Sprint(f.Kind, " ", f.Path))
	}
	slices.Sort(out)
	return out
}

func TestXMLOutput(t *testing.T) {
	r := testSet(t).RPC("every", "all")
	got, err := r.AppendOutputXML(nil, []byte(`{"big":18446744073709551615,"kind":"every:near","entry":[{"id":1,"ports":[1,2]},{"id":2}]}`))
	const want = `<output xmlns="urn:test:every"><big>18446744073709551615</big><kind xmlns:every="urn:test:every">every:near</kind>` +
		`<entry><id>1</id><ports>1</ports><ports>2</ports></entry><entry><id>2</id></entry></output>`
	if string(got) != want || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

func FuzzXML(f *testing.F) {
	set := testSet(f)
	r, n := set.RPC("every", "all"), set.Data("every", "settings")
	for _, s := range []string{`<input xmlns="urn:test:every"><names>a</names><left/><where xmlns:e="urn:test:every">/e:a[e:b='c']</where></input>`,
		`<settings xmlns="urn:test:every"><user><name>a</name><perm><role>x</role></perm></user><once>1</once></settings>`,
		`<!DOCTYPE a><a/>`, `<data><settings xmlns="urn:test:every"/></data>`, `<a:input xmlns:a="urn:test:every"><a:blob><x/><x>1</x></a:blob></a:input>`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = r.DecodeInput([]byte(text), Options{XML: true})
		list, err := set.Root.DecodeMembers([]byte(text), Options{XML: true})
		if err != nil {
			return
		}
		// What was accepted is written so that it reads the same.
		again, err := set.Root.DecodeMembers(list[0].AppendXML(nil), Options{XML: true})
		if list[0].IsArray() && list[0].Len() > 1 {
			return
		}
		if err != nil || string(again[0].Append(nil, Canonical)) != string(list[0].Append(nil, Canonical)) {
			t.Fatalf("%s\nwas read as %s\nand then %v", text, list[0].Append(nil, Canonical), err)
		}
		_ = n
	})
}
