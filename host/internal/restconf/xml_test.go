package restconf

import (
	"encoding/xml"
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

const (
	asksXML  = "Accept: application/yang-data+xml"
	sendsXML = "Content-Type: application/yang-data+xml"
	labNS    = `xmlns="urn:test:lab"`
)

func TestXMLIsServedWhereJSONIs(t *testing.T) { engines(t, xmlIsServed) }

func xmlIsServed(t *testing.T, f *fixture) {
	f.want(201, "", "PUT", lab, `<inventory `+labNS+`><device><name>a</name><port>7</port></device><note>x &amp; y</note><device><name>b</name></device><tag>t</tag></inventory>`, sendsXML)
	f.want(200, `{"lab:inventory":{"note":"x & y","tag":["t"],"device":[{"name":"a","port":7},{"name":"b"}]}}`, "GET", lab, "", "Accept: application/yang-data+json")
	f.want(200, `<inventory `+labNS+`><note>x &amp; y</note><tag>t</tag><device><name>a</name><port>7</port></device><device><name>b</name></device></inventory>`, "GET", lab, "", asksXML)
	f.want(201, "", "POST", lab, `<device `+labNS+`><name>c*</name></device>`, sendsXML)
	f.want(204, "", "PATCH", lab+"/device=a", `<l:device xmlns:l="urn:test:lab"><l:name>a</l:name><l:address>10.0.0.1</l:address></l:device>`, "Content-Type: application/xml; charset=utf-8")
	f.want(200, `<device `+labNS+`><name>a</name><port>7</port><address>10.0.0.1</address></device>`, "GET", lab+"/device=a", "", asksXML)
	f.want(200, `<port `+labNS+`>7</port>`, "GET", lab+"/device=a/port", "", asksXML)
	f.want(200, `<data xmlns="urn:ietf:params:xml:ns:yang:ietf-restconf"><inventory `+labNS+`><note>x &amp; y</note></inventory></data>`, "GET", "/rests/data?fields=lab:inventory/note", "", asksXML)
	f.want(204, "", "PUT", "/rests/data", `<data xmlns="urn:ietf:params:xml:ns:yang:ietf-restconf"><motto `+labNS+`>m</motto></data>`, sendsXML)
	f.want(200, `{"ietf-restconf:data":{"lab:motto":"m"}}`, "GET", "/rests/data", "", "Accept: application/json")
}

func TestXMLOfSeveralInstances(t *testing.T) {
	f := newFixture(t)
	f.want(201, "", "PUT", lab, `{"inventory":{"device":[{"name":"a"},{"name":"b"}]}}`)
	a := f.want(400, "", "GET", lab+"/device", "", asksXML)
	if !strings.Contains(a.body, "<error-tag>invalid-value</error-tag>") {
		t.Error(a.body)
	}
	f.want(200, xmlListOpen+`<device `+labNS+`><name>a</name></device><device `+labNS+`><name>b</name></device>`+xmlListClose, "GET", lab+"/device", "", "Accept: "+mediaXMLList)
	f.want(200, `<device `+labNS+`><name>b</name></device>`, "GET", lab+"/device?limit=1&offset=1", "", asksXML)
}

func TestXMLCalls(t *testing.T) {
	f := newFixture(t)
	var got string
	f.answers["lab:add-vlan"] = func(in string) (string, error) { got = in; return `{"add-vlan-result":"SUCCESS"}`, nil }
	const in = `<input ` + labNS + `><node-id>1</node-id><vlan-id>2</vlan-id></input>`
	f.want(200, `<output `+labNS+`><add-vlan-result>SUCCESS</add-vlan-result></output>`, "POST", "/rests/operations/lab:add-vlan", in, sendsXML)
	if got != `{"node-id":1,"vlan-id":2,"vlan-name":"unnamed"}` {
		t.Errorf("the plugin got %s", got)
	}
	f.want(200, `{"output":{"add-vlan-result":"SUCCESS"}}`, "POST", "/restconf/operations/lab:add-vlan", in, "Content-Type: text/xml", "Accept: application/json")
	a := f.want(400, "", "POST", "/rests/operations/lab:add-vlan", `<input `+labNS+`><node-id>x</node-id></input>`, sendsXML)
	var errs struct {
		XMLName xml.Name `xml:"urn:ietf:params:xml:ns:yang:ietf-restconf errors"`
		Error   []struct {
			Tag  string `xml:"error-tag"`
			Path string `xml:"error-path"`
		} `xml:"error"`
	}
	if err := xml.Unmarshal([]byte(a.body), &errs); err != nil || len(errs.Error) != 2 || errs.Error[0].Path != "/lab:input/lab:node-id" || errs.Error[1].Tag != "missing-element" {
		t.Errorf("%s: %+v, %v", a.body, errs, err)
	}
	if c := a.header.Get("Content-Type"); c != mediaYANGDataXML {
		t.Errorf("the errors are %s", c)
	}
}

func TestAcceptIsWeighed(t *testing.T) {
	f := newFixture(t)
	f.want(201, "", "PUT", lab, `{"inventory":{"note":"n"}}`)
	for accept, want := range map[string]string{
		"":                          mediaYANGData,
		"*/*":                       mediaYANGData,
		"application/xml":           mediaXML,
		"text/xml":                  "text/xml",
		"application/yang.data+xml": "application/yang.data+xml",
		"application/xml;q=0.5, application/json;q=0.6":                   mediaJSON,
		"application/json;q=0.5, application/yang-data+xml":               mediaYANGDataXML,
		"text/html, application/xml;q=0.9, */*;q=0.8":                     mediaXML,
		"application/yang-data+json;q=0, application/json;q=0, */*;q=0.1": mediaYANGDataXML,
		"application/json; q=0.3, application/yang-data+json; q=0.3":      mediaJSON,
	} {
		headers := []string{}
		if accept != "" {
			headers = append(headers, "Accept: "+accept)
		}
		if got := f.want(200, "", "GET", lab, "", headers...).header.Get("Content-Type"); got != want {
			t.Errorf("Accept: %s: got %s, want %s", accept, got, want)
		}
	}
	f.want(406, "", "GET", lab, "", "Accept: text/html")
	f.want(406, "", "GET", lab, "", "Accept: application/json;q=0")
}

func TestXMLPatch(t *testing.T) {
	f := newFixture(t)
	f.want(201, "", "PUT", lab, `{"inventory":{"device":[{"name":"a"}]}}`)
	const media = "Content-Type: application/yang-patch+xml"
	f.want(200, `<yang-patch-status xmlns="urn:ietf:params:xml:ns:yang:ietf-yang-patch"><ok/><patch-id>p</patch-id></yang-patch-status>`, "PATCH", lab,
		`<yang-patch xmlns="urn:ietf:params:xml:ns:yang:ietf-yang-patch" xmlns:l="urn:test:lab"><patch-id>p</patch-id>
		<edit><edit-id>1</edit-id><operation>create</operation><target>/device=b</target><value><l:device><l:name>b</l:name></l:device></value></edit>
		<edit><edit-id>2</edit-id><operation>merge</operation><target>/device=a</target><value><device xmlns="urn:test:lab"><name>a</name><port>9</port></device></value></edit>
		</yang-patch>`, media)
	f.want(200, `{"lab:inventory":{"device":[{"name":"a","port":9},{"name":"b"}]}}`, "GET", lab, "")
	a := f.want(409, "", "PATCH", lab, `<yang-patch xmlns="urn:ietf:params:xml:ns:yang:ietf-yang-patch"><patch-id>q</patch-id>
		<edit><edit-id>e1</edit-id><operation>delete</operation><target>/device=b</target></edit>
		<edit><edit-id>e2</edit-id><operation>delete</operation><target>/device=zz</target></edit></yang-patch>`, media)
	for _, want := range []string{`<edit><edit-id>e1</edit-id>`, "not kept", `<edit><edit-id>e2</edit-id>`, "<error-tag>data-missing</error-tag>"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("%s is not in %s", want, a.body)
		}
	}
	f.want(400, "", "PATCH", lab, `<!DOCTYPE a><yang-patch/>`, media)
	f.want(200, `{"lab:inventory":{"device":[{"name":"a","port":9},{"name":"b"}]}}`, "GET", lab, "")
}

