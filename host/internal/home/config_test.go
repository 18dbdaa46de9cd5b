package home

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	ctl "ctl.internal"
)

// write makes a home with an etc/ctl.yaml.
func write(t *testing.T, text string) Dir {
	t.Helper()
	d := Dir(t.TempDir())
	if err := os.MkdirAll(d.Etc(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Etc("ctl.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDocumentedDefaultsAreTheDefaults reads the shipped etc/ctl.yaml with every
// setting switched on.
func TestDocumentedDefaultsAreTheDefaults(t *testing.T) {
	b, err := ctl.Templates.ReadFile("etc/ctl.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Listeners.Admin = "127.0.0.1:8183" // of new homes; one that never set it keeps its address
	if l, ps := Load(write(t, string(b)), nil, nil); len(ps) > 0 || !cmp.Equal(l.Config, want) {
		t.Fatalf("as shipped: %v %s", ps, cmp.Diff(want, l.Config))
	}
	on := regexp.MustCompile(`(?m)^#([a-z ]+:|  )`).ReplaceAllString(string(b), "$1")
	d := write(t, on)
	l, ps := Load(d, nil, nil)
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	want.Listeners.Names, want.Listeners.Proxies = []string{}, []string{}
	want.Datastore.Etcd.Endpoints, want.Features.Boot, want.AAA.RealmKinds, want.AAA.TrustedOrigins, want.Console.Directories, want.Log.Levels = []string{}, []string{}, []string{}, []string{}, []string{}, map[string]string{}
	want.Notify = Notify{Targets: map[string]NotifyTarget{}, Rules: []NotifyRule{}}
	if diff := cmp.Diff(want, l.Config); diff != "" {
		t.Fatal(diff)
	}
	for _, e := range l.Effective() {
		if !strings.HasPrefix(e.Origin, "etc/ctl.yaml:") {
			t.Errorf("%s is not in the shipped file", e.Key)
		}
	}
}

func TestPrecedenceAndOrigin(t *testing.T) {
	d := write(t, "listeners:\n  http: :1\n  https: :2\n  ssh: :3\ndatastore:\n  etcd:\n    password: hunter2\n")
	l, ps := Load(d, []string{"CTL_HTTPS=:20", "CTL_LISTENERS_SSH=off", "CTL_LIMITS_HEADER_TIMEOUT=7", "CTL_FEATURES_BOOT=[a, b]", "PATH=x"},
		map[string]string{"listeners.ssh": ":300"})
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	got := map[string]string{}
	for _, e := range l.Effective() {
		got[e.Key] = e.Value + " from " + e.Origin
	}
	for key, want := range map[string]string{
		"listeners.http":          ":1 from etc/ctl.yaml:2",
		"listeners.https":         ":20 from env CTL_HTTPS",
		"listeners.ssh":           ":300 from flag --ssh",
		"listeners.admin":         "127.0.0.1:8182 from default",
		"limits.headerTimeout":    "7s from env CTL_LIMITS_HEADER_TIMEOUT",
		"features.boot":           "[a, b] from env CTL_FEATURES_BOOT",
		"datastore.etcd.password": "********** from etc/ctl.yaml:7",
		"limits.body":             "8MiB from default",
	} {
		if got[key] != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
	if l.Limits.HeaderTimeout != 7*time.Second {
		t.Errorf("a bare number is %v, want seconds", l.Limits.HeaderTimeout)
	}
}

func TestFaultsHavePlaceAndRemedy(t *testing.T) {
	cases := map[string]struct {
		yaml, want string
	}{
		"unknown":         {"limits:\n  bdy: 1MiB\n", `etc/ctl.yaml:2: limits.bdy: no such setting (did you mean "body"?)`},
		"unknown section": {"listener: {}\n", `etc/ctl.yaml:1: listener: no such setting (did you mean "listeners"?)`},
		"twice":           {"log:\n  keep: 1\n  keep: 2\n", `etc/ctl.yaml:3: log.keep: set twice, first in line 2`},
		"number":          {"log:\n  keep: many\n", `etc/ctl.yaml:2: log.keep: "many" is not a whole number`},
		"duration":        {"aaa:\n  tokenLifetime: -1s\n", `etc/ctl.yaml:2: aaa.tokenLifetime: "-1s" is not a duration such as 500ms, 30s, 10m or 1h`},
		"address":         {"listeners:\n  http: 8181\n", `etc/ctl.yaml:2: listeners.http: "8181" is not an address; write HOST:PORT, such as 127.0.0.1:8181, or off`},
		"range":           {"aaa:\n  argon2:\n    memory: 100GiB\n", `etc/ctl.yaml:3: aaa.argon2.memory: 100GiB is not between 8MiB and 1GiB`},
		"enum":            {"datastore:\n  engine: badgr\n", `etc/ctl.yaml:2: datastore.engine: "badgr" is not one of badger, etcd (did you mean "badger"?)`},
		"cluster alone":   {"cluster:\n  listen: 127.0.0.1:1\n", `etc/ctl.yaml:2: cluster.listen: 127.0.0.1:1 is for the nodes of a cluster, which needs datastore.engine: etcd; this is badger`},
		"every address":   {"datastore:\n  engine: etcd\n  etcd: {endpoints: [http://a]}\ncluster:\n  listen: :1\n", `etc/ctl.yaml:5: cluster.listen: :1 is every address of this machine: say in cluster.advertise by which one the other nodes reach it`},
		"advertise":       {"cluster:\n  advertise: a\n", `etc/ctl.yaml:2: cluster.advertise: is for a listener, and cluster.listen is off`},
		"etcd":            {"datastore:\n  engine: etcd\n", `etc/ctl.yaml:1: datastore.etcd.endpoints: the list has 0 entries, at least 1 must be there, such as https://10.0.0.1:2379`},
		"mapping":         {"log: INFO\n", `etc/ctl.yaml:1: log: must be a mapping of settings`},
		"list":            {"features:\n  boot: ctl-restconf\n", `etc/ctl.yaml:2: features.boot: must be a list, such as [a, b]`},
		"no value":        {"log:\n  keep:\n", `etc/ctl.yaml:2: log.keep: has no value; remove the line to have the default`},
		"syntax":          {"log:\n\tkeep: 1\n", `etc/ctl.yaml:2: not valid YAML: found character that cannot start any token; YAML is indented with blanks, never with tabs`},
		"alias":           {"a: &x [1]\nb: *x\n", `etc/ctl.yaml:1: anchors and aliases are not used in settings; write the value out`},
		"two documents":   {"log: {}\n---\nlog: {}\n", `etc/ctl.yaml:2: only one YAML document is read; remove the rest`},
		"half a pair":     {"tls:\n  certificate: x.pem\n", `etc/ctl.yaml:2: tls.certificate: certificate and key are set together or not at all`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := write(t, c.yaml)
			_, ps := Load(d, nil, nil)
			if len(ps) != 1 {
				t.Fatalf("%d problems: %v", len(ps), ps)
			}
			if got := strings.TrimPrefix(ps[0].String(), string(d)+"/"); got != c.want {
				t.Fatalf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestFaultsOfEnvironmentAndFlags(t *testing.T) {
	_, ps := Load(write(t, ""), []string{"CTL_HTPP=:1", "CTL_LOG_KEEP=x", "CTL_ADMIN_PASSWORD=hunter2", "CTL_TEST_ETCD=x"}, map[string]string{"listeners.htp": ":1"})
	var got []string
	for _, p := range ps {
		got = append(got, p.String())
	}
	want := []string{"environment: CTL_HTPP: not a setting; did you mean CTL_HTTP?", `environment: CTL_LOG_KEEP: "x" is not a whole number`,
		`flags: listeners.htp: no such setting (did you mean "listeners.http"?)`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if !ps[0].Warning || Fatal(ps[:1]) != nil || Fatal(ps) == nil {
		t.Fatal("a warning must not stop a start, a fault must")
	}
}

func TestValidateOffline(t *testing.T) {
	d := write(t, "log: {keep: 0}\n")
	if err := os.WriteFile(d.Etc("switch.yaml"), []byte("a: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(d.Etc("initial-passwords"), nil, 0o600), os.Chmod(d.Etc("initial-passwords"), 0o644)); err != nil {
		t.Fatal(err)
	}
	ps := Validate(d, nil)
	if len(ps) != 3 || !strings.Contains(ps[1].File, "switch.yaml") || !ps[2].Warning {
		t.Fatalf("%v", ps)
	}
	if ps := Validate(Dir(filepath.Join(string(d), "none")), nil); len(ps) != 1 {
		t.Fatalf("%v", ps)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"0": 0, "17": 17, "1KiB": 1024, "8 MiB": 8 << 20, "2GiB": 2 << 30} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
		if again, err := ParseSize(got.String()); err != nil || again != got {
			t.Errorf("%s is not read back", got)
		}
	}
	for _, text := range []string{"", "x", "-1", "1MB", "99999999999GiB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q read as %d", text, got)
		}
	}
}

func FuzzLoad(f *testing.F) {
	b, _ := ctl.Templates.ReadFile("etc/ctl.yaml")
	f.Add(strings.ReplaceAll(string(b), "\n#", "\n"))
	f.Add("a: &a [*a]")
	f.Add("? [x]\n: {y: 1}")
	f.Fuzz(func(t *testing.T, text string) {
		l, ps := Load(write(t, text), nil, nil)
		if Fatal(ps) == nil && len(l.Effective()) == 0 {
			t.Fatal("no settings")
		}
	})
}
