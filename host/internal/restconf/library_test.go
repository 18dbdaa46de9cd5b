package restconf

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

type library struct {
	Lib struct {
		Set []struct {
			Module []libraryModule `json:"module"`
			Import []libraryModule `json:"import-only-module"`
		} `json:"module-set"`
		Datastore []struct{ Name, Schema string }
		ID        string `json:"content-id"`
	} `json:"ietf-yang-library:yang-library"`
}

type libraryModule struct {
	Name, Revision, Namespace string
	Location                  []string
}

func (f *fixture) library() (l library) {
	f.t.Helper()
	a := f.want(200, "", "GET", "/rests/data/ietf-yang-library:yang-library", "")
	if err := json.Unmarshal([]byte(a.body), &l); err != nil || len(l.Lib.Set) != 1 {
		f.t.Fatalf("%v: %s", err, a.body)
	}
	return l
}

// TestLibraryListsWhatIsServed follows every location of the library, in both forms.
func TestLibraryListsWhatIsServed(t *testing.T) {
	f := newFixture(t)
	l := f.library()
	names := map[string]bool{}
	for _, m := range append(l.Lib.Set[0].Module, l.Lib.Set[0].Import...) {
		names[m.Name] = true
		a := f.want(200, "", "GET", m.Location[0], "", "Accept: application/yang")
		if a.header.Get("Content-Type") != mediaYANG || !strings.Contains(a.body, "module "+m.Name+" {") {
			t.Errorf("%s: %s %.80s", m.Location[0], a.header.Get("Content-Type"), a.body)
		}
		a = f.want(200, "", "GET", m.Location[0], "", "Accept: application/yin+xml, application/yang;q=0.5")
		dec := xml.NewDecoder(strings.NewReader(a.body))
		for {
			if _, err := dec.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s as YIN: %v", m.Name, err)
			}
		}
	}
	for _, n := range []string{"lab", "ietf-yang-library", "ietf-restconf-monitoring", "ietf-inet-types", "sal-remote"} {
		if !names[n] {
			t.Errorf("%s is not listed", n)
		}
	}
	if len(l.Lib.Datastore) != 3 || l.Lib.Datastore[1].Name != "ietf-datastores:operational" {
		t.Errorf("datastores %v", l.Lib.Datastore)
	}
	f.now = &Installed{Schema: f.now.Schema, REST: map[string]bool{"lab": false}}
	less := f.library()
	if less.Lib.ID == l.Lib.ID {
		t.Error("the content-id is the same for other modules")
	}
	f.want(404, "", "GET", "/rests/modules/lab?revision=2024-03-01", "")
}

func TestModuleSources(t *testing.T) {
	f := newFixture(t)
	f.want(200, "", "GET", "/rests/modules/lab", "")
	f.want(200, "", "GET", "/rests/modules/lab?revision=2024-03-01", "", "Accept: */*")
	f.want(404, "", "GET", "/rests/modules/lab?revision=1999-01-01", "")
	f.want(404, "", "GET", "/rests/modules/nothing", "")
	f.want(406, "", "GET", "/rests/modules/lab", "", "Accept: application/json")
	f.want(405, "", "DELETE", "/rests/modules/lab", "")
	a := f.want(200, "", "GET", "/rests/modules/lab", "", "Accept: application/yin+xml")
	for _, want := range []string{`<module name="lab" xmlns="urn:ietf:params:xml:ns:yang:yin:1" xmlns:lab="urn:test:lab" xmlns:nt="urn:TBD:params:xml:ns:yang:network-topology">`,
		`<import module="network-topology">`, `<range value="1..4094"/>`, `<augment target-node="/nt:network-topology/nt:topology/nt:node">`} {
		if !strings.Contains(a.body, want) {
			t.Errorf("%s is not in %s", want, a.body)
		}
	}
}

// The parts of a module are listed with it, and their texts are served.
func TestSubmodulesAreListed(t *testing.T) {
	f := withModules(t, `module su { yang-version 1.1; namespace "urn:su"; prefix su; include part; container c { uses g; } }`,
		`submodule part { yang-version 1.1; belongs-to su { prefix su; } revision 2020-01-01; grouping g { leaf a { type string; } } }`)
	f.want(201, "", "PUT", "/rests/data/su:c", `{"su:c":{"a":"x"}}`)
	if got := f.do("GET", "/rests/data/ietf-yang-library:yang-library", "").body; !strings.Contains(got, `"submodule":[{"location":["/rests/modules/part?revision=2020-01-01"],"name":"part","revision":"2020-01-01"}]`) {
		t.Error(got)
	}
	if got := f.do("GET", "/rests/data/ietf-yang-library:modules-state", "").body; !strings.Contains(got, `"submodule":[{"name":"part","revision":"2020-01-01","schema":"/rests/modules/part?revision=2020-01-01"}]`) {
		t.Error(got)
	}
	f.want(200, "", "GET", "/rests/modules/part?revision=2020-01-01", "", "Accept: application/yang")
	f.want(406, "", "GET", "/rests/modules/part", "", "Accept: application/yin+xml")
}
