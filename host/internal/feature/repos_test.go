package feature

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/sdk/fault"
)

const vendorRepo = `name: vendor
features:
- {name: acme, version: 1.0.0, depends: [sw], plugins: [{name: acme}]}
- {name: acme-more, version: 1.0.0}
`

func TestRepositoriesComeAndGo(t *testing.T) {
	h := newHost(t)
	ctx := context.Background()
	path := h.file("vendor.yaml", vendorRepo)
	r, c, err := h.m.AddRepository(ctx, "file://"+path, AddOptions{Unsigned: true})
	if err != nil || r.Name != "vendor" || !c.Empty() {
		t.Fatalf("%+v %v %v", r, c.Lines(), err)
	}
	if err := os.Remove(path); err != nil { // its text is kept
		t.Fatal(err)
	}
	h.install("acme", "acme-more")
	h.restart()
	h.wants("acme:S acme-more:S base:S sw:S", "acme switch")
	if diff := cmp.Diff([]RepoInfo{{Name: "test", URL: h.dir.Path("features.yaml")}, {Name: "vendor", URL: path, Added: true, SignedBy: "UNSIGNED"}}, h.m.Repositories()); diff != "" {
		t.Fatal(diff)
	}
	_, err = h.m.RemoveRepository(ctx, "vendor", false)
	if fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), "acme") {
		t.Fatal(err)
	}
	if _, err := h.m.RemoveRepository(ctx, "vendor", true); err != nil {
		t.Fatal(err)
	}
	h.wants("base:S", "")
	h.restart()
	h.wants("base:S", "")
}

func TestRepositoryFaults(t *testing.T) {
	h := newHost(t)
	ctx := context.Background()
	for name, c := range map[string]struct{ url, says string }{
		"absent":      {h.dir.Path("none.yaml"), "no such file"},
		"an address":  {"https://example.org/f.yaml", "files only"},
		"not a repo":  {h.file("bad.yaml", "name: bad\nfeatuers: []\n"), `did you mean "features"?`},
		"a name used": {h.file("same.yaml", "name: test\nfeatures: []\n"), "already"},
		"enormous":    {h.file("big.yaml", strings.Repeat("#", maxRepo+1)), "at most"},
	} {
		if _, _, err := h.m.AddRepository(ctx, c.url, AddOptions{Unsigned: true, Install: true}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := h.m.RemoveRepository(ctx, "test", true); fault.KindOf(err) != fault.Denied {
		t.Error(err)
	}
	if _, err := h.m.RemoveRepository(ctx, "vendr", true); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

func TestRefreshTakesNewerVersions(t *testing.T) {
	h := newHost(t)
	ctx := context.Background()
	h.install("sw")
	h.file("features.yaml", strings.Replace(testCatalogue, "name: sw, version: 1.0.0", "name: sw, version: 1.1.0", 1))
	c, err := h.m.Refresh(ctx)
	if err != nil || len(c.Upgrade) != 1 || c.Upgrade[0].ID() != "sw/1.1.0" {
		t.Fatalf("%v %v", c.Lines(), err)
	}
	h.file("features.yaml", "name: test\nfeatures: [{name: base, version: 1}]\n")
	if _, err := h.m.Refresh(ctx); err == nil || !strings.Contains(err.Error(), "the catalogue is unchanged") {
		t.Fatal(err)
	}
	h.wants("base:S sw:S", "switch")
	h.file("features.yaml", "name: [")
	if _, err := h.m.Refresh(ctx); fault.KindOf(err) != fault.Invalid {
		t.Fatal(err)
	}
	h.wants("base:S sw:S", "switch")
}

func TestBadFileInFeaturesDIsLeftOut(t *testing.T) {
	h := newHost(t)
	h.file("features.d/bad.yaml", "name: bad\nx: 1\n")
	h.file("features.d/good.yaml", "name: good\nfeatures: [{name: extra, version: 1}]\n")
	h.restart()
	h.install("extra")
	h.wants("base:S extra:S", "")
	if ps := h.m.Problems(); len(ps) != 1 || !strings.Contains(ps[0].String(), "features.d/bad.yaml:2") {
		t.Fatalf("%v", ps)
	}
	if ps := Check(h.dir); len(ps) != 1 {
		t.Fatalf("check: %v", ps)
	}
	if err := h.doUninstall("extra")(context.Background()); err != nil {
		t.Fatal(err)
	}
	h.restart()
	h.wants("base:S", "")
}
