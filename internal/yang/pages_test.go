package yang

import (
	"strings"
	"testing"
)

func pagedRPC(t *testing.T) *RPC {
	t.Helper()
	set, err := Load(Source{Name: "test", Files: map[string][]byte{"paged.yang": []byte(`module paged { yang-version 1.1; namespace "urn:paged"; prefix p;
  rpc table {
    input { leaf limit { type uint32 { range "1..max"; } } leaf cursor { type string; } leaf id { type uint64; } }
    output { leaf age { type uint64; } list entry { leaf n { type uint64; } } leaf next-cursor { type string; } }
  }
  rpc plain { input { leaf limit { type uint32; } } output { list entry { leaf n { type int8; } } } } }`)}})
	if err != nil {
		t.Fatal(err)
	}
	if set.RPC("paged", "plain").Paged() || !set.RPC("paged", "table").Paged() {
		t.Fatal("which RPC is paged")
	}
	return set.RPC("paged", "table")
}

// The pages of a table are one answer, the same as if it had come at once.
func TestPagesAreOneOutput(t *testing.T) {
	r := pagedRPC(t)
	for _, k := range []struct {
		name, input string
		pages       []string
		inputs      string
		json, xml   string
	}{
		{"one page", `{"id":18446744073709551615}`, []string{`{"entry":[{"n":1}]}`}, `{"id":18446744073709551615}`,
			`{"entry":[{"n":"1"}]}`, `<output xmlns="urn:paged"><entry><n>1</n></entry></output>`},
		{"three", `{"id":1}`, []string{`{"age":3,"entry":[{"n":1},{"n":2}],"next-cursor":"b"}`, `{"next-cursor":"c"}`, `{"entry":[{"n":3}]}`},
			`{"id":1} {"cursor":"b","id":1} {"cursor":"c","id":1}`,
			`{"age":"3","entry":[{"n":"1"},{"n":"2"},{"n":"3"}]}`,
			`<output xmlns="urn:paged"><age>3</age><entry><n>1</n></entry><entry><n>2</n></entry><entry><n>3</n></entry></output>`},
		{"empty ones", ``, []string{`{"entry":[],"next-cursor":"b"}`, `{"entry":[{"n":1}],"next-cursor":"c"}`, `{"entry":[]}`}, `{} {"cursor":"b"} {"cursor":"c"}`,
			`{"entry":[{"n":"1"}]}`, `<output xmlns="urn:paged"><entry><n>1</n></entry></output>`},
		{"nothing", ``, []string{`{"next-cursor":"b"}`, ``}, `{} {"cursor":"b"}`, `{}`, `<output xmlns="urn:paged"/>`},
		{"a limit", `{"limit":3}`, []string{`{"entry":[{"n":1},{"n":2}],"next-cursor":"b"}`, `{"entry":[{"n":3}],"next-cursor":"c"}`},
			`{"limit":3} {"cursor":"b","limit":1}`,
			`{"entry":[{"n":"1"},{"n":"2"},{"n":"3"}],"next-cursor":"c"}`,
			`<output xmlns="urn:paged"><entry><n>1</n></entry><entry><n>2</n></entry><entry><n>3</n></entry><next-cursor>c</next-cursor></output>`},
	} {
		for form, want := range map[string]string{"json": k.json, "xml": k.xml} {
			p, err := r.NewPages([]byte(k.input), RFC7951, form == "xml")
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			var inputs []string
			more := true
			for _, page := range k.pages {
				if !more {
					t.Fatalf("%s: no page is asked for after %q", k.name, text.String())
				}
				in, err := p.Input()
				if err != nil {
					t.Fatal(err)
				}
				inputs = append(inputs, string(in))
				var part []byte
				if part, more, err = p.Page([]byte(page)); err != nil {
					t.Fatalf("%s: %v", k.name, err)
				}
				text.Write(part)
			}
			if text.String() != want || more || strings.Join(inputs, " ") != k.inputs {
				t.Errorf("%s: %s, more %v, asked with %s\nwant %s, %s", k.name, text.String(), more, inputs, want, k.inputs)
			}
		}
	}
}

func TestPagesThatCannotBe(t *testing.T) {
	r := pagedRPC(t)
	for name, k := range map[string]struct {
		input string
		pages []string
	}{
		"one cursor twice":      {`{}`, []string{`{"next-cursor":"a"}`, `{"next-cursor":"a"}`}},
		"an empty cursor":       {`{}`, []string{`{"next-cursor":""}`}},
		"more than the limit":   {`{"limit":1}`, []string{`{"entry":[{"n":1},{"n":2}]}`}},
		"a member in two pages": {`{}`, []string{`{"age":1,"next-cursor":"a"}`, `{"age":2}`}},
		"a list and another":    {`{}`, []string{`{"entry":[],"age":1,"next-cursor":"a"}`, `{"entry":[]}`}},
		"not in the schema":     {`{}`, []string{`{"entry":[{"n":"x"}]}`}},
		"no JSON":               {`{}`, []string{`{`}},
	} {
		p, err := r.NewPages([]byte(k.input), Canonical, false)
		if err != nil {
			t.Fatal(err)
		}
		for i, page := range k.pages {
			_, _, err = p.Page([]byte(page))
			if (err != nil) != (i == len(k.pages)-1) {
				t.Errorf("%s: page %d: %v", name, i, err)
			}
		}
	}
}
