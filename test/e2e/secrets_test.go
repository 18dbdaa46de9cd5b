package e2e

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/test/harness"
)

// A leaf that an author marks secret lies sealed on the disk and is shown to nobody; what writes the mask back keeps it,
// and so does the plugin that owns it.
func TestASecretOfAnAuthorIsShownToNobody(t *testing.T) {
	const secret = "hunter2-of-the-console"
	home := harness.NewHome(t)
	c := start(t, home)
	install(t, c, "racks")
	machine := machinePath("r1", "a")
	if a := c.Do("PUT", racksPath+"/rack=r1", admin, `{"racks:rack":[{"name":"r1","machine":[{"name":"a","console-password":"`+secret+`"}]}]}`); a.Status != http.StatusCreated {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	const shown = `"console-password":"**********"`
	for _, at := range []string{racksPath, machine, "/rests/data", "/restconf/config/racks:racks", "/restconf/operational/racks:racks", machine + "/console-password"} {
		for _, who := range []string{admin, user} {
			if a := c.Do("GET", at, who, ""); a.Status != http.StatusOK || strings.Contains(a.Body, "hunter2") || !strings.Contains(a.Body, shown) && !strings.Contains(a.Body, `:"**********"`) {
				t.Errorf("%s as %s: %d %s", at, who, a.Status, a.Body)
			}
		}
	}
	if a := c.Do("PUT", machine, admin, `{"racks:machine":[{"name":"a",`+shown+`}]}`); a.Status != http.StatusNoContent {
		t.Errorf("the mask is written back: %d %s", a.Status, a.Body)
	}
	if a := c.Do("PUT", machinePath("r1", "b"), admin, `{"racks:machine":[{"name":"b",`+shown+`}]}`); a.Status != http.StatusBadRequest {
		t.Errorf("the mask of nothing: %d %s", a.Status, a.Body)
	}
	if a := c.Do("POST", "/rests/operations/racks:add", admin, `{"racks:input":{"rack":"r1","machine":"b"}}`); a.Status != http.StatusNoContent {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := c.Do("GET", machine, user, ""); !strings.Contains(a.Body, shown) {
		t.Errorf("the secret is gone: %s", a.Body)
	}
	if a := c.Do("PATCH", machine, admin, `{"racks:machine":[{"name":"a","console-password":"`+strings.Repeat(secret, 10)+`"}]}`); a.Status != http.StatusBadRequest || strings.Contains(a.Body, "hunter2") {
		t.Errorf("an error shows it: %d %s", a.Status, a.Body)
	}
	c.Stop()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("hunter2")) {
			t.Errorf("%s has the secret in clear", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
