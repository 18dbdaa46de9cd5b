package plugin

import (
	"strings"
	"testing"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// declaring is a manifest whose module declares commands, name by rpc.
func declaring(plugin, module, rpcs string, written ...string) *pluginv1.Manifest {
	m := &pluginv1.Manifest{
		Name: plugin,
		YangModules: []*pluginv1.YangModule{{
			Name: module,
			Text: "module " + module + " { yang-version 1.1; namespace 'urn:" + module + "'; prefix m; import ctl-schema { prefix ctl; } " + rpcs + " }",
		}},
	}
	for _, name := range written {
		m.Commands = append(m.Commands, &pluginv1.Command{Name: name})
	}
	return m
}

func TestDeclaredCommandsThatCollideAreRefused(t *testing.T) {
	owns := func(name string) bool { return strings.HasPrefix(name, "aaa:") }
	for _, one := range []struct {
		rpcs, written, want string
	}{
		{"rpc a { ctl:command a; } rpc b { ctl:command 'lab:b'; } rpc c;", "lab:c", ""},
		{"rpc a { ctl:command x; } rpc b { ctl:command 'lab:x'; }", "", "ctl:command of rpc lab:b: plugin p declares the command lab:x for the rpc lab:a, too: choose another name"},
		{"rpc a { ctl:command x; }", "lab:x", "ctl:command of rpc lab:a: plugin p has the command lab:x in its table of commands, too: take one of them out"},
		{"rpc a { ctl:command 'aaa:x'; }", "", "ctl:command of rpc lab:a: the command aaa:x belongs to the controller: the author of plugin p must choose another name"},
	} {
		err := checkDeclared("p", declaring("p", "lab", one.rpcs, one.written), owns)
		if one.want == "" && err != nil || one.want != "" && (err == nil || err.Error() != one.want) {
			t.Errorf("%s: %v, want %s", one.rpcs, err, one.want)
		}
	}
	if !listClaims(declaring("p", "lab", "rpc a { ctl:command a; }"))["command lab:a"] {
		t.Error("a declared command is no claim, so two plugins may declare it")
	}
}
