package home

import (
	"os"
	"strings"
	"testing"
)

func TestSettingIsChangedInItsFile(t *testing.T) {
	dir := Dir(t.TempDir())
	if err := os.Mkdir(dir.Etc(), 0o700); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		b, err := os.ReadFile(dir.Etc("ctl.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	begin := "# Only comments.\n\n#limits:\n#  body: 8MiB # of a request\n"
	if err := os.WriteFile(dir.Etc("ctl.yaml"), []byte(begin), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, set := range [][2]string{{"limits.body", "16MiB"}, {"limits.inFlight", "100"}, {"datastore.etcd.password", "geheim"}, {"console.directories", "[a, b]"}} {
		if _, err := dir.Set("ctl", set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	text := read()
	if !strings.HasPrefix(text, begin) || !strings.Contains(text, "limits:\n  body: 16MiB\n  inFlight: 100\n") {
		t.Errorf("the file is\n%s", text)
	}
	var shown []string
	all, err := dir.Settings("ctl")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		shown = append(shown, s.Key+"="+s.Value)
	}
	if got, want := strings.Join(shown, " "), "limits.body=16MiB limits.inFlight=100 datastore.etcd.password=********** console.directories=[a, b]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	undo, err := dir.Set("ctl", "limits.body", "1MiB")
	if err != nil {
		t.Fatal(err)
	}
	if err := undo(); err != nil || read() != text {
		t.Errorf("not as it was (%v):\n%s", err, read())
	}
	for _, wrong := range [][2]string{{"limits.body.more", "1"}, {"limits.body", "{"}, {"limits.body", ""}} {
		if _, err := dir.Set("ctl", wrong[0], wrong[1]); err == nil || read() != text {
			t.Errorf("%v was taken", wrong)
		}
	}
	if undo, err = dir.Set("switch", "a", "1"); err != nil {
		t.Fatal(err)
	}
	if err := undo(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir.Etc("switch.yaml")); !os.IsNotExist(err) {
		t.Error("a file that was not there stays")
	}
}
