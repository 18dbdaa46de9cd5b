package repoinfo

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/sdk/plugintest"
	"ctl.internal/sdk/plugintest/reserve"
)

func TestMain(m *testing.M) {
	plugintest.ServeAsProgram("repoinfo", Options)
	goleak.VerifyTestMain(m)
}

type object = map[string]any

// get asks the plugin as the host does.
func get(t *testing.T, p *plugintest.Plugin, path string, status int) string {
	t.Helper()
	res, err := p.HTTP(httptest.NewRequest(http.MethodGet, path, nil))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if res.Code != status {
		t.Errorf("%s: %d, want %d: %s", path, res.Code, status, res.Body)
	}
	return res.Body.String()
}

func shell(t *testing.T, p *plugintest.Plugin, name string, args ...string) string {
	t.Helper()
	out, err := p.Shell(t.Context(), name, args, nil)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

func TestFromASourceToAReport(t *testing.T) {
	root, clones := t.TempDir(), filepath.Join(t.TempDir(), "clones")
	origin := gittest.Zoo(t, filepath.Join(root, "zoo.git"))
	srv := gittest.Serve(t, root, "Basic dTpzM2NyZXQ=")
	p := plugintest.Start(t, Options(), plugintest.WithConfig(object{"clones": clones, "mirror": object{"interval": "0s", "sources": []object{
		{"project": "a/zoo", "url": srv.URL + "/zoo.git", "username": "u", "password": "s3cret"},
		{"project": "gone", "url": srv.URL + "/gone.git"},
	}}}))
	out, err := p.Shell(t.Context(), "repoinfo:sync", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "1 of 2 projects") || strings.Contains(out+err.Error(), "s3cret") {
		t.Errorf("a project that is gone must be told: %v\n%s", err, out)
	}
	if body := get(t, p, "/repoinfo/git/branches?project=a/zoo", 200); !strings.Contains(body, "stable/boron") {
		t.Error(body)
	}
	var got struct {
		Commits []struct{ Hash, Project string }
	}
	if err := json.Unmarshal([]byte(get(t, p, "/repoinfo/git/commits?project=a/zoo&skip=false", 200)), &got); err != nil {
		t.Fatal(err)
	}
	if want := strings.Fields(origin.Git("rev-list", "master")); len(got.Commits) != len(want) || got.Commits[0].Hash != want[0] || got.Commits[0].Project != "a/zoo" {
		t.Errorf("%d commits, want %d", len(got.Commits), len(want))
	}
	get(t, p, "/repoinfo/git/commits?project=gone", 404)
	get(t, p, "/repoinfo/review/projects", 503)
	get(t, p, "/repoinfo", 200)
	if table := shell(t, p, "repoinfo:projects"); !strings.Contains(table, "a/zoo") || !strings.Contains(table, "absent") {
		t.Error(table)
	}
	if text := shell(t, p, "repoinfo:report", "master", "two"); !strings.Contains(text, "Organizations") || !strings.Contains(text, "corp.example") {
		t.Error(text)
	}
	if out, _ := p.Shell(t.Context(), "repoinfo:report", []string{"--all", "two"}, nil); out != "" {
		t.Errorf("an option as reference: %s", out)
	}
}

func TestABrokenAnswerIsAborted(t *testing.T) {
	clones := t.TempDir()
	g := gittest.Long(t, filepath.Join(clones, "l.git"), 300)
	g.Explode()
	lost := g.Head("master~200")
	if err := os.Remove(filepath.Join(g.Dir, "objects", lost[:2], lost[2:])); err != nil {
		t.Fatal(err)
	}
	p := plugintest.Start(t, Options(), plugintest.WithConfig(object{"clones": clones}))
	res, err := p.HTTP(httptest.NewRequest(http.MethodGet, "/repoinfo/git/commits?project=l&stats=false", nil))
	if err == nil && res.Code == 200 {
		t.Errorf("a history without its middle was answered in whole: %d bytes", res.Body.Len())
	}
}

func TestListenerOfItsOwn(t *testing.T) {
	clones := t.TempDir()
	gittest.Zoo(t, filepath.Join(clones, "zoo.git"))
	address := fmt.Sprint("127.0.0.1:", reserve.Port(t, "tcp", "127.0.0.1"))
	ln, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	p := plugintest.Start(t, Options(), plugintest.WithConfig(object{"clones": clones, "listen": address}))
	if err := ln.Close(); err != nil { // until now the port was taken, as during a reload
		t.Fatal(err)
	}
	if len(p.Warnings) != 0 {
		t.Errorf("warned of a loopback address: %v", p.Warnings)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + address + "/git/branches?project=zoo")
	for err != nil { // it opens within two seconds
		res, err = client.Get("http://" + address + "/git/branches?project=zoo")
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != 200 || !strings.Contains(string(body), "master") {
		t.Errorf("%d %s %v", res.StatusCode, body, err)
	}
}

func TestAnOpenListenerIsWarnedOf(t *testing.T) {
	p := plugintest.Start(t, Options(), plugintest.WithConfig(object{"clones": t.TempDir(), "listen": "0.0.0.0:0"}))
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "no access control") {
		t.Errorf("%v", p.Warnings)
	}
}

func TestBadSettings(t *testing.T) {
	for name, row := range map[string]struct {
		config object
		text   string
	}{
		"unknown":        {object{"clone": "x"}, "clone"},
		"not a duration": {object{"mirror": object{"interval": "often"}}, "/mirror/interval"},
		"bad source":     {object{"mirror": object{"sources": []object{{"project": "../x", "url": "/x"}}}}, "mirror.sources"},
		"password":       {object{"review_url": "https://u:s3cret@x/"}, "review_url"},
		"too small":      {object{"limits": object{"walks": 0}}, "walks"},
	} {
		_, err := plugintest.StartError(t, Options(), plugintest.WithConfig(row.config))
		if err == nil || !strings.Contains(err.Error(), row.text) || strings.Contains(fmt.Sprint(err), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheShippedSettingsAreTheDefaults(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "etc", "repoinfo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p := plugintest.Start(t, Options())
	var schema struct {
		Properties map[string]struct{ Default any }
	}
	if err := json.Unmarshal(p.Manifest.ConfigSchema, &schema); err != nil {
		t.Fatal(err)
	}
	for name := range schema.Properties {
		if !strings.Contains(string(data), "\n#"+name+":") {
			t.Errorf("etc/repoinfo.yaml does not show %s", name)
		}
	}
}
