package netconf

import (
	"errors"
	"strings"
	"testing"

	"ctl.internal/internal/netconf/xmltree"
)

func reply(t *testing.T, inner string) (*Reply, error) {
	t.Helper()
	n, err := xmltree.Parse([]byte(`<nc:rpc-reply xmlns:nc="` + NS + `" message-id="1">` + inner + `</nc:rpc-reply>`))
	if err != nil {
		t.Fatal(err)
	}
	return readReply(n)
}

const someError = `<nc:rpc-error><nc:error-type>protocol</nc:error-type><nc:error-tag>bad-element</nc:error-tag><nc:error-severity>error</nc:error-severity>
<nc:error-app-tag>range</nc:error-app-tag><nc:error-path>/a</nc:error-path><nc:error-message> too big </nc:error-message><nc:error-info><nc:bad-element>x</nc:bad-element></nc:error-info></nc:rpc-error>`

func TestReplies(t *testing.T) {
	warning := strings.ReplaceAll(someError, ">error<", ">warning<")
	for name, c := range map[string]struct {
		inner  string
		ok     bool
		errors int // -1: another error than a refusal
	}{
		"ok":                {"<nc:ok/>", true, 0},
		"data":              {"<nc:data/>", true, 0},
		"output of an rpc":  {`<x xmlns="urn:x"/>`, true, 0},
		"ok of others":      {`<ok xmlns="urn:x"/>`, true, 0},
		"nothing":           {"", false, -1},
		"two ok":            {"<nc:ok/><nc:ok/>", false, -1},
		"an error":          {someError, false, 1},
		"two":               {someError + someError, false, 2},
		"ok and an error":   {"<nc:ok/>" + someError, false, 1},
		"data and an error": {someError + "<nc:data/>", false, 1},
		"a warning and ok":  {warning + "<nc:ok/>", true, 0},
		"only a warning":    {warning, false, -1},
		"an empty error":    {"<nc:rpc-error/>", false, 1},
	} {
		r, err := reply(t, c.inner)
		if (err == nil) != c.ok || c.errors >= 0 && len(Refused(err)) != c.errors || c.errors < 0 && Refused(err) != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	_, err := reply(t, someError)
	e := (*RPCError)(nil)
	if e = Refused(err)[0]; e.Tag != "bad-element" || e.AppTag != "range" || e.Message != "too big" || !strings.Contains(e.Info, "bad-element") {
		t.Errorf("%+v", e)
	}
	if text := e.Error(); text != "bad-element (range) (x) at /a - too big" {
		t.Errorf("%s", text)
	}
	if _, err := reply(t, ""); !errors.Is(err, ErrUnclear) {
		t.Errorf("an empty reply: %v", err)
	}
}

func FuzzReply(f *testing.F) {
	f.Add([]byte(`<rpc-reply xmlns="` + NS + `" message-id="1"><ok/></rpc-reply>`))
	f.Add([]byte(`<nc:rpc-reply xmlns:nc="` + NS + `">` + someError + `</nc:rpc-reply>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := xmltree.Parse(data)
		if err != nil {
			return
		}
		if r, err := readReply(n); (r == nil) == (err == nil) {
			t.Errorf("%q: %+v and %v", data, r, err)
		} else if err != nil && err.Error() == "" {
			t.Errorf("%q: an error without text", data)
		}
	})
}
