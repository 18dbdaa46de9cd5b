package logs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func openAudit(t *testing.T, dir string, size int64, keep int) *Audit {
	t.Helper()
	a, err := OpenAudit(dir, size, keep)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func all(AuditRecord) bool { return true }

func TestTheAuditIsAChainOverFilesAndStarts(t *testing.T) {
	dir := t.TempDir()
	for start := range 3 {
		a := openAudit(t, dir, 2000, 100)
		for i := range 20 {
			if err := a.Write(AuditRecord{Who: "ann@sdn", What: "grant", Object: fmt.Sprint(start, i), Outcome: "ok"}, i%5 == 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := chainFiles(dir, "audit")
	n, err := VerifyAudit(dir, nil, all)
	if n != 60 || err != nil || len(files) < 4 {
		t.Fatalf("%d records in %d files: %v", n, len(files), err)
	}
	for name, damage := range map[string]func(b []byte) []byte{
		"changed":  func(b []byte) []byte { return []byte(strings.Replace(string(b), "ann@sdn", "bob@sdn", 1)) },
		"removed":  func(b []byte) []byte { _, rest, _ := strings.Cut(string(b), "\n"); return []byte(rest) },
		"inserted": func(b []byte) []byte { return append([]byte("{}\n"), b...) },
		"garbage":  func(b []byte) []byte { return append([]byte("x\n"), b...) },
	} {
		good, err := os.ReadFile(files[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files[1], damage(good), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := VerifyAudit(dir, nil, all); err == nil || n >= 60 || !strings.Contains(err.Error(), "audit-") {
			t.Errorf("%s: %d records, %v", name, n, err)
		}
		if err := os.WriteFile(files[1], good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheAuditKeepsItsBudgetAndSurvivesATornRecord(t *testing.T) {
	dir := t.TempDir()
	a := openAudit(t, dir, 1000, 8) // 40 % of which are of this class
	for range 100 {
		if err := a.Write(AuditRecord{What: strings.Repeat("x", 5000), Outcome: "ok"}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := chainFiles(dir, "audit"); len(files) != 3 {
		t.Errorf("files %v", files)
	}
	path := filepath.Join(dir, "audit.log")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(b, `{"seq":101,"ti`...), 0o600); err != nil {
		t.Fatal(err)
	}
	a = openAudit(t, dir, 1<<20, 3)
	if err := a.Write(AuditRecord{What: "after", Outcome: "ok"}, true); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	var last []string
	if _, err := VerifyAudit(dir, nil, func(r AuditRecord) bool { last = append(last, r.What); return true }); err != nil || strings.Join(last[len(last)-2:], ",") != "audit continued,after" {
		t.Errorf("%v, %v", last[len(last)-2:], err)
	}
	if err := a.Write(AuditRecord{}, true); err == nil {
		t.Error("a closed audit takes records")
	}
}

// Records that the disk does not take wait for it, in order; what found no room to wait is
// counted by a record, and the chain holds.
func TestRecordsWaitForADiskThatFails(t *testing.T) {
	dir := t.TempDir()
	a, err := OpenAudit(dir, 1<<20, 2)
	if err != nil {
		t.Fatal(err)
	}
	write := func(what string) error { return a.Write(AuditRecord{What: what, Outcome: "ok"}, false) }
	if err := write("before"); err != nil {
		t.Fatal(err)
	}
	broken, err := os.Open(filepath.Join(dir, "audit.log")) // for reading: it takes no writes
	if err != nil {
		t.Fatal(err)
	}
	a.mu.Lock()
	whole := a.of(ClassChange).file
	a.of(ClassChange).file = broken
	a.mu.Unlock()
	for i := range auditWaiting + 3 {
		if write(fmt.Sprint("waits ", i)) == nil {
			t.Fatal("a file that takes no writes took one")
		}
	}
	if a.Failed() == nil || a.Stats().Lost != 3 {
		t.Errorf("%v, %d lost", a.Failed(), a.Stats().Lost)
	}
	a.mu.Lock()
	a.of(ClassChange).file = whole
	a.mu.Unlock()
	broken.Close()
	if err := write("after"); err != nil || a.Failed() != nil {
		t.Fatal(err, a.Failed())
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	var got []AuditRecord
	if _, err := VerifyAudit(dir, nil, func(r AuditRecord) bool { got = append(got, r); return true }); err != nil {
		t.Fatal(err)
	}
	last := len(got) - 1
	if last != auditWaiting+2 || got[1].What != "waits 0" || got[last-2].What != fmt.Sprint("waits ", auditWaiting-1) ||
		got[last-1].What != "audit gap" || !strings.HasPrefix(got[last-1].Object, "3 records") || got[last].What != "after" {
		t.Errorf("%d records, the last are %+v", len(got), got[max(0, last-2):])
	}
}

// A head that is kept elsewhere shows that records were removed at the end, or the end was written again; a copy of the
// newest records is checked by itself.
func TestTheEndOfTheAuditIsKnownByItsHead(t *testing.T) {
	dir := t.TempDir()
	a := openAudit(t, dir, 1<<20, 3)
	for i := range 10 {
		if err := a.Write(AuditRecord{What: "x", Object: fmt.Sprint(i), Outcome: "ok"}, false); err != nil {
			t.Fatal(err)
		}
	}
	heads := a.Heads()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "audit.log")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := VerifyAudit(dir, heads, all); n != 10 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(whole), "\n"), "\n")
	for cut := 1; cut < len(lines); cut++ {
		if err := os.WriteFile(file, []byte(strings.Join(lines[:len(lines)-cut], "")), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := VerifyAudit(dir, heads, all); err == nil || !strings.Contains(err.Error(), "the end was removed") {
			t.Errorf("%d records were removed: %v", cut, err)
		}
		again := openAudit(t, dir, 1<<20, 3)
		for range cut {
			if err := again.Write(AuditRecord{What: "x", Object: "forged", Outcome: "ok"}, false); err != nil {
				t.Fatal(err)
			}
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := VerifyAudit(dir, heads, all); err == nil || !strings.Contains(err.Error(), "not the one whose hash was sealed") {
			t.Errorf("%d records were written again: %v", cut, err)
		}
	}
	copied := filepath.Join(t.TempDir(), "copy.jsonl")
	if err := os.WriteFile(copied, []byte(strings.Join(lines[4:], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := VerifyAudit(copied, nil, all); n != 6 || err != nil {
		t.Errorf("a copy: %d, %v", n, err)
	}
}

// What anybody can cause in any number evicts records of its own class only, and what was not evicted is read in the order in
// which it was written.
func TestEachClassHasItsShare(t *testing.T) {
	dir := t.TempDir()
	a := openAudit(t, dir, 2000, 20)
	write := func(r AuditRecord) {
		t.Helper()
		if err := a.Write(r, false); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		write(AuditRecord{What: "create user", Object: fmt.Sprint("user", i), Outcome: "ok", Class: ClassAccess})
		write(AuditRecord{What: "request", Object: fmt.Sprint("PUT /", i), Outcome: "ok"})
		write(AuditRecord{What: "begin session", Object: fmt.Sprint("session", i), Outcome: "ok", Class: ClassLogin})
	}
	for range 500 {
		write(AuditRecord{What: "request denied", Outcome: "refused"})
		write(AuditRecord{What: "issue token", Outcome: "ok", Class: ClassLogin})
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	seq := uint64(0)
	if _, err := VerifyAudit(dir, a.Heads(), func(r AuditRecord) bool {
		if r.Seq <= seq {
			t.Errorf("record %d is read after record %d", r.Seq, seq)
		}
		seq = r.Seq
		found[r.What]++
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if found["create user"] != 20 || found["request"] != 20 || found["begin session"] != 0 || found["request denied"] == 0 || found["request denied"] == 500 {
		t.Errorf("there are %v", found)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.log")); len(files) > 20 {
		t.Errorf("%d files", len(files))
	}
}

// Records that are removed, changed or put into another order anywhere are found, whatever their class.
func TestTamperingIsFoundInEachClass(t *testing.T) {
	dir := t.TempDir()
	a := openAudit(t, dir, 1500, 40)
	for i := range 120 {
		class := classes[i%len(classes)].name
		if err := a.Write(AuditRecord{What: "act", Object: fmt.Sprint(i), Outcome: "ok", Class: class}, false); err != nil {
			t.Fatal(err)
		}
	}
	heads := a.Heads()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := VerifyAudit(dir, heads, all); n != 120 || err != nil {
		t.Fatal(n, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, path := range files {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(strings.TrimSuffix(string(whole), "\n"), "\n")
		lines[len(lines)-1] += "\n"
		for i := range lines {
			without := append(append([]string{}, lines[:i]...), lines[i+1:]...)
			changed := append([]string{}, lines...)
			changed[i] = strings.Replace(lines[i], `"what":"act"`, `"what":"axt"`, 1)
			kinds := [][]string{without, changed, lines[:i]}
			if i > 0 {
				swapped := append([]string{}, lines...)
				swapped[i], swapped[i-1] = lines[i-1], lines[i]
				kinds = append(kinds, swapped)
			}
			for k, kind := range kinds {
				tried++
				if err := os.WriteFile(path, []byte(strings.Join(kind, "")), 0o600); err != nil {
					t.Fatal(err)
				}
				if n, err := VerifyAudit(dir, heads, all); err == nil {
					t.Errorf("%s, line %d, kind %d: %d records are valid", path, i+1, k, n)
				}
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range files {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		tried++
		if _, err := VerifyAudit(dir, heads, all); err == nil {
			t.Errorf("%s was removed, and nothing is missing", path)
		}
		again := openAudit(t, dir, 1500, 40)
		if again.Missing(heads) == nil {
			t.Errorf("%s was removed, and the next start does not miss it", path)
		}
		_ = again.Close()
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
	}
	if tried < 400 {
		t.Errorf("only %d kinds of damage were tried", tried)
	}
}

// A line is what encoding/json makes of the record.
func TestALineIsJSON(t *testing.T) {
	long := strings.Repeat("x", auditText)
	for _, r := range []AuditRecord{
		{},
		{Seq: 1, Time: time.Unix(1e9, 5).UTC(), Who: "ann@sdn", What: "create user", Outcome: "ok", Class: ClassAccess, Prev: "00ff"},
		{Seq: 1 << 60, Who: "a\"b\\c", What: "tab\there", Object: "<é & \u2028 \xff>", Outcome: "failed, exit code 3", Address: "::1", Request: "r", Realm: "x/y",
			Credential: "c", Method: "PUT", Resource: "/rests/data/a=%2F", Status: 503, Count: 7},
		{Who: long, What: long, Object: long + "\x7f", Outcome: "\x00"},
	} {
		want, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.appendLine(nil); string(got) != string(want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
