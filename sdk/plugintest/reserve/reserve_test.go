package reserve_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ctl.internal/sdk/plugintest/reserve"
)

func TestPortsAreOnesOwnAndCanBeListenedAt(t *testing.T) {
	var all []int
	for range 50 {
		p := reserve.Port(t, "tcp", "127.0.0.1")
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
		if err != nil {
			t.Fatal(err)
		}
		l.Close() // it is free again, and still reserved
		all = append(all, p)
	}
	u := reserve.Port(t, "udp", "127.0.0.1")
	c, err := net.ListenPacket("udp", net.JoinHostPort("127.0.0.1", strconv.Itoa(u)))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	slices.Sort(all)
	if unique := slices.Compact(slices.Clone(all)); len(unique) != len(all) {
		t.Errorf("ports are given twice: %v", all)
	}
}

func TestNumbersAreFreeAgainAfterTheTest(t *testing.T) {
	const name = "test-of-reserve"
	first := os.Getpid() * 10 // beside other runs of this test
	for round := range 2 {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			a, b := reserve.Number(t, name, first, first+1), reserve.Number(t, name, first, first+1)
			if a == b || min(a, b) != first || max(a, b) != first+1 {
				t.Errorf("got %d and %d", a, b)
			}
			reserve.Free(name, a, func() { t.Error("a reserved number counts as free") })
		})
	}
	free := false
	reserve.Free(name, first, func() { free = true })
	if !free {
		t.Error("a number is not free after the test")
	}
}

// killed marks the run of the test whose process ends without a word.
const killed = "CTL_TEST_RESERVE_KILLED"

func TestDirectoriesOfTheKilledAreRemoved(t *testing.T) {
	if prefix := os.Getenv(killed); prefix != "" {
		dir := reserve.Dir(t, prefix)
		if err := os.WriteFile(filepath.Join(dir, "left"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("made " + dir + "\n")
		os.Exit(0) // no cleanup
	}
	prefix := "ctl-reserve-" + strconv.Itoa(os.Getpid())
	mine := reserve.Dir(t, prefix)
	cmd := exec.CommandContext(within(t), os.Args[0], "-test.run=^TestDirectoriesOfTheKilledAreRemoved$")
	cmd.Env = append(os.Environ(), killed+"="+prefix)
	out, _ := cmd.CombinedOutput() // a test binary that ends so complains
	_, rest, _ := strings.Cut(string(out), "made ")
	left, _, _ := strings.Cut(rest, "\n")
	if _, err := os.Stat(filepath.Join(left, "left")); left == "" || err != nil {
		t.Fatalf("nothing was left: %v\n%s", err, out)
	}
	second := ""
	t.Run("the next", func(t *testing.T) {
		second = reserve.Dir(t, prefix)
		if _, err := os.Stat(left); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", left, err)
		}
		if _, err := os.Stat(mine); err != nil {
			t.Errorf("a directory in use was removed: %v", err)
		}
	})
	if _, err := os.Stat(second); !os.IsNotExist(err) {
		t.Errorf("%s is there after its test: %v", second, err)
	}
}

// within bounds a process of the test.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
