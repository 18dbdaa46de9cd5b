package yang

import (
	"strings"
	"testing"
)

const secretModule = useSchema + `
	container c {
		leaf name { type string; }
		leaf console-password { type string { length 1..20; } ctl:secret; }
		leaf pin { type uint16; ctl:secret; }
		leaf-list spare { type string; ctl:secret; }
		container vault { ctl:secret; leaf a { type string; } list e { key k; leaf k { type string; } leaf v { type string; } } }
		list user { key id; leaf id { type string; } leaf secret { type string; ctl:secret; } }
		leaf shown-password { type string; ctl:not-secret; }
	}
	rpc r { input { leaf psk { type string; ctl:secret; } } output { leaf psk { type string; ctl:secret; } leaf n { type string; } } }
	notification n { leaf psk { type string; ctl:secret; } }`

const secretText = `{"name":"n","console-password":"hunter2","pin":1234,"spare":["s1"],"vault":{"a":"v1","e":[{"k":"k1","v":"v2"}]},` +
	`"user":[{"id":"u","secret":"s2"}],"shown-password":"open"}`

func secretSet(t testing.TB) *Set {
	t.Helper()
	set, err := Load(Source{Name: "p", Files: mod("m", secretModule)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func decodeSecrets(t *testing.T, n *Node, text string, o Options) *Data {
	t.Helper()
	d, err := n.Decode([]byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var secretValues = []string{"hunter2", "1234", "s1", "v1", "k1", "v2", "s2"}

func checkHidden(t *testing.T, what, text string) {
	t.Helper()
	for _, s := range secretValues {
		if strings.Contains(text, `"`+s+`"`) || strings.Contains(text, ":"+s) || strings.Contains(text, ">"+s+"<") {
			t.Errorf("%s has the secret %s: %s", what, s, text)
		}
	}
}

func TestSecretsAreHidden(t *testing.T) {
	n := secretSet(t).Data("m", "c")
	d := decodeSecrets(t, n, secretText, Options{})
	d.HideSecrets()
	for _, s := range []Style{Canonical, RFC7951, WithOrigin} {
		checkHidden(t, "JSON", string(d.Append(nil, s)))
	}
	checkHidden(t, "XML", string(d.AppendXML(nil)))
	const want = `{"@":{"ctl-schema:masked":"pin spare vault"},"name":"n","console-password":"**********",` +
		`"user":[{"id":"u","secret":"**********"}],"shown-password":"open"}`
	if got := string(d.Append(nil, Canonical)); got != want {
		t.Errorf("got %s", got)
	}
}

func TestAMaskKeepsTheSecret(t *testing.T) {
	n := secretSet(t).Data("m", "c")
	stored := decodeSecrets(t, n, secretText, Options{})
	for _, xml := range []bool{false, true} {
		shown := decodeSecrets(t, n, secretText, Options{})
		shown.HideSecrets()
		text := shown.Append(nil, Canonical)
		if xml {
			text = shown.AppendXML(nil)
		}
		back := decodeSecrets(t, n, string(text), Options{Masks: true, XML: xml})
		if !back.Masked() {
			t.Fatalf("%s is not seen to be masked", text)
		}
		if err := back.Unmask(stored); err != nil {
			t.Fatal(err)
		}
		got := decodeSecrets(t, n, string(back.Append(nil, Canonical)), Options{})
		for m := range stored.All() {
			if other := got.Get(m.Node); other == nil || string(other.Append(nil, Canonical)) != string(m.Append(nil, Canonical)) {
				t.Errorf("%s is not what it was", m.Node.Name)
			}
		}
	}
}

func TestAMaskOfNothingIsRefused(t *testing.T) {
	n := secretSet(t).Data("m", "c")
	stored := decodeSecrets(t, n, `{"name":"n","user":[{"id":"u"}]}`, Options{})
	for text, want := range map[string]string{
		`{"console-password":"**********"}`:                    "/console-password",
		`{"user":[{"id":"u","secret":"**********"}]}`:          "/user[id='u']/secret",
		`{"user":[{"id":"new","secret":"**********"}]}`:        "/user[id='new']/secret",
		`{"@":{"ctl-schema:masked":"vault"}}`:                  "/vault",
		`{"@":{"ctl-schema:masked":"name"}}`:                   "no secret member",
		`{"@":{"ctl-schema:masked":"pin shown-password x y"}}`: "no secret member",
	} {
		d := decodeSecrets(t, n, text, Options{Masks: true})
		if err := d.Unmask(stored); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := n.Decode([]byte(`{"@":{"other:tag":"x"}}`), Options{Masks: true}); err == nil {
		t.Error("an annotation that means nothing was taken")
	}
}

// A secret that does not fit its type must not be in the error.
func TestErrorsDoNotShowSecrets(t *testing.T) {
	set, err := Load(Source{Name: "p", Files: mod("m", useSchema+`container c {
		leaf a { ctl:secret; type string { length 1..3; } } leaf b { ctl:secret; type string { pattern '[a-z]*'; } } leaf d { ctl:secret; type uint8; }
		leaf e { ctl:secret; type enumeration { enum x; } } leaf-list f { ctl:secret; type string { length 1..3; } }
		container g { ctl:secret; list l { key k; leaf k { type string { length 1..3; } } leaf n { type string { length 1..3; } } } leaf-list u { type string; } } }`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"a":"HUNTER2"}`, `{"b":"HUNTER2"}`, `{"d":"HUNTER2"}`, `{"e":"HUNTER2"}`, `{"f":["HUNTER2"]}`, `{"a":["HUNTER2"]}`, `{"a":{"HUNTER2":1}}`,
		`{"g":{"l":[{"k":"HUNTER2"}]}}`, `{"g":{"l":[{"k":"ABC","n":"HUNTER2"}]}}`, `{"g":{"u":["HUNTER2","HUNTER2"]}}`,
		`{"g":{"l":[{"k":"HUN"},{"k":"HUN"}]}}`,
	} {
		_, err := set.Data("m", "c").Decode([]byte(text), Options{})
		if err == nil {
			t.Errorf("%s was taken", text)
		} else if strings.Contains(err.Error(), "HUN") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestOperationsDoNotShowSecrets(t *testing.T) {
	set := secretSet(t)
	r := set.RPC("m", "r")
	out, err := r.AppendOutput(nil, []byte(`{"psk":"hunter2","n":"x"}`), Canonical)
	if err != nil || string(out) != `{"psk":"**********","n":"x"}` {
		t.Errorf("%s %v", out, err)
	}
	if _, err := r.DecodeInput([]byte(`{"input":{"psk":"**********"}}`), Options{Masks: true}); err == nil {
		t.Error("a mask in an input was taken for the secret")
	}
}

func TestNamesAreGuessedWhereNothingIsAnnotated(t *testing.T) {
	body := `container c { leaf name { type string; } leaf console-password { type string; } leaf snmpCommunity { type string; } leaf password { type boolean; }
		container private-key { leaf data { type binary; } } list x { key secret; leaf secret { type string; } } anydata blob; }`
	set, err := Load(Source{Name: "p", Files: mod("m", "yang-version 1.1;"+body)})
	if err != nil {
		t.Fatal(err)
	}
	n := set.Data("m", "c")
	d := decodeSecrets(t, n, `{"name":"n","console-password":"a1","snmpCommunity":"a2","password":true,"private-key":{"data":"YTE="},"x":[{"secret":"k"}],"blob":{"api-key":"a3","b":[{"PSK":"a4"}]}}`, Options{})
	d.HideSecrets()
	got := string(d.Append(nil, Canonical))
	for _, s := range []string{"a1", "a2", "a3", "a4", "YTE="} {
		if strings.Contains(got, s) {
			t.Errorf("%s is shown: %s", s, got)
		}
	}
	if !strings.Contains(got, `"password":true`) || !strings.Contains(got, `"secret":"k"`) {
		t.Errorf("a flag and a key are no secrets: %s", got)
	}
	if !n.HoldsSecret([]byte(`{"blob":{"api-key":"a3"}}`)) || n.HoldsSecret([]byte(`{"name":"n"}`)) {
		t.Error("what is sealed is not what is masked")
	}
	// One annotation in a module, and it says itself what is secret.
	set, err = Load(Source{Name: "p", Files: mod("m", useSchema+body+" leaf other { type string; ctl:title Other; }")})
	if err != nil {
		t.Fatal(err)
	}
	if set.Data("m", "c").HasSecrets() {
		t.Error("a name was guessed in a module with annotations")
	}
	const want = "/c/console-password /c/snmpCommunity /c/private-key/data"
	if unmarked := strings.Join(set.UnmarkedSecrets("m"), " "); unmarked != want {
		t.Errorf("unmarked are %s", unmarked)
	}
}

// An annotation of one node by another module does not open what is guessed of the others.
func TestOtherModulesDoNotOpenGuessedSecrets(t *testing.T) {
	other := mod("o", "container c { leaf password { type string; } leaf page-secret { type string; } }")
	mine := mod("m", useSchema+"import o { prefix o; } ctl:annotate /o:c { ctl:title C; } ctl:annotate /o:c/o:page-secret { ctl:not-secret; }")
	set, err := Load(Source{Name: "p", Files: mine}, Source{Name: "q", Files: other})
	if err != nil {
		t.Fatal(err)
	}
	c := set.Data("o", "c")
	if !c.Member("password").Secret() || c.Member("page-secret").Secret() {
		t.Error("password is a guessed secret, page-secret is said to be none")
	}
	if unmarked := strings.Join(set.UnmarkedSecrets("o"), " "); unmarked != "/c/password" {
		t.Errorf("unmarked are %s", unmarked)
	}
}

// What a module adds to another one is its own, too.
func TestUnmarkedSecretsOfAugments(t *testing.T) {
	other := mod("o", "container c; rpc r;")
	mine := mod("m", useSchema+"import o { prefix o; } augment /o:c { leaf password { type string; } } augment /o:r/o:input { leaf psk { type string; } }")
	set, err := Load(Source{Name: "p", Files: mine}, Source{Name: "q", Files: other})
	if err != nil {
		t.Fatal(err)
	}
	if unmarked := strings.Join(set.UnmarkedSecrets("m"), " "); unmarked != "/c/password /r/input/psk" {
		t.Errorf("unmarked are %s", unmarked)
	}
}
