package restconf

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"ctl.internal/host/internal/restconf/tree"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/fault"
)

// restconfNamespace is the XML namespace of module ietf-restconf.
const restconfNamespace = "urn:ietf:params:xml:ns:yang:ietf-restconf"

// xmlListOpen and xmlListClose are the element around several instances in XML
// (draft-ietf-netconf-list-pagination-rc).
const (
	xmlListOpen  = `<xml-list xmlns="urn:ietf:params:xml:ns:yang:ietf-restconf-list-pagination">`
	xmlListClose = `</xml-list>`
)

// replyData answers 200 with the instance at a path.
func (x *exchange) replyData(p tree.Path, at *yang.Data) error {
	if !x.xml {
		return x.replyBody(x.encodeMember(p, at))
	}
	xml := at.AppendXML
	if x.withOrigin {
		xml = at.AppendXMLWithOrigin
	}
	if at.IsArray() && at.Len() != 1 && !x.xmlList {
		return manyInXML(p, at.Len())
	}
	before, after := x.envelopeAround(p, at.IsArray())
	return x.replyBody(append(xml([]byte(before)), after...))
}

// streamStored answers 200 with what is stored at a path, as it is read: no more of the answer than a part
// is in memory.
func (x *exchange) streamStored(p tree.Path, s *yang.Stored) error {
	if x.xml && s.Array && s.Len() != 1 && !x.xmlList {
		return manyInXML(p, s.Len())
	}
	begun := false
	w := yang.Writer{
		Style: x.env.style,
		XML:   x.xml,
		Hide:  true,
		Flush: func(part []byte) error {
			if !begun {
				begun = true
				x.beginAnswer()
			}
			_, err := x.w.Write(part)
			return err
		},
	}
	before, after := x.envelopeAround(p, s.Array)
	w.Text(before)
	w.Stored(s)
	w.Text(after)
	err := w.Finish()
	switch {
	case !begun:
		return err
	case errors.As(err, new(*fault.Error)):
		x.breakOff(err)
	case err != nil:
		x.o.Log.DebugContext(
			x.r.Context(),
			"restconf: the client went away",
			"path",
			x.r.URL.Path,
			"error",
			err,
		)
	}
	return nil
}

// breakOff ends the connection in the middle of an answer: the client must not take it for whole.
func (x *exchange) breakOff(err error) {
	x.o.Log.ErrorContext(
		x.r.Context(),
		"restconf: an answer ends early",
		"path",
		x.r.URL.Path,
		"error",
		err,
	)
	panic(http.ErrAbortHandler)
}

// envelopeAround is what stands before and after the instance at a path.
func (x *exchange) envelopeAround(p tree.Path, array bool) (before, after string) {
	n := p.Node()
	switch {
	case x.xml && n == nil:
		return `<data xmlns="` + restconfNamespace + `">`, "</data>"
	case x.xml && x.xmlList && array:
		return xmlListOpen, xmlListClose
	case x.xml:
		return "", ""
	case n == nil:
		return `{"` + x.env.qualifyName("data") + `":`, "}"
	case p.Entry():
		return `{"` + x.env.qualifiedName(n.Module, n.Name) + `":[`, "]}"
	}
	return `{"` + x.env.qualifiedName(n.Module, n.Name) + `":`, "}"
}

// manyInXML says that an XML document has one element (RFC 8040 section 4.3).
func manyInXML(p tree.Path, instances int) error {
	return fault.New(fault.Invalid, "%s has %d instances, which one XML document cannot contain: read its parent, one entry, %s, or JSON",
		p, instances, mediaXMLList)
}

// encodeMember writes {"name": value} for the instance at a path.
func (x *exchange) encodeMember(p tree.Path, at *yang.Data) []byte {
	style := x.env.style
	if x.withOrigin {
		style |= yang.WithOrigin
	}
	before, after := x.envelopeAround(p, at.IsArray())
	buf := append(at.Append([]byte(before), style), after...)
	if o := at.LeafOrigin(); x.withOrigin && o != nil {
		if p.Entry() {
			o = append(append([]byte{'['}, o...), ']')
		}
		buf = append(append(buf[:len(buf)-1], `,"@`+x.env.qualifiedName(at.Node.Module, at.Node.Name)+`":`...), append(o, '}')...)
	}
	return buf
}

// encodeValue writes a value that has no schema in the form of the answer.
func (x *exchange) encodeValue(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil || !x.xml {
		return body, err
	}
	own, err := ownSchema()
	if err != nil {
		return nil, err
	}
	top := "ietf-restconf"
	if bytes.HasPrefix(body, []byte(`{"yang-patch-status"`)) {
		top = "ietf-yang-patch"
	}
	return yang.XMLOf(body, top, []string{"error-path"}, own, x.installed().Schema)
}

// sendErrors answers a status with an errors body or another one that holds errors.
func (x *exchange) sendErrors(status int, v any) {
	body, err := x.encodeValue(v)
	if err != nil {
		x.o.Log.ErrorContext(x.r.Context(), "restconf: an error cannot be written", "error", err)
		body = []byte("{}")
	}
	h := x.w.Header()
	switch t := h.Get("Content-Type"); {
	case x.xml && t == mediaXMLList:
		h.Set("Content-Type", mediaYANGDataXML)
	case !x.xml && !jsonTypes[t]:
		h.Set("Content-Type", x.env.media)
	}
	x.w.WriteHeader(status)
	x.writeBody(body)
}

// locationPath writes a path for a Location header: in keys, the reserved characters of RFC 3986 are
// encoded too (RFC 8040 section 3.5.3).
func locationPath(p tree.Path) string {
	var b strings.Builder
	for part := range strings.SplitSeq(p.Key()[1:], "/") {
		name, keys, ok := strings.Cut(part, "=")
		b.WriteString("/" + name)
		if ok {
			b.WriteString("=" + strings.NewReplacer(":", "%3A", "@", "%40", "$", "%24", "*", "%2A").Replace(keys))
		}
	}
	return b.String()
}

// indentBody writes JSON or XML over several lines for a reader.
func indentBody(body []byte, xml bool) []byte {
	var b bytes.Buffer
	if !xml {
		if json.Indent(&b, body, "", "  ") != nil {
			return body
		}
		return append(b.Bytes(), '\n')
	}
	depth, opened := 0, false
	for i := 0; i < len(body); {
		end := i + 1
		if body[i] == '<' {
			end = i + bytes.IndexByte(body[i:], '>') + 1
			closes := body[i+1] == '/'
			if closes {
				depth--
			}
			if i > 0 && body[i-1] == '>' && !(closes && opened) {
				b.WriteByte('\n')
				b.WriteString(strings.Repeat("  ", depth))
			}
			opened = !closes && body[end-2] != '/'
			if opened {
				depth++
			}
		} else if n := bytes.IndexByte(body[i:], '<'); n > 0 {
			end = i + n
		}
		b.Write(body[i:end])
		i = end
	}
	return append(b.Bytes(), '\n')
}
