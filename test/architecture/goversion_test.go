package architecture

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// README says which Go it needs: that of go.mod.
func TestREADMENamesTheGoOfItsModule(t *testing.T) {
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if version == nil {
		t.Fatal("go.mod has no line go")
	}
	if want := "Go " + string(version[1]); !strings.Contains(string(readme), want) {
		t.Errorf("README.md does not say that %s is needed", want)
	}
}
