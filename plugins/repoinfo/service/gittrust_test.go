package service

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

func TestGitTrustsWhatTheControllerTrusts(t *testing.T) {
	var pem []byte
	var failing error
	g := &gitTrust{dir: t.TempDir() + "/trust", read: func(context.Context) ([]byte, error) { return pem, failing }}
	for _, text := range []string{"", "one", "two"} {
		pem = []byte(text)
		env, err := g.gitEnviron(t.Context())
		if err != nil || len(env) != 2 {
			t.Fatal(env, err)
		}
		file, _ := strings.CutPrefix(env[0], "GIT_SSL_CAINFO=")
		none, _ := strings.CutPrefix(env[1], "GIT_SSL_CAPATH=")
		if b, err := os.ReadFile(file); err != nil || string(b) != text {
			t.Errorf("%q, %v", b, err)
		}
		if list, err := os.ReadDir(none); err != nil || len(list) != 0 {
			t.Error(list, err)
		}
	}
	failing = fault.New(fault.Unavailable, "off")
	if env, err := g.gitEnviron(t.Context()); err != nil || env != nil {
		t.Error("without keystores: ", env, err)
	}
	failing = errors.New("damaged")
	if _, err := g.gitEnviron(t.Context()); err == nil {
		t.Error("with a damaged keystore the system's certificates count")
	}
}
