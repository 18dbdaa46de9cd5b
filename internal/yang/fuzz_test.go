package yang

import (
	"os"
	"testing"
)

func FuzzDecodeInput(f *testing.F) {
	rpc := testSet(f).RPC("every", "all")
	f.Add(`{"input":{"names":["n"],"left":[null],"blob":{"a":[1]}}}`)
	f.Add(`{input:{names:[a,b,],left:[null],'dec':'-1.50'}}`)
	f.Add("{\"input\":{\"text\":\"\\ud83d\\ude00\",\"item\":[{\"id\":1,\"kind\":\"'\"}]}}")
	a := &Aliases{Trim: true, Wrap: []string{"names"}, Unwrap: []string{"names"}, Members: map[string]string{"n": "names"}}
	f.Fuzz(func(t *testing.T, s string) {
		out, err := rpc.DecodeInput([]byte(s), Options{Lenient: true, Defaults: true, Aliases: a})
		if err != nil {
			return
		}
		again, err := rpc.DecodeInput([]byte(`{"input":`+string(out)+`}`), Options{})
		if err != nil || string(again) != string(out) {
			t.Errorf("canonical text %s is read as %s, %v", out, again, err)
		}
	})
}

func FuzzLoad(f *testing.F) {
	for _, name := range []string{"testdata/every.yang", "testdata/other.yang", "modules/ietf-yang-types.yang"} {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add("module m { namespace 'u'; prefix m; typedef a { type union { type a; type string; } } leaf l { type a; } }")
	f.Add("module m { namespace 'u'; prefix m; leaf l { type leafref { path '../../../x'; } } rpc r { input { uses g; } } }")
	f.Fuzz(func(t *testing.T, s string) {
		set, err := Load(Source{Name: "fuzz", Files: map[string][]byte{"m.yang": []byte(s)}})
		if (set == nil) == (err == nil) {
			t.Errorf("set %v with error %v", set, err)
		}
	})
}

func FuzzParsePath(f *testing.F) {
	f.Add("/m:a/b[k='x'][l=\"y\"]/c[3]/d[.='z']")
	f.Fuzz(func(t *testing.T, s string) {
		steps, err := ParsePath(s)
		if err == nil && len(steps) == 0 {
			t.Errorf("%q has no steps", s)
		}
	})
}
