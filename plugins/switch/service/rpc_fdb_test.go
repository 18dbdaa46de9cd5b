package service

import (
	"encoding/json"
	"math"
	"testing"
)

// The fast form of an entry is that of the general encoder.
func TestEntryJSON(t *testing.T) {
	for _, e := range []fdbEntry{{}, {1, 2, 3, 4, "LEARNED"}, {math.MaxInt64, math.MaxInt32, 1<<48 - 1, 65535, "MGMT"}} {
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(e.appendJSON(nil)); got != string(want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
