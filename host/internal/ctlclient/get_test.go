package ctlclient

import (
	"strings"
	"testing"
)

// Numbers keep their digits, in either form.
func TestResourcesAreShownWithAllDigits(t *testing.T) {
	const answer = `{"m:a":{"rate":1000000,"id":12345678901234567890,"big":123456789012345678901234567890,` +
		`"share":0.10,"name":"1e6","mac":"00:10:20:30:40:50","state":"no","on":true,"none":null,"list":["x",{}],"empty":[]}}`
	for form, want := range map[string]string{
		"yaml": `m:a:
  big: 123456789012345678901234567890
  empty: []
  id: 12345678901234567890
  list:
    - x
    - {}
  mac: "00:10:20:30:40:50"
  name: "1e6"
  none: null
  "on": true
  rate: 1000000
  share: 0.10
  state: "no"
`,
		"json": `{
  "m:a": {
    "big": 123456789012345678901234567890,
    "empty": [],
    "id": 12345678901234567890,
    "list": [
      "x",
      {}
    ],
    "mac": "00:10:20:30:40:50",
    "name": "1e6",
    "none": null,
    "on": true,
    "rate": 1000000,
    "share": 0.10,
    "state": "no"
  }
}
`,
	} {
		var out strings.Builder
		if err := writeDocument(&out, []byte(answer), form); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", form, err, out.String(), want)
		}
	}
	for _, answer := range []string{"", "{", "{} {}", "{} x"} {
		if err := writeDocument(&strings.Builder{}, []byte(answer), "json"); err == nil {
			t.Errorf("%q is shown as JSON", answer)
		}
	}
}
