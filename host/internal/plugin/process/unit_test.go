package process

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctl.internal/internal/wire"
)

func TestReadLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"lines", "a\nb\r\n\nc", []string{"a", "b", "", "c"}},
		{"a long line", long + "yyy\nnext\n", []string{fmt.Sprintf("%d bytes, 3 cut", maxLine), "next"}},
		{"a long line at the end", long + "yyy", []string{fmt.Sprintf("%d bytes, 3 cut", maxLine)}},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			readLines(strings.NewReader(c.in), func(b []byte, cut int) {
				if cut > 0 {
					got = append(got, fmt.Sprintf("%d bytes, %d cut", len(b), cut))
					return
				}
				got = append(got, string(b))
			})
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %.200q, want %q", got, c.want)
			}
		})
	}
}

func TestLineWriter(t *testing.T) {
	var got []string
	w := &lineWriter{f: func(b []byte, cut int) { got = append(got, fmt.Sprintf("%d:%d", len(b), cut)) }}
	for _, s := range []string{"ab", "c\nde", "\n", strings.Repeat("x", maxLine-1), "yyy\n"} {
		if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
	}
	if want := fmt.Sprintf("[3:0 2:0 %d:2]", maxLine); fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestHandshakeLine(t *testing.T) {
	for line, want := range map[string]bool{
		"1|1|unix|/tmp/x|grpc|MIIB":      true,
		"1|1|unix|/tmp/x|grpc":           true,
		"1|1|tcp|127.0.0.1:1|grpc|":      true,
		"Welcome":                        false,
		"1|1|unix|/tmp/x|netrpc|":        false,
		"listening on 1|1|unix|/x|grpc|": false,
		"1|1|unix||grpc|":                false,
		"1|1|unix|/tmp/x|grpc2":          false,
	} {
		if got := handshakeLine.MatchString(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// Fault 17: what was hashed is what runs.
func TestTheHashedFileIsTheOneThatRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(path, []byte("\x7fELF first"), 0o755); err != nil {
		t.Fatal(err)
	}
	sums := &Sums{}
	p, err := openProgram(path, "", sums)
	if err != nil {
		t.Fatal(err)
	}
	defer p.file.Close()
	if err := os.WriteFile(path+".new", []byte("\x7fELF second"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	run, err := p.execPath(t.TempDir())
	if err != nil || filepath.Base(run) != "p" {
		t.Fatalf("would run %s, %v", run, err)
	}
	if b, err := os.ReadFile(run); err != nil || string(b) != "\x7fELF first" {
		t.Errorf("would run %q, %v", b, err)
	}
	if after, err := Hash(path, "", sums); err != nil || after == p.sum {
		t.Errorf("the hash of the new file: %s, %v", after, err)
	}
}

func TestAWriteInPlaceIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	sums := &Sums{}
	if err := os.WriteFile(path, []byte("one"), 0o755); err != nil {
		t.Fatal(err)
	}
	a, err := Hash(path, "", sums)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("three"), 0o755); err != nil {
		t.Fatal(err)
	}
	if b, err := Hash(path, "", sums); err != nil || a == b {
		t.Errorf("the same hash after a write, %v", err)
	}
	if _, err := Hash(path, a, sums); err == nil || !strings.Contains(err.Error(), "is not the one in the catalogue") {
		t.Errorf("a wrong hash: %v", err)
	}
}

func TestRunDir(t *testing.T) {
	base := t.TempDir()
	if got, err := RunDir(filepath.Join(base, strings.Repeat("deep/", 40))); err != nil || len(got)+socketSuffix > maxSocketPath {
		t.Errorf("a deep directory: %q, %v", got, err)
	} else {
		_ = os.Remove(got)
	}
	short, err := os.MkdirTemp("", "r")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	want := filepath.Join(short, "run")
	got, err := RunDir(want)
	if err != nil || got != want {
		t.Fatalf("a short directory: %q, %v", got, err)
	}
	if st, err := os.Stat(got); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("its mode: %v, %v", st.Mode(), err)
	}
	if err := os.Remove(want); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(base, want); err != nil {
		t.Fatal(err)
	}
	if _, err := RunDir(want); err == nil {
		t.Error("a link is taken for a directory")
	}
}

func TestExitSaysWhatIsKnown(t *testing.T) {
	for _, c := range []struct {
		e    Exit
		want string
	}{
		{Exit{}, "exit status 0"},
		{Exit{Code: 3, Tail: []string{"a", "b"}}, "exit status 3; last words: b"},
		{Exit{Code: 2, Tail: []string{"panic: boo", "goroutine 1", "main.go:3"}}, "exit status 2; last words: panic: boo"},
		{Exit{Code: -1, Signal: "killed", Tail: []string{"serving"}}, "killed by signal (killed)"},
		{Exit{Code: -1, Signal: "killed", Reason: "hung"}, "hung"},
	} {
		if got := c.e.String(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.e, got, c.want)
		}
	}
}

func TestParseAttach(t *testing.T) {
	a, err := ParseAttach("switch", `{"protocol":"grpc","protocol_version":1,"pid":7,"network":"unix","address":"/tmp/x"}`)
	if err != nil || *a != (wire.Reattach{Protocol: "grpc", ProtocolVersion: 1, Network: "unix", Address: "/tmp/x", Pid: 7}) {
		t.Errorf("%+v, %v", a, err)
	}
	for _, text := range []string{"", "{}", "junk", `{"network":"unix"}`} {
		if _, err := ParseAttach("switch", text); err == nil || !strings.Contains(err.Error(), "SWITCH_REATTACH") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzReadLines(f *testing.F) {
	f.Add([]byte("a\nb"))
	f.Fuzz(func(t *testing.T, b []byte) {
		log := newLogSink(Spec{Logger: slog.New(slog.DiscardHandler), LogRate: 200})
		total := 0
		readLines(strings.NewReader(string(b)), func(line []byte, cut int) {
			total += len(line) + cut
			log.logStderr(line, cut)
			log.logStdout(line, cut)
		})
		if total > len(b) {
			t.Errorf("%d bytes of %d", total, len(b))
		}
		_ = log.lastLines()
	})
}
