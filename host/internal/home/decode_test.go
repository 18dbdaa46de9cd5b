package home

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeIsStrict(t *testing.T) {
	type item struct {
		Name string `yaml:"name"`
		N    int    `yaml:"n"`
	}
	type file struct {
		Items []item          `yaml:"items"`
		More  map[string]item `yaml:"more"`
	}
	for name, c := range map[string]struct {
		yaml string
		want []string
	}{
		"good":     {"items: [{name: a, n: 1}]\nmore: {x: {name: b}}", nil},
		"empty":    {"", nil},
		"unknown":  {"items:\n- name: a\n- nmae: b\n", []string{`f.yaml:3: items[1].nmae: no such member (did you mean "name"?)`}},
		"twice":    {"items:\n- name: a\n  name: b\n", []string{`f.yaml:3: items[0].name: set twice`}},
		"in a map": {"more:\n  x:\n    m: 1\n", []string{`f.yaml:3: more.x.m: no such member (did you mean "n"?)`}},
		"type":     {"items:\n- name: a\n  n: x\n", []string{"f.yaml:3: cannot unmarshal !!str `x` into int"}},
		"shape":    {"items: 7\n", []string{"f.yaml:1: cannot unmarshal !!int `7` into []home.item"}},
	} {
		t.Run(name, func(t *testing.T) {
			var f file
			var got []string
			for _, p := range Decode("f.yaml", []byte(c.yaml), &f) {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}
