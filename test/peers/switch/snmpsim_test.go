//go:build peers

package switchpeers

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ctl.internal/sdk/plugintest/reserve"
)

// recordings finds the recordings of real switches, which lie beside the project.
func recordings(t *testing.T) string {
	t.Helper()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{os.Getenv("CTL_SHARED"), filepath.Join(filepath.Dir(top), "shared")} {
		dir := filepath.Join(d, "data", "snmprec")
		if _, err := os.Stat(filepath.Join(dir, "INDEX.md")); d != "" && err == nil {
			return dir
		}
	}
	t.Skip("SKIPPED, NOT TESTED: the peer snmpsim has nothing to play; the recordings of real switches are not there (set CTL_SHARED)")
	return ""
}

// simulator plays a folder of recordings: the community of each is its file's name.
func simulator(t *testing.T, data string) (port int) {
	t.Helper()
	port = reserve.Port(t, "udp", "127.0.0.1")
	// It gives up root: what it reads and writes must be where everybody may.
	dir := reserve.Dir(t, "snmpsim")
	cache, open := filepath.Join(dir, "cache"), filepath.Join(dir, "data")
	if err := errors.Join(os.CopyFS(open, os.DirFS(data)), os.Mkdir(cache, 0o700), os.Chmod(cache, 0o777), os.Chmod(open, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(open)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Chmod(filepath.Join(open, f.Name()), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("snmpsimd", "--process-user=nobody", "--process-group=nogroup", "--data-dir="+open, "--cache-dir="+cache,
		"--logging-method=stderr", "--v2c-arch", fmt.Sprintf("--agent-udpv4-endpoint=127.0.0.1:%d", port))
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-done
		_ = c.Wait()
	})
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "Listening at") {
			go func() {
				defer close(done)
				_, _ = io.Copy(io.Discard, log)
			}()
			return port
		}
	}
	close(done)
	t.Fatal("snmpsimd ended before it listened")
	return 0
}

// The recorded site: the four links that both ends report, and no other.
func TestRecordings(t *testing.T) {
	need(t, "snmpsimd")
	port := simulator(t, recordings(t))
	var devices []device
	ids := map[string]string{}
	for name, mac := range map[string]string{
		"dlink_dgs-3627g": "00:1e:58:5c:09:00", "dlink_dgs-3420-28tc": "10:62:eb:b0:c6:00",
		"dlink_dgs-1510-28xmp-me": "18:0f:76:0c:bb:a0", "dlink_dgs-1510-28x-me": "40:9b:cd:db:32:40",
		"dlink_des-3526": "00:15:e9:3e:15:1a", "zynos_mgs3712": "40:4a:03:40:1c:a3",
	} {
		devices = append(devices, device{name: name, mac: mac, address: "127.0.0.1", rest: fmt.Sprintf("%s,recorded,2c,,,,,,%d", name, port)})
		ids[fmt.Sprint(number(t, mac))] = name
	}
	p := plugin(t, devices)
	ctx := long(t)
	var want []string
	for _, e := range [][2]string{
		{"dlink_dgs-3627g/3", "dlink_dgs-3420-28tc/25"}, {"dlink_dgs-3627g/6", "dlink_dgs-1510-28xmp-me/25"},
		{"dlink_dgs-3627g/4", "dlink_dgs-1510-28x-me/25"}, {"dlink_dgs-3627g/2", "dlink_des-3526/25"},
	} {
		want = append(want, "SNMP "+e[0]+">SNMP "+e[1], "SNMP "+e[1]+">SNMP "+e[0])
	}
	slices.Sort(want)
	between := func() []string {
		return slices.DeleteFunc(found(ctx, t, p, ids), func(e string) bool { return strings.HasPrefix(e, "PR ") })
	}
	until(ctx, t, p, func() string { return cmp.Diff(want, between()) })
	for name, rows := range map[string]int{"dlink_dgs-3627g": 156, "zynos_mgs3712": 454} {
		for id, n := range ids {
			if n == name {
				fdb(t, p, id, rows)
			}
		}
	}
}
