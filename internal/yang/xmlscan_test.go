package yang

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tokensOf are the tokens of a document by the scanner, each as text, with texts beside each other joined.
func tokensOf(text string) (tokens []string, fault string) {
	s := xmlScanner{text: text}
	for {
		switch t := s.next(); t.kind {
		case xmlEnd:
			return tokens, s.fault
		case xmlEndElement:
			tokens = append(tokens, "end")
		case xmlText:
			tokens = appendText(tokens, t.text)
		case xmlStartElement:
			line := fmt.Sprintf("begin %q %q", t.name.space, t.name.local)
			for _, a := range t.attrs {
				line += fmt.Sprintf(" %q %q %q", a.name.space, a.name.local, a.value)
			}
			tokens = append(tokens, line)
		}
	}
}

func appendText(tokens []string, text string) []string {
	n := len(tokens)
	if n > 0 && strings.HasPrefix(tokens[n-1], "text ") {
		tokens[n-1] += text
		return tokens
	}
	return append(tokens, "text "+text)
}

// tokensByLibrary are the same by encoding/xml.
func tokensByLibrary(text string) (tokens []string, err error) {
	d := xml.NewDecoder(strings.NewReader(text))
	depth := 0
	for {
		token, err := d.RawToken()
		if token == nil && depth != 0 {
			return nil, fmt.Errorf("%d elements are open, %w", depth, err)
		}
		if token == nil && err.Error() == "EOF" {
			return tokens, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.Directive:
			return nil, fmt.Errorf("a directive")
		case xml.EndElement:
			depth--
			tokens = append(tokens, "end")
		case xml.CharData:
			tokens = appendText(tokens, string(t))
		case xml.StartElement:
			depth++
			line := fmt.Sprintf("begin %q %q", t.Name.Space, t.Name.Local)
			for _, a := range t.Attr {
				line += fmt.Sprintf(" %q %q %q", a.Name.Space, a.Name.Local, a.Value)
			}
			tokens = append(tokens, line)
		}
	}
}

var scannedXML = []string{
	`<a/>`,
	"<?xml version='1.0' encoding=\"Utf-8\"?>\r\n<a b='1' x:c = \"&lt;&#65;&#x1F600;&quot;\"\n><b >t&amp;&gt;&apos;</b ></a>\n",
	"<a>one\r\ntwo\rthree<!-- c & < -->four<![CDATA[<&]] >\r]]>five<?pi x?></a>",
	`<p:a xmlns:p="urn:p" xmlns="urn:d"><b/><p:b p:c="1"/></p:a>`,
	"<a>\t\u00e9\U0001F600]] ></a>",
	"<\u00e9l\u00e9ment-1.x/>",
	`<:a/>`,
}

func TestXMLScannerReadsWhatTheLibraryReads(t *testing.T) {
	for _, text := range scannedXML {
		want, err := tokensByLibrary(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, fault := tokensOf(text)
		if fault != "" || !slices.Equal(got, want) {
			t.Errorf("%s\n got %q %s\nwant %q", text, got, fault, want)
		}
	}
}

func TestXMLScannerRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`<a>`:                        "ends inside an element",
		`<a`:                         "ends inside a tag",
		`</a>`:                       "has not begun",
		`<a></b>`:                    "<a> is ended by </b>",
		`<p:a></q:a>`:                "is ended by",
		`<a></a`:                     "not complete",
		`<a b=1/>`:                   "in quotes",
		`<a b/>`:                     "= is expected",
		`<a b="1"c="2"/>`:            "a blank is expected",
		`<a b="1" b="2"/>`:           "given twice",
		`<a b="<"/>`:                 "unescaped <",
		`<a b="1/>`:                  "ends inside the value",
		`<a>&nosuch;</a>`:            "entity or reference",
		`<a>&lt</a>`:                 "entity or reference",
		`<a>& b</a>`:                 "entity or reference",
		`<a>&#0;</a>`:                "entity or reference",
		`<a>&#xD800;</a>`:            "entity or reference",
		`<a>&#99999999999;</a>`:      "entity or reference",
		`<a>&#;</a>`:                 "entity or reference",
		"<a>\x01</a>":                "control character",
		"<a b='\x01'/>":              "control character",
		"<a><![CDATA[\x01]]></a>":    "control character",
		`<a>]]></a>`:                 "outside a CDATA section",
		`<a><![CDATA[x</a>`:          "inside a CDATA section",
		`<a><!-- a -- b --></a>`:     "comment",
		`<a><!-- a`:                  "comment",
		`<a><?x`:                     "processing instruction",
		`<!DOCTYPE a><a/>`:           "document types",
		`<a><!ENTITY x "y"></a>`:     "document types",
		`<1a/>`:                      "name of an element",
		`<a:b:c/>`:                   "name of an element",
		`< a/>`:                      "name of an element",
		"<\u00d7/>":                  "name of an element",
		`<?xml version="1.1"?><a/>`:  "version 1.0",
		` <?xml version="1.0"?><a/>`: "at the beginning",
		`<?xml version="1.0" encoding encoding="latin1"?><a/>`: "encoding UTF-8",
	} {
		if _, fault := tokensOf(text); !strings.Contains(fault, want) {
			t.Errorf("%q: %q, want %q", text, fault, want)
		}
	}
}

// What the scanner accepts encoding/xml accepts with the same tokens.
func FuzzXMLScanner(f *testing.F) {
	for _, text := range scannedXML {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 || nonCharacter(text) != 0 || strings.ToValidUTF8(text, "") != text {
			return
		}
		got, fault := tokensOf(text)
		if fault != "" {
			return
		}
		want, err := tokensByLibrary(text)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q\n got %q\nwant %q, %v", text, got, want, err)
		}
	})
}
