package api

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ctl.internal/plugins/repoinfo/report"
)

// Every form of a report, compressed or not, and the console are written from one run of the job.
func TestOneJobForAllFormsAndCallers(t *testing.T) {
	s := newSite(t)
	var runs atomic.Int64
	limited := &report.Report{
		Ref1:    "<v2>",
		Sizes:   map[string]int{"projects": 2},
		Rests:   map[string]*report.Total{"projects": {Name: "(1 more)", Commits: 7}},
		Failed:  []report.Failed{},
		Commits: 8,
	}
	limited.Projects = []*report.Total{{Name: "a", Commits: 1}}
	newJob := func() *work {
		w := workOn[report.Report](s.API, "job", []string{"a"}, nil)
		w.produce = func(context.Context) (any, bool, error) {
			runs.Add(1)
			return limited, true, nil
		}
		return w
	}
	wants := map[string]string{"json": `"ref1":"<v2>"`, "csv": "project,(1 more),", "html": "Projects (1 of 2)"}
	var all sync.WaitGroup
	for name, want := range wants {
		for _, encoding := range []string{"", "gzip"} {
			all.Go(func() {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/git/report", nil)
				r.Header.Set("Accept-Encoding", encoding)
				rec := httptest.NewRecorder()
				err := s.answerWork(rec, r, newJob(), reportForms[name])
				body, readErr := io.ReadAll(rec.Result().Body)
				if err != nil || readErr != nil || rec.Code != http.StatusOK {
					t.Errorf("%s: %d %v %v", name, rec.Code, err, readErr)
				}
				if encoding == "" && !strings.Contains(string(body), want) {
					t.Errorf("%s: %q is not in %s", name, want, body)
				}
			})
		}
	}
	all.Go(func() {
		made, kept, err := s.result(t.Context(), newJob(), "console", s.Turns.New("console", ""))
		if err != nil || !kept || made.(*report.Report).Commits != 8 {
			t.Errorf("console: %v, kept %v, %v", made, kept, err)
		}
	})
	all.Wait()
	if n := runs.Load(); n != 1 {
		t.Errorf("the job ran %d times", n)
	}
}

// A result that will change is handed out and made again for the next caller, in every form.
func TestAJobThatIsNotWholeRunsAgain(t *testing.T) {
	s := newSite(t)
	runs := 0
	job := workOn[report.Report](s.API, "job", nil, nil)
	job.produce = func(context.Context) (any, bool, error) {
		runs++
		return &report.Report{Failed: []report.Failed{}}, false, nil
	}
	for i := range 2 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/git/report", nil)
		rec := httptest.NewRecorder()
		if err := s.answerWork(rec, r, job, reportForms["csv"]); err != nil || runs != i+1 {
			t.Errorf("round %d: %d runs, %v", i, runs, err)
		}
	}
}
