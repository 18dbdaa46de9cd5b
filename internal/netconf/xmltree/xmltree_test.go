package xmltree

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	n := New("urn:a", "top",
		Leaf("urn:a", "x", `]]>]]> <&> "quoted" 'too'`),
		New("urn:b", "list", Leaf("urn:b", "key", "1")).With("urn:op", "operation", "delete").With("", "plain", "a<b"),
		nil,
		Leaf("urn:a", "empty", ""))
	text := n.Bytes()
	if strings.Contains(string(text), "]]>") {
		t.Fatalf("an end-of-message mark in %s", text)
	}
	back, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(n, back); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(n, n.Clone()); d != "" {
		t.Error(d)
	}
}

func TestReading(t *testing.T) {
	n, err := Parse([]byte(`<?xml version="1.0"?><!-- c --><p:a xmlns:p="urn:p" xmlns="urn:d"> t <b>&lt;1&gt;</b> u <p:c d="e"> 2 </p:c></p:a>`))
	if err != nil {
		t.Fatal(err)
	}
	if !n.Is("urn:p", "a") || n.Text != "" || n.Kid("urn:d", "b").Text != "<1>" || n.Value("c") != "2" || n.Down("c").Attr("", "d") != "e" {
		t.Errorf("read %s", n)
	}
	if n.Down("c", "nothing", "below").Trimmed() != "" || len(n.All("urn:p", "c")) != 1 {
		t.Error("walking down to what is not there")
	}
}

// Comments and CDATA cut a text to pieces. However many a router makes, the memory that
// is used is a few times that of the message, not pieces times pieces.
func TestTextInPieces(t *testing.T) {
	const pieces = 50_000
	text := "<a>" + strings.Repeat("x<!---->", pieces) + "<![CDATA[<y>]]></a>"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := Parse([]byte(text))
	runtime.ReadMemStats(&after)
	if err != nil || n.Text != strings.Repeat("x", pieces)+"<y>" {
		t.Fatalf("%v, %.20q", err, n.Text)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 100*uint64(len(text)) {
		t.Errorf("%d bytes were used to read %d", used, len(text))
	}
}

func TestRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":      "",
		"two roots":    "<a/><b/>",
		"text outside": "<a/>b",
		"half":         "<a><b>",
		"crossed":      "<a><b></a></b>",
		"DTD":          `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`,
		"entity":       "<a>&b;</a>",
		"deep":         strings.Repeat("<a>", MaxDepth+1) + strings.Repeat("</a>", MaxDepth+1),
		"odd name":     "<a:b:c/>",
	} {
		if n, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s was taken: %s", name, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`<a xmlns="urn:a"><b xmlns:c="urn:c" c:d="e">f</b></a>`))
	f.Add([]byte(`<rpc-reply message-id="1"><ok/></rpc-reply>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Parse(data)
		if err != nil {
			return
		}
		text := n.Bytes()
		back, err := Parse(text)
		if err != nil {
			t.Fatalf("%q was read, but not %q that was written for it: %v", data, text, err)
		}
		if again := back.Bytes(); string(again) != string(text) {
			t.Fatalf("%q became %q", text, again)
		}
	})
}
