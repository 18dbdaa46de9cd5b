package release

import (
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/plugins/repoinfo/clones"
	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/counts"
	"ctl.internal/plugins/repoinfo/gitcmd"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/jobs"
	"ctl.internal/plugins/repoinfo/people"
	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/plugins/repoinfo/turns"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newMaker answers questions about a directory of clones.
func newMaker(t *testing.T, dir string, machines ...string) *Maker {
	t.Helper()
	folder, err := clones.NewFolder(dir, &gitcmd.Git{})
	if err != nil {
		t.Fatal(err)
	}
	store := jobs.Open(t.TempDir(), 64<<20, slog.New(slog.DiscardHandler))
	t.Cleanup(store.Close)
	directory, err := people.New("", "")
	if err != nil {
		t.Fatal(err)
	}
	if directory.Machines, err = people.NewMachines(machines); err != nil {
		t.Fatal(err)
	}
	lister := &history.Lister{Counts: counts.NewTable(store), Jobs: store, MessageLimit: 1 << 20}
	reports := &report.Maker{Folder: folder, Lister: lister, People: directory, Timeout: 5 * time.Minute}
	return &Maker{Reports: reports}
}

// ask answers a question.
func (m *Maker) ask(t *testing.T, q Question) *Made {
	t.Helper()
	if q.Group == "" {
		q.Group = GroupByProject
	}
	p, err := m.Plan(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	queue := &turns.Queue{Places: 2, Started: 2, Waiting: 100, Total: 100, Slice: time.Second}
	turn := func(project string) *turns.Turn { return queue.New("u", project) }
	made, err := m.Make(t.Context(), p, turn, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// between is a request for two references.
func between(ref1, ref2 string) report.Request {
	return report.Request{Ref1: ref1, Ref2: ref2, Filter: commit.Filter{Skip: true}}
}
