package restconf

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

// table answers a table of n entries in pages of three.
func table(n int, broken func(from int) error) func(string) (string, error) {
	return func(in string) (string, error) {
		var q struct {
			Limit  int    `json:"limit"`
			Cursor string `json:"cursor"`
		}
		if err := json.Unmarshal([]byte(in), &q); err != nil {
			return "", err
		}
		from, _ := strconv.Atoi(q.Cursor)
		if err := broken(from); err != nil {
			return "", err
		}
		size := 3
		if q.Limit > 0 {
			size = min(size, q.Limit)
		}
		var entries []string
		for i := from; i < min(n, from+size); i++ {
			entries = append(entries, fmt.Sprintf(`{"n":%d}`, i))
		}
		out := `{"entry":[` + strings.Join(entries, ",") + `]`
		if from+size < n {
			out += fmt.Sprintf(`,"next-cursor":"%d"`, from+size)
		}
		return out + "}", nil
	}
}

// A table comes whole, however many pages the plugin makes of it, and with limit as many entries as were asked for.
func TestTableInPages(t *testing.T) {
	f := newFixture(t)
	const legacy, rests = "/restconf/operations/lab:get-table", "/rests/operations/lab:get-table"
	f.answers["lab:get-table"] = table(8, func(int) error { return nil })
	const whole = `{"output":{"entry":[{"n":0},{"n":1},{"n":2},{"n":3},{"n":4},{"n":5},{"n":6},{"n":7}]}}`
	f.want(200, whole, "POST", legacy, `{"input":{}}`)
	f.want(200, whole, "POST", legacy, ``)
	f.want(200, `{"output":{"entry":[{"n":0},{"n":1},{"n":2},{"n":3}],"next-cursor":"4"}}`, "POST", legacy, `{"input":{"limit":4}}`)
	f.want(200, `{"lab:output":{"entry":[{"n":"4"},{"n":"5"}],"next-cursor":"6"}}`, "POST", rests, `{"lab:input":{"limit":2,"cursor":"4"}}`)
	f.want(200, `{"output":{"entry":[{"n":6},{"n":7}]}}`, "POST", legacy, `{"input":{"limit":4,"cursor":"6"}}`)
	f.want(200, `<output xmlns="urn:test:lab"><entry><n>0</n></entry><entry><n>1</n></entry><entry><n>2</n></entry><entry><n>3</n></entry><next-cursor>4</next-cursor></output>`,
		"POST", rests, `{"lab:input":{"limit":4}}`, "Accept: application/yang-data+xml")

	f.answers["lab:get-table"] = table(8, func(int) error { return fault.New(fault.NotFound, "no such table") })
	f.want(404, "", "POST", legacy, `{"input":{}}`)
	f.answers["lab:get-table"] = func(string) (string, error) { return `{"entry":[{"n":-1}]}`, nil }
	f.want(500, "", "POST", legacy, `{"input":{}}`)
}

// An answer that fails in its middle is no answer that a client could take for whole.
func TestTableThatEndsEarly(t *testing.T) {
	f := newFixture(t)
	f.answers["lab:get-table"] = table(8, func(from int) error {
		if from > 3 {
			return errors.New("the switch fell silent")
		}
		return nil
	})
	r := httptest.NewRequest("POST", "/restconf/operations/lab:get-table", strings.NewReader(`{"input":{}}`))
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("the connection was not broken off: %v", v)
		}
	}()
	f.ServeHTTP(httptest.NewRecorder(), r)
	t.Error("the answer ended as if it were whole")
}
