package device

import (
	"bufio"
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const shown = " port  VLAN  MAC                Age\nLOCAL     0  aa:bb:cc:00:00:01    3\n    1   100  02:00:00:00:00:0a   12\n    2     0  02:00:00:00:00:0b  static\nx y z\n"

func TestParse(t *testing.T) {
	want := []fdbRow{{1, 100, 0x02000000000a, false}, {2, 0, 0x02000000000b, true}}
	if d := cmp.Diff(want, parseFDB(shown)); d != "" {
		t.Error(d)
	}
}

func FuzzParseFDB(f *testing.F) {
	f.Add(shown)
	f.Add("1 1 1 1\n65535 4095 ff:ff:ff:ff:ff:ff static")
	f.Fuzz(func(t *testing.T, s string) {
		for _, e := range parseFDB(s) {
			if e.Port == 0 || e.Port > 0xffff || e.VLAN > 4095 || e.MAC>>48 != 0 {
				t.Errorf("%+v", e)
			}
		}
	})
}

// daemon answers every connection in one way.
func daemon(t *testing.T, path string, answer func(question string, c net.Conn)) {
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				q, _ := bufio.NewReader(c).ReadString('\n')
				answer(q, c)
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
}

func TestAppctl(t *testing.T) {
	dir := t.TempDir()
	daemon(t, filepath.Join(dir, "ovs-vswitchd.7.ctl"), func(q string, c net.Conn) {
		answer := `{"id":1,"result":"` + strings.ReplaceAll(strings.TrimSpace(q), `"`, `'`) + `","error":null}`
		if strings.Contains(q, "bad") {
			answer = `{"id":1,"result":null,"error":"no such bridge\n"}`
		}
		for _, b := range []byte(answer) { // in pieces
			_, _ = c.Write([]byte{b})
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := runAppctl(ctx, "unix:"+filepath.Join(dir, "ovs-vswitchd.*.ctl"), "fdb/show", "br0")
	if err != nil || got != "{'method':'fdb/show','params':['br0'],'id':1}" {
		t.Errorf("%q, %v", got, err)
	}
	var refused *refusedError
	if _, err := runAppctl(ctx, "unix:"+filepath.Join(dir, "ovs-vswitchd.7.ctl"), "fdb/show", "bad"); !errors.As(err, &refused) || refused.Text != "no such bridge\n" {
		t.Errorf("%v", err)
	}
	for _, target := range []string{"unix:" + dir + "/none", "unix:" + dir + "/none*", "http:x", "", "tcp:127.0.0.1:1"} {
		if _, err := runAppctl(ctx, target, "fdb/show"); err == nil {
			t.Errorf("%q answers", target)
		}
	}
	heard := make(chan struct{})
	daemon(t, filepath.Join(dir, "mute"), func(_ string, c net.Conn) {
		close(heard)
		_, _ = c.Read(make([]byte, 1)) // until the caller hangs up
	})
	gone, stop := context.WithCancel(ctx)
	go func() { <-heard; stop() }()
	if _, err := runAppctl(gone, "unix:"+filepath.Join(dir, "mute"), "fdb/show"); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up: %v", err)
	}
}