// readOneEdit reads a patch of one edit with a value.
func readOneEdit(value string) (*yangPatch, error) {
	return readXMLPatch([]byte(`<yang-patch xmlns="urn:ietf:params:xml:ns:yang:ietf-yang-patch" xmlns:p="urn:p"><patch-id>1</patch-id>
		<edit xmlns:q="urn:q"><edit-id>1</edit-id><value xmlns:p="urn:inner">` + value + `</value></edit></yang-patch>`))
}

// What comes before the element of a value is not of it; the element has the namespaces of the elements around it.
func TestXMLPatchValue(t *testing.T) {
	const around = ` xmlns:p="urn:inner" xmlns:q="urn:q" xmlns="urn:ietf:params:xml:ns:yang:ietf-yang-patch"`
	for _, c := range []struct{ in, want string }{
		{`<p:a>x</p:a>`, `<p:a` + around + `>x</p:a>`},
		{` <p:a/> `, `<p:a` + around + `/> `},
		{`<!-- a --><p:a>x</p:a>`, `<p:a` + around + `>x</p:a>`},
		{"<!--a-->\n<?x y?>\n<!--<b>--><p:a c='1'>x</p:a><!-- d -->", `<p:a` + around + ` c='1'>x</p:a><!-- d -->`},
		{`<p:a xmlns:p="urn:own" xmlns="urn:d"/>`, `<p:a xmlns:q="urn:q" xmlns:p="urn:own" xmlns="urn:d"/>`},
		{`<!-- nothing -->`, ``},
		{` `, ``},
		{`text<p:a/>`, `text<p:a/>`}, // refused when it is read
	} {
		p, err := readOneEdit(c.in)
		if err != nil || string(p.Edit[0].Value) != c.want {
			t.Errorf("%s\n got %s, %v\nwant %s", c.in, p.Edit[0].Value, err, c.want)
		}
	}
}

