package sdk

import (
	"strings"
	"testing"
	"time"
)

func TestHomeIsFoundFromTheDataDirectory(t *testing.T) {
	t.Setenv("CTL_HOME", "")
	for dir, want := range map[string]string{"/h/data/plugins/repoinfo": "/h", "/h/data/plugins/repoinfo/": "/h", "/tmp/x": "/tmp/x"} {
		if got := (&Env{DataDir: dir}).Home(); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
	t.Setenv("CTL_HOME", "/other")
	if got := (&Env{DataDir: "/h/data/plugins/repoinfo"}).Home(); got != "/other" {
		t.Errorf("CTL_HOME does not win: %s", got)
	}
}

func TestDurations(t *testing.T) {
	var set struct {
		Wait Duration `json:"wait"`
	}
	if err := (&Env{Config: []byte(`{"wait":"1m30s"}`)}).DecodeConfig(&set); err != nil || set.Wait.Duration != 90*time.Second {
		t.Errorf("%v, %v", set.Wait, err)
	}
	bad := set
	for _, text := range []string{`{"wait":"soon"}`, `{"wait":90}`, `{"wait":""}`} {
		if err := (&Env{Config: []byte(text)}).DecodeConfig(&bad); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
	if err := set.Wait.Between("wait", time.Second, time.Minute); err == nil || !strings.Contains(err.Error(), "1m30s is not between 1s and 1m0s") {
		t.Error(err)
	}
	if err := set.Wait.Between("wait", time.Second, 90*time.Second); err != nil {
		t.Error(err)
	}
}
