package service

import "testing"

func TestOldGit(t *testing.T) {
	for text, good := range map[string]bool{"git version 2.39.5\n": true, "git version 2.31.0": true, "git version 3.0.1": true,
		"git version 2.30.9": false, "git version 1.99": false, "something else": false, "": false} {
		if err := oldGit(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestExposed(t *testing.T) {
	for address, open := range map[string]bool{"": false, "127.0.0.1:5000": false, "[::1]:5000": false, "localhost:1": false,
		":5000": true, "0.0.0.0:5000": true, "192.0.2.1:1": true, "[::]:1": true, "host:1": true} {
		if (exposureWarning(address) != "") != open {
			t.Errorf("%q: %q", address, exposureWarning(address))
		}
	}
}
