package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "draw the pictures again")

// The committed pictures of docs/dev are those that this program draws.
func TestPicturesOfFlowsAreFresh(t *testing.T) {
	const dir = "../../docs/pictures"
	if *update {
		if err := drawFlows(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range flows {
		got, err := os.ReadFile(filepath.Join(dir, f.name+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != f.svg() {
			t.Errorf("%s.svg is not what is drawn: go test ./internal/docsite -update", f.name)
		}
		for _, s := range f.steps {
			if max(s.from, s.to) >= len(f.lanes) {
				t.Errorf("%s: the step %q leads to a lane that there is not", f.name, s.text)
			}
		}
	}
}
