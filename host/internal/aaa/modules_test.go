package aaa_test

import (
	"testing"

	"ctl.internal/host/internal/aaa"
	"ctl.internal/internal/yang"
)

func TestModulesLoad(t *testing.T) {
	src, err := yang.FromFS("aaa", aaa.Modules, "yang")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := yang.Load(src); err != nil {
		t.Error(err)
	}
}
