package yang_test

import (
	"testing"

	aaayang "ctl.internal/host/internal/aaa/yang"
	"ctl.internal/internal/yang"
)

func TestModulesLoad(t *testing.T) {
	src, err := yang.FromFS("aaa", aaayang.Modules, ".")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := yang.Load(src); err != nil {
		t.Error(err)
	}
}
