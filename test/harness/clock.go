package harness

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// clockCode replaces clock_gettime of a process: it makes the system call, and adds a number of
// seconds to the wall clock. The other clocks stay as they are, as they do when a clock is set.
var clockCode = []byte{
	0xb8, 0xe4, 0x00, 0x00, 0x00, // mov eax, 228: clock_gettime
	0x0f, 0x05, // syscall
	0x85, 0xff, // test edi, edi: CLOCK_REALTIME
	0x75, 0x0a, // jne to ret
	0x48, 0x8b, 0x15, 0x07, 0x00, 0x00, 0x00, // mov rdx, [rip+7]: the word behind this code
	0x48, 0x01, 0x16, // add [rsi], rdx
	0xc3,             // ret
	0x90, 0x90, 0x90, // up to the word
}

// SetClock sets the wall clock of one running Go program ahead or, with a negative number, behind, by whole seconds: the
// code in its memory by which it reads clocks (the vDSO) is replaced. Only root may do so.
func SetClock(t *testing.T, pid int, ahead time.Duration) {
	t.Helper()
	if runtime.GOARCH != "amd64" || os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: the peer, a clock of one process that can be set, needs root on amd64")
	}
	begin, end, err := vdsoOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	offset, err := clockSymbol()
	if err != nil {
		t.Fatal(err)
	}
	code := binary.LittleEndian.AppendUint64(
		bytes.Clone(clockCode),
		uint64(int64(ahead/time.Second)),
	)
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	Within(t, "no thread reads a clock at this moment", func() bool {
		Freeze(t, pid)
		defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
		if runsWithin(pid, begin, end) {
			return false
		}
		if _, err := memory.WriteAt(code, int64(begin+offset)); err != nil {
			t.Fatalf("the clock of process %d: %v", pid, err)
		}
		return true
	})
}

// vdsoOf returns where the vDSO of a process is.
func vdsoOf(pid int) (begin, end uint64, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			_, err = fmt.Sscanf(line, "%x-%x", &begin, &end)
			return begin, end, err
		}
	}
	return 0, 0, fmt.Errorf("process %d has no vDSO", pid)
}

// clockSymbol returns where clock_gettime is in the vDSO, which is the same in all processes.
func clockSymbol() (uint64, error) {
	begin, end, err := vdsoOf(os.Getpid())
	if err != nil {
		return 0, err
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return 0, err
	}
	defer memory.Close()
	image := make([]byte, end-begin)
	if _, err := memory.ReadAt(image, int64(begin)); err != nil {
		return 0, err
	}
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return 0, err
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return 0, err
	}
	for _, s := range symbols {
		if s.Name == "__vdso_clock_gettime" {
			return s.Value, nil
		}
	}
	return 0, fmt.Errorf("the vDSO has no clock_gettime")
}

// runsWithin reports whether a thread of a process that was stopped is between two addresses.
func runsWithin(pid int, begin, end uint64) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		words := strings.Fields(string(text)) // the last one is the address of the next instruction
		var at uint64
		if len(words) == 0 {
			continue
		}
		if _, err := fmt.Sscanf(words[len(words)-1], "0x%x", &at); err == nil &&
			at >= begin &&
			at < end {
			return true
		}
	}
	return false
}
