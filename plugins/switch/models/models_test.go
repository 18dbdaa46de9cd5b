package models

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/switch-models.md")

// page is the page of the documentation.
const page = "../../../docs/switch-models.md"

func count(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}

// render makes the page of the results.
func render(all []Result) string {
	var b strings.Builder
	b.WriteString(`# Switches that are known to work

This page is made by the tests from recordings of real switches (` + "`go test ./plugins/switch/mibdriver -run TestModels -update`" + ` and
` + "`go test ./plugins/switch/models -update`" + `); ` + "`switch:models`" + ` shows the same. A number is how many were read; – is a table that the device
does not offer, or that its recording does not have. Links are those to other models of this table that both ends report. A
recording cannot be written to, so this says nothing about changes. Other models with the standard MIBs work alike; what is
particular to one can be described by [vendor-specific configuration](switch-vendor-xml.md).

| Vendor | Model | Ports | Neighbours | Links | VLANs | Addresses | ARP | Spanning tree | Counters | Wrong |
|---|---|---|---|---|---|---|---|---|---|---|
`)
	for _, r := range all {
		cells := []string{r.Vendor, r.Model}
		for _, n := range []int{r.Ports, r.Neighbors, r.Links, r.VLANs, r.Addresses, r.ARP, r.STP, r.Counters} {
			cells = append(cells, count(n))
		}
		wrong := strings.Join(r.Wrong, "; ")
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(cells, " | "), wrong)
	}
	return b.String()
}

// The page of the documentation is that of the results.
func TestPage(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("there are no results")
	}
	want := render(all)
	if *update {
		if err := os.WriteFile(filepath.FromSlash(page), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.FromSlash(page))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("docs/switch-models.md is not that of models.json; go test ./plugins/switch/models -update writes it (-want +got):\n%s", d)
	}
}
