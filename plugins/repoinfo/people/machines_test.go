package people

import (
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ctl.internal/sdk/fault"
)

// shippedPatterns are the default of the setting machines.
func shippedPatterns(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../plugin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Config struct {
			Properties struct {
				Machines struct {
					Default []string `yaml:"default"`
				} `yaml:"machines"`
			} `yaml:"properties"`
		} `yaml:"config"`
	}
	if err := yaml.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Config.Properties.Machines.Default
}

// The shipped patterns know programs, and take no person for one.
func TestShippedPatterns(t *testing.T) {
	m, err := NewMachines(shippedPatterns(t))
	if err != nil || len(m) == 0 {
		t.Fatal(m, err)
	}
	for _, p := range []Person{
		{"dependabot[bot]", "49699333+dependabot[bot]@users.noreply.github.com"}, {"Renovate Bot", "bot@renovateapp.com"}, {"github-actions[bot]", ""},
		{"An Assistant", "noreply@assistant.example"}, {"Helper", "no-reply@helper.example"}, {"GitHub", "noreply@github.com"},
		{"jenkins-releng", "jenkins-releng@releng.example"}, {"Gerrit Code Review", "gerrit@review.example"}, {"Zuul", "zuul@ci.example"},
		{"Proposal Bot", "x@y.example"}, {"release-bot", "release-bot@corp.example"}, {"DEPENDABOT[BOT]", "X@Y.example"}, {"dependabot-preview[bot]", "a@b"},
	} {
		if !m.Match(p) {
			t.Errorf("%+v is taken for a person", p)
		}
	}
	for _, p := range []Person{
		{"Ann Author", "ann@example.org"}, {"Ann", "12345+ann@users.noreply.github.com"}, {"Bob Abbott", "abbott@corp.example"}, {"Rob Jenkins", "rob.jenkins@corp.example"},
		{"Ela Bottom", "bottom@x.example"}, {"", ""}, {"Roberta Botha", "rbotha@x.example"}, {"Travis Release", "travis@x.example"}, {"a/b", "c/d@e"},
	} {
		if m.Match(p) {
			t.Errorf("%+v is taken for a machine", p)
		}
	}
}

func TestPatternsOfMachines(t *testing.T) {
	for _, row := range []struct {
		pattern string
		person  Person
		want    bool
	}{
		{"*[bot]@*", Person{"x", "a[bot]@b"}, true}, {"*[bot]@*", Person{"x", "ab@b"}, false}, {"ci-?", Person{"ci-1", ""}, false}, {"CI-*", Person{"ci-1/2", ""}, true},
		{"*@ci.example", Person{"", "any/one@ci.example"}, true}, {`a\b`, Person{`A\B`, ""}, true}, {"robot", Person{"robot 2", "robot@x"}, false},
	} {
		m, err := NewMachines([]string{row.pattern})
		if err != nil || m.Match(row.person) != row.want {
			t.Errorf("%q of %+v: %v, want %v", row.pattern, row.person, err, row.want)
		}
	}
	for _, pattern := range []string{"", "*", "**", "*@*", " "} {
		if _, err := NewMachines([]string{pattern}); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "everybody") {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}
