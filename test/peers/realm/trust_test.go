//go:build peers

package realmpeers

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"testing"

	"ctl.internal/test/harness"
)

const certConfig = "ctl/datastore/initial/config/aaa-cert-config.xml"

// keystores lets the controller have keystores of its own.
func keystores(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../etc/" + certConfig)
	if err != nil {
		t.Fatal(err)
	}
	for element, value := range map[string]string{"use-config": "true", "keysize": "2048"} {
		text = regexp.MustCompile("<"+element+">[^<]*</"+element+">").ReplaceAll(text, []byte("<"+element+">"+value+"</"+element+">"))
	}
	files[certConfig] = string(text)
	return files
}

// trust puts a certificate into the controller's trust keystore, as an operator does.
func trust(t *testing.T, c *harness.Controller, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"input": map[string]string{"node-alias": "outside", "node-cert": string(text)}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, c.HTTP+"/operations/aaa-cert-rpc:setNodeCertifcate", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth("admin", "admin")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if said, _ := io.ReadAll(answer.Body); answer.StatusCode/100 != 2 {
		t.Fatalf("setNodeCertifcate: %s %s", answer.Status, said)
	}
}
