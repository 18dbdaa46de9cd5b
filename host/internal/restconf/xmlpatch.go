package restconf

import (
	"bytes"
	"encoding/xml"
	"slices"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/sdk/fault"
)

// xmlPatch is a YANG patch in XML. The attributes carry the namespaces that values may use.
type xmlPatch struct {
	XMLName xml.Name   `xml:"urn:ietf:params:xml:ns:yang:ietf-yang-patch yang-patch"`
	Attrs   []xml.Attr `xml:",any,attr"`
	ID      string     `xml:"patch-id"`
	Comment string     `xml:"comment"`
	Edit    []struct {
		Attrs  []xml.Attr `xml:",any,attr"`
		ID     string     `xml:"edit-id"`
		Op     string     `xml:"operation"`
		Target string     `xml:"target"`
		Point  string     `xml:"point"`
		Where  string     `xml:"where"`
		Value  struct {
			Attrs []xml.Attr `xml:",any,attr"`
			Inner []byte     `xml:",innerxml"`
		} `xml:"value"`
		Other []xml.Name `xml:",any"`
	} `xml:"edit"`
}

// readXMLPatch decodes and bounds a patch in XML.
func readXMLPatch(body []byte) (*yangPatch, error) {
	if bytes.Contains(body, []byte("<!DOCTYPE")) {
		return nil, fault.New(fault.Malformed, "document types and entities are not accepted")
	}
	var in xmlPatch
	if err := xml.Unmarshal(body, &in); err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "the YANG patch cannot be read: %v", err)
	}
	p := &yangPatch{ID: in.ID, Comment: in.Comment}
	for _, e := range in.Edit {
		out := patchEdit{
			ID:     e.ID,
			Op:     tree.Op(e.Op),
			Target: e.Target,
			Point:  e.Point,
			Where:  e.Where,
		}
		if value := bytes.TrimSpace(e.Value.Inner); len(value) > 0 {
			out.Value = inScope(value, in.Attrs, e.Attrs, e.Value.Attrs)
		}
		p.Edit = append(p.Edit, out)
	}
	return p, p.checkEdits()
}

// inScope gives the first element of text those namespace declarations of the elements around it that it does not make
// itself. Of several for one prefix the innermost counts.
func inScope(text []byte, around ...[]xml.Attr) []byte {
	end := bytes.IndexAny(text, " \t\r\n/>")
	if end < 1 || text[0] != '<' {
		return text
	}
	token, _ := xml.NewDecoder(bytes.NewReader(text)).RawToken()
	first, _ := token.(xml.StartElement) // what is none is refused when the value is read
	declared := map[string]bool{}
	for _, a := range first.Attr {
		declared[declaration(a)] = true
	}
	out := bytes.Clone(text[:end])
	for _, attrs := range slices.Backward(around) {
		for _, a := range attrs {
			name := declaration(a)
			if name == "" || declared[name] {
				continue
			}
			declared[name] = true
			out = append(append(out, ' '), name+`="`...)
			var b bytes.Buffer
			_ = xml.EscapeText(&b, []byte(a.Value)) // a buffer takes all
			out = append(append(out, b.Bytes()...), '"')
		}
	}
	return append(out, text[end:]...)
}

// declaration is the name of an attribute that declares a namespace, empty for others.
func declaration(a xml.Attr) string {
	switch {
	case a.Name.Space == "xmlns":
		return "xmlns:" + a.Name.Local
	case a.Name.Space == "" && a.Name.Local == "xmlns":
		return "xmlns"
	}
	return ""
}
