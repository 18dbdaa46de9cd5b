package proto

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "ctl.internal/proto/ctl/plugin/v1"
)

var update = flag.Bool("update", false, "write contract.golden again, accepting every change")

// TestContractOnlyGrows compares each field, value and method with the golden file:
// a line may be added, none may change or go, because plugins built against the
// older contract are still served.
func TestContractOnlyGrows(t *testing.T) {
	now := contract()
	if *update {
		if err := os.WriteFile("contract.golden", []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile("contract.golden")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, l := range now {
		have[l] = true
	}
	known := map[string]bool{}
	for _, l := range strings.Split(strings.TrimSpace(string(golden)), "\n") {
		known[l] = true
		if !have[l] {
			t.Errorf("the contract lost or changed: %s", l)
		}
	}
	for _, l := range now {
		if !known[l] {
			t.Errorf("new in the contract, not yet in contract.golden (go test ./proto -update): %s", l)
		}
	}
}

func contract() []string {
	var out []string
	protoregistry.GlobalFiles.RangeFilesByPackage("ctl.plugin.v1", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Messages().Len() {
			out = append(out, message(f.Messages().Get(i))...)
		}
		for i := range f.Enums().Len() {
			out = append(out, enum(f.Enums().Get(i))...)
		}
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			for j := range s.Methods().Len() {
				m := s.Methods().Get(j)
				out = append(out, fmt.Sprintf("rpc %s.%s(%s stream=%v) returns (%s stream=%v)", s.FullName(), m.Name(),
					m.Input().FullName(), m.IsStreamingClient(), m.Output().FullName(), m.IsStreamingServer()))
			}
		}
		return true
	})
	sort.Strings(out)
	return out
}

func message(m protoreflect.MessageDescriptor) []string {
	var out []string
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		kind := f.Kind().String()
		if f.Message() != nil {
			kind = string(f.Message().FullName())
		}
		out = append(out, fmt.Sprintf("field %s.%s = %d %s %s", m.FullName(), f.Name(), f.Number(), f.Cardinality(), kind))
	}
	for i := range m.Enums().Len() {
		out = append(out, enum(m.Enums().Get(i))...)
	}
	for i := range m.Messages().Len() {
		out = append(out, message(m.Messages().Get(i))...)
	}
	return out
}

func enum(e protoreflect.EnumDescriptor) []string {
	var out []string
	for i := range e.Values().Len() {
		v := e.Values().Get(i)
		out = append(out, fmt.Sprintf("enum %s.%s = %d", e.FullName(), v.Name(), v.Number()))
	}
	return out
}
