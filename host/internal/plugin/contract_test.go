package plugin

import (
	"strings"
	"testing"
)

func speaking(versions string) Spec {
	s := faulty()
	s.Env = append(s.Env, "CONTRACT="+versions)
	return s
}

// TestPluginsHaveALink when they serve one.
func TestPluginsHaveALink(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(faulty())
	s, _ := r.findSupervisor("faulty")
	if c := s.cur.Load().link; c == nil || !c.Linked() {
		t.Error("the plugin of today has no link")
	}
}

// TestPluginsOfTheFuture: newer minor versions are spoken with in an older one; what
// supports none of our versions is refused permanently, and the reason says what to do.
func TestPluginsOfTheFuture(t *testing.T) {
	r := newRig(t, nil)
	r.ensure(speaking("1.9 1.0"))
	if err := r.Remove(r.ctx(), "faulty"); err != nil {
		t.Fatal(err)
	}
	for versions, want := range map[string]string{"2.0": "supports version 2.0 of", "3.1 2.0": "supports versions 3.1, 2.0 of"} {
		err := r.Ensure(r.ctx(), speaking(versions))
		i, _ := r.Info("faulty")
		if err == nil || i.State != Failed {
			t.Errorf("%s: %v, state %s", versions, err, i.State)
			continue
		}
		for _, part := range []string{"plugin faulty", want, "this controller version 1.0", "install a version of the plugin for this controller"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: no %q in: %v", versions, part, err)
			}
		}
		if err := r.Remove(r.ctx(), "faulty"); err != nil {
			t.Fatal(err)
		}
	}
}
