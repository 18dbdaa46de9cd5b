package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	files, _ := auditFiles(dir)
	n, err := VerifyAudit(dir, AuditHead{}, all)
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
		if n, err := VerifyAudit(dir, AuditHead{}, all); err == nil || n >= 60 || !strings.Contains(err.Error(), "audit-") {
			t.Errorf("%s: %d records, %v", name, n, err)
		}
		if err := os.WriteFile(files[1], good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheAuditKeepsItsBudgetAndSurvivesATornRecord(t *testing.T) {
	dir := t.TempDir()
	a := openAudit(t, dir, 1000, 3)
	for range 100 {
		if err := a.Write(AuditRecord{What: strings.Repeat("x", 5000), Outcome: "ok"}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := auditFiles(dir); len(files) != 3 {
		t.Errorf("files %v", files)
	}
	path := filepath.Join(dir, auditName)
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
	if _, err := VerifyAudit(dir, AuditHead{}, func(r AuditRecord) bool { last = append(last, r.What); return true }); err != nil || strings.Join(last[len(last)-2:], ",") != "audit continued,after" {
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
	broken, err := os.Open(filepath.Join(dir, auditName)) // for reading: it takes no writes
	if err != nil {
		t.Fatal(err)
	}
	a.mu.Lock()
	whole := a.file
	a.file = broken
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
	a.file = whole
	a.mu.Unlock()
	broken.Close()
	if err := write("after"); err != nil || a.Failed() != nil {
		t.Fatal(err, a.Failed())
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	var got []AuditRecord
	if _, err := VerifyAudit(dir, AuditHead{}, func(r AuditRecord) bool { got = append(got, r); return true }); err != nil {
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
	var head AuditHead
	head.Seq, head.Hash = a.Head()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, auditName)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := VerifyAudit(dir, head, all); n != 10 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(whole), "\n"), "\n")
	for cut := 1; cut < len(lines); cut++ {
		if err := os.WriteFile(file, []byte(strings.Join(lines[:len(lines)-cut], "")), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := VerifyAudit(dir, head, all); err == nil || !strings.Contains(err.Error(), "the end was removed") {
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
		if _, err := VerifyAudit(dir, head, all); err == nil || !strings.Contains(err.Error(), "not the one whose hash was sealed") {
			t.Errorf("%d records were written again: %v", cut, err)
		}
	}
	copied := filepath.Join(t.TempDir(), "copy.jsonl")
	if err := os.WriteFile(copied, []byte(strings.Join(lines[4:], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := VerifyAudit(copied, AuditHead{}, all); n != 6 || err != nil {
		t.Errorf("a copy: %d, %v", n, err)
	}
}
