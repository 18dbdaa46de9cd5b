package state

import (
	"testing"
)

func TestMembersThatALaterReleaseWroteStay(t *testing.T) {
	type inner struct {
		X int `json:"x"`
	}
	type record struct {
		Name  string `json:"name"`
		Count int    `json:"count,omitempty"`
		inner
		In *inner `json:"in,omitempty"`
	}
	for object, want := range map[string]string{
		`{"name":"a","count":1}`:                              `{"name":"b","x":0}`,
		`{"name":"a","note":{"k":[1]},"a\"b":null}`:           `{"name":"b","x":0,"a\"b":null,"note":{"k":[1]}}`,
		`{"name":"a","x":4,"in":{"x":1,"new":2},"later":"l"}`: `{"name":"b","x":0,"later":"l"}`, // not inside other objects
		`[]`: `{"name":"b","x":0}`,
	} {
		if got := string(unknownTo[record]([]byte(object)).addInto([]byte(`{"name":"b","x":0}`))); got != want {
			t.Errorf("%s: %s, want %s", object, got, want)
		}
	}
	if got := string(unknownTo[struct{}]([]byte(`{"a":1}`)).addInto([]byte(`{}`))); got != `{"a":1}` {
		t.Error(got)
	}
	if got := string(members(nil).addInto([]byte("\x1f\x8b \n"))); got != "\x1f\x8b \n" {
		t.Errorf("a value that is no JSON was changed: %q", got)
	}
	if unknownTo[map[string]int]([]byte(`{"a":1}`)) != nil || string(members{"a": nil}.addInto([]byte(`7`))) != "7" {
		t.Error("what is no struct has no unknown members")
	}
}
