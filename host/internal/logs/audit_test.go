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