func TestXMLPatchBounds(t *testing.T) {
	const begin = `<yang-patch xmlns="urn:ietf:params:xml:ns:yang:ietf-yang-patch"`
	edits := strings.Repeat(`<edit><value><a/></value></edit>`, maxEdits)
	declared := strings.Repeat("x", maxPatchDeclarations/maxEdits)
	for _, c := range []struct{ name, body string }{
		{"edits are counted before the rest is read", begin + `>` + edits + `<edit/><unfinished`},
		{"a namespace that each value is given", begin + ` xmlns:a="` + declared + `">` + edits + `</yang-patch>`},
	} {
		p, err := readXMLPatch([]byte(c.body))
		if err == nil || fault.KindOf(err) != fault.TooBig {
			t.Errorf("%s: %v, %v", c.name, p != nil, err)
		}
	}
	// Declarations of one name count once, and other attributes not at all.
	twice := strings.Repeat(` xmlns:a="urn:a" b="c"`, 1000)
	_, err := readXMLPatch([]byte(begin + twice + `><patch-id>p</patch-id>` + edits + `</yang-patch>`))
	if fault.KindOf(err) != fault.Invalid { // the edits have no ids
		t.Error(err)
	}
}

func TestXMLOfTheServerItself(t *testing.T) {
	f := newFixture(t)
	f.now.Streams = []Stream{{Name: "lab"}}
	for target, want := range map[string]string{
		"/rests":                      `<restconf xmlns="urn:ietf:params:xml:ns:yang:ietf-restconf"><data/><operations/><yang-library-version>2019-01-04</yang-library-version></restconf>`,
		"/rests/yang-library-version": `<yang-library-version xmlns="urn:ietf:params:xml:ns:yang:ietf-restconf">2019-01-04</yang-library-version>`,
		"/rests/operations": `<operations xmlns="urn:ietf:params:xml:ns:yang:ietf-restconf">` + subscriptionElements + `<add-vlan xmlns="urn:test:lab"/><get-table xmlns="urn:test:lab"/><get-vlan-table xmlns="urn:test:lab"/><rediscover xmlns="urn:test:lab"/>` +
			`<create-data-change-event-subscription xmlns="urn:opendaylight:params:xml:ns:yang:controller:md:sal:remote"/></operations>`,
		"/rests/data/ietf-restconf-monitoring:restconf-state/streams/stream=lab/access=xml": `<access xmlns="urn:ietf:params:xml:ns:yang:ietf-restconf-monitoring"><encoding>xml</encoding><location>/rests/streams/xml/lab</location></access>`,
	} {
		f.want(200, want, "GET", target, "", asksXML)
	}
}

func TestPrettyPrint(t *testing.T) {
	f := newFixture(t)
	f.want(201, "", "PUT", lab, `{"inventory":{"note":"n","limits":{"most":1}}}`)
	f.want(200, "{\n  \"lab:note\": \"n\"\n}\n", "GET", lab+"/note?odl-pretty-print=true", "")
	f.want(200, "{\n  \"note\": \"n\"\n}\n", "GET", old+"/note?prettyPrint=true", "")
	f.want(200, "<inventory "+labNS+">\n  <note>n</note>\n  <limits>\n    <most>1</most>\n  </limits>\n</inventory>\n", "GET", lab+"?odl-pretty-print=true", "", asksXML)
	f.want(200, `{"lab:note":"n"}`, "GET", lab+"/note?odl-pretty-print=false", "")
	f.want(400, "", "GET", lab+"/note?odl-pretty-print=yes", "")
}
