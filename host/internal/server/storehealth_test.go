package server

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
)

// Readiness says what the cluster lacks, and never that it has no majority when it has one.
func TestReadinessTellsTheTruthOfTheCluster(t *testing.T) {
	gone, cause := errors.New("connection refused"), errors.New("no answer")
	a := datastore.Member{Endpoint: "http://a", Led: true, Leads: true}
	b := datastore.Member{Endpoint: "http://b", Led: true}
	alone := datastore.Member{Endpoint: "http://d"}
	away := datastore.Member{Endpoint: "http://c", Err: gone}
	for _, c := range []struct {
		name              string
		all               []datastore.Member
		what, why, remedy string
		not               string
	}{
		{"one of three is away", []datastore.Member{a, b, away}, "store", "2 of 3 members", "wait", "majority"},
		{"all are there", []datastore.Member{a, b, b}, "store", "3 of 3 members", "wait", "majority"},
		{"they elect", []datastore.Member{alone, alone, away}, "quorum", "no leader", "electing", "start "},
		{"two of three are away", []datastore.Member{alone, away, away}, "quorum", "1 of 3 members", "start http://c", "electing"},
		{"all are away", []datastore.Member{away}, "quorum", "0 of 1", "start http://c", "electing"},
		{"nobody can say", nil, "quorum", "does not answer", "start the missing members of http://e", "electing"},
	} {
		r := clusterReason(home.Datastore{Engine: "etcd", Etcd: home.Etcd{Endpoints: []string{"http://e"}}}, c.all, cause)
		if r.What != c.what || !strings.Contains(r.Why, c.why) || !strings.Contains(r.Remedy, c.remedy) || strings.Contains(r.Why+r.Remedy, c.not) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// A revision from before the cluster was set back is refused with the reason.
func TestRevisionsThatAreLostAreRefused(t *testing.T) {
	s := &Server{store: newStore(t), clusterID: "lab"}
	s.back.Store(&datastore.Back{At: time.Now(), From: 7, To: 9})
	for text, want := range map[string]int{"lab.7": http.StatusPreconditionFailed, "lab.1": http.StatusPreconditionFailed} {
		if status, err := s.waitFor(t.Context(), text); status != want || !strings.Contains(err.Error(), "set back") {
			t.Errorf("%s: %d, %v", text, status, err)
		}
	}
}
