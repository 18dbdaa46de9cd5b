package harness

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

const clockEnv = "CTL_TEST_CLOCK"

// The clock of another process is set, and this one's is not; what is measured by the monotonic clock does not change.
func TestClockOfAnotherProcess(t *testing.T) {
	if os.Getenv(clockEnv) != "" {
		printClock()
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestClockOfAnotherProcess$")
	cmd.Env = append(os.Environ(), clockEnv+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	ask := func() (ahead, ran time.Duration) {
		t.Helper()
		begin := time.Now()
		if _, err := fmt.Fprintln(in); err != nil || !lines.Scan() {
			t.Fatal(err, lines.Err())
		}
		var wall, since int64
		if _, err := fmt.Sscan(lines.Text(), &wall, &since); err != nil {
			t.Fatal(err)
		}
		return time.Unix(0, wall).Sub(begin), time.Duration(since)
	}
	ask()
	for _, set := range []time.Duration{48 * time.Hour, -48 * time.Hour, 0} {
		SetClock(t, cmd.Process.Pid, set)
		if ahead, ran := ask(); (ahead-set).Abs() > time.Hour || ran > time.Hour || ran < 0 {
			t.Errorf("set by %v it is %v ahead, and has run for %v", set, ahead, ran)
		}
	}
	if time.Since(time.Now().Round(0)) > time.Hour {
		t.Error("the clock of this process was set")
	}
}

// printClock prints the wall clock and how long it runs, a line for each line that it reads.
func printClock() {
	begin := time.Now()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		now := time.Now()
		fmt.Println(strconv.FormatInt(now.UnixNano(), 10), int64(now.Sub(begin)))
	}
}
