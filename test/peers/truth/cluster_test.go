//go:build peers

package truthpeers

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ctl.internal/sdk/plugintest/reserve"
	"ctl.internal/test/harness"
)

const root = "../../.."

var bin string

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, root, &bin, "ctl.internal/sdk/plugintest/faulty"))
}

const limits = "aaa:\n  throttle: {after: 100000}\n  argon2: {memory: 8MiB, time: 1}\n"

// settings are the files in etc of a home of the cluster; without members of etcd those of
// a controller alone.
func settings(t *testing.T, etcd ...*harness.EtcdMember) map[string]string {
	t.Helper()
	ini, err := os.ReadFile(filepath.Join(root, "etc", "sec.ini"))
	if err != nil {
		t.Fatal(err)
	}
	text := limits
	if len(etcd) > 0 {
		var endpoints []string
		for _, m := range etcd {
			endpoints = append(endpoints, strconv.Quote(m.Client))
		}
		text += "datastore:\n  engine: etcd\n  etcd: {endpoints: [" + strings.Join(endpoints, ", ") + "], prefix: truth/}\n"
	}
	return map[string]string{"sec.ini": string(ini), "ctl.yaml": text}
}

// nodes starts n controllers on one etcd cluster, with fixed HTTP ports.
func nodes(t *testing.T, n int, etcd []*harness.EtcdMember) []*harness.Controller {
	t.Helper()
	files := settings(t, etcd...)
	var out []*harness.Controller
	for range n {
		port := reserve.Port(t, "tcp", "127.0.0.1")
		out = append(out, harness.RunNode(t, harness.Options{Bin: bin, Files: files, Args: []string{"--http", fmt.Sprint("127.0.0.1:", port)}}))
	}
	return out
}
