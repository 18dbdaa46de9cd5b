package tables

import (
	"context"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/logs"
)

// audit:verify shows the time that the records cover, also where the clock was set between them.
func TestAuditVerifyShowsTheWholeSpan(t *testing.T) {
	dir := t.TempDir()
	a, err := logs.OpenAudit(dir, 1<<20, 3)
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, at := range []time.Duration{0, 48 * time.Hour, -24 * time.Hour, -24*time.Hour + time.Minute} { // a day ahead, then set back
		if err := a.Write(logs.AuditRecord{Time: noon.Add(at), Who: "ann@sdn", What: "PUT", Outcome: "ok"}, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	heads := func(context.Context) (logs.AuditHeads, error) { return nil, nil }
	got := transcript(session(AuditCommands(dir, heads)), "", "audit:verify --format json", "audit:verify")
	for _, want := range []string{`"first": 1`, `"last": 4`, `"since": "2026-11-25T12:00:00Z"`, `"until": "2026-11-28T12:00:00Z"`, `"clock-set-back": 1`, "1 to 4", "Clock set back"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
}
