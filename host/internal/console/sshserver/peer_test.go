package sshserver

import "testing"

func TestAllowPeer(t *testing.T) {
	for _, c := range []struct {
		peer, own uint32
		ok        bool
	}{{0, 1000, true}, {1000, 1000, true}, {1001, 1000, false}, {1000, 0, false}, {0, 0, true}} {
		if err := allowPeer(c.peer, c.own); (err == nil) != c.ok {
			t.Errorf("peer %d, own %d: %v", c.peer, c.own, err)
		}
	}
}
