package restconf

import (
	"bytes"
	"encoding/xml"
	"io"
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
	Edit    xmlEdits   `xml:"edit"`
}

// xmlEdits are the edits of a patch in XML. They are counted as they are read.
type xmlEdits []xmlEdit

type xmlEdit struct {
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
}

// UnmarshalXML implements xml.Unmarshaler: it reads one more edit.
func (list *xmlEdits) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	if len(*list) == maxEdits {
		return tooManyEdits()
	}
	var e xmlEdit
	err := d.DecodeElement(&e, &start)
	*list = append(*list, e)
	return err
}

// maxPatchDeclarations bounds the namespace declarations that all values of a patch together are given.
const maxPatchDeclarations = 16 << 20 // bytes

// readXMLPatch decodes and bounds a patch in XML.
func readXMLPatch(body []byte) (*yangPatch, error) {
	if bytes.Contains(body, []byte("<!DOCTYPE")) {
		return nil, fault.New(fault.Malformed, "document types and entities are not accepted")
	}
	var in xmlPatch
	err := xml.Unmarshal(body, &in)
	if err != nil && fault.KindOf(err) == fault.TooBig {
		return nil, err
	}
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "the YANG patch cannot be read: %v", err)
	}
	p := &yangPatch{ID: in.ID, Comment: in.Comment}
	around, total := declarations(in.Attrs), 0
	for _, e := range in.Edit {
		out := patchEdit{
			ID:     e.ID,
			Op:     tree.Op(e.Op),
			Target: e.Target,
			Point:  e.Point,
			Where:  e.Where,
			Value:  inScope(e.Value.Inner, around, declarations(e.Attrs), declarations(e.Value.Attrs)),
		}
		if total += len(out.Value); total > len(body)+maxPatchDeclarations {
			return nil, fault.New(
				fault.TooBig,
				"the namespace declarations of the patch, repeated in each value, have more than %d bytes: declare a namespace in the value that uses it",
				maxPatchDeclarations,
			)
		}
		p.Edit = append(p.Edit, out)
	}
	return p, p.checkEdits()
}

// inScope returns the element of a value, with those namespace declarations of the elements around it that it does not
// make itself. Of several for one prefix the innermost counts.
func inScope(value []byte, around ...[]namespaceDeclaration) []byte {
	text, first := firstElement(value)
	if first == nil {
		return text // what is no element is refused when the value is read
	}
	end := bytes.IndexAny(text, " \t\r\n/>")
	declared := map[string]bool{}
	for _, d := range declarations(first.Attr) {
		declared[d.name] = true
	}
	out := bytes.Clone(text[:end])
	for _, list := range slices.Backward(around) {
		for _, d := range list {
			if declared[d.name] {
				continue
			}
			declared[d.name] = true
			out = append(append(out, ' '), d.name+`="`...)
			var b bytes.Buffer
			_ = xml.EscapeText(&b, []byte(d.uri)) // a buffer takes all
			out = append(append(out, b.Bytes()...), '"')
		}
	}
	return append(out, text[end:]...)
}

// firstElement returns a value from its first element on, without the comments and processing instructions before it.
// The element is nil if the value has none or text before it.
func firstElement(value []byte) ([]byte, *xml.StartElement) {
	d := xml.NewDecoder(bytes.NewReader(value))
	for {
		at := d.InputOffset()
		token, err := d.RawToken()
		switch t := token.(type) {
		case xml.StartElement:
			return value[at:], &t
		case xml.Comment, xml.ProcInst:
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return value, nil
			}
		default:
			if err == io.EOF { // there is nothing in it
				return nil, nil
			}
			return value, nil
		}
	}
}

// namespaceDeclaration is an attribute that declares a namespace.
type namespaceDeclaration struct {
	name string // "xmlns", or "xmlns:" and a prefix
	uri  string
}

// declarations are the attributes that declare namespaces, each name once.
func declarations(attrs []xml.Attr) (out []namespaceDeclaration) {
	seen := map[string]bool{}
	for _, a := range attrs {
		name := declaration(a)
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		out = append(out, namespaceDeclaration{name, a.Value})
	}
	return out
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
