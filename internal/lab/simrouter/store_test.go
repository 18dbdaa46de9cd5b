package simrouter

import (
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/internal/netconf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func tagOf(err error) string {
	var f *Fault
	if errors.As(err, &f) {
		return f.Tag
	}
	return ""
}

func TestLocksAndCandidate(t *testing.T) {
	s := newStore(Draft00().Root)
	set := tree(t, "<bier-global><bfr-id>1</bfr-id></bier-global>")
	if err := s.lockDatastore(netconf.CandidateDS, 1); err != nil {
		t.Fatal(err)
	}
	if tagOf(s.lockDatastore(netconf.CandidateDS, 2)) != "lock-denied" || tagOf(s.checkLock(netconf.CandidateDS, 2)) != "in-use" || s.checkLock(netconf.CandidateDS, 1) != nil {
		t.Error("a lock keeps others out, not its owner")
	}
	if err := s.editDatastore(netconf.CandidateDS, set, "merge", true); err != nil || len(s.running.Kids) != 0 {
		t.Errorf("candidate is not running: %v", err)
	}
	s.releaseSession(1)
	if s.candidate != nil || s.lockDatastore(netconf.CandidateDS, 2) != nil {
		t.Error("the end of a session ends its lock and its changes")
	}
	if err := s.editDatastore(netconf.CandidateDS, set, "merge", true); err != nil || !s.commitCandidate(2, 0, nil) || len(s.running.Kids) != 1 {
		t.Errorf("commit: %v", err)
	}
	bad := tree(t, "<bier-global><bfr-id>2</bfr-id><mt/></bier-global>")
	if err := s.editDatastore(netconf.Running, bad, "merge", true); tagOf(err) != "unknown-element" || flat(s.running.Kids[0]) != "<bier-global><bfr-id>1</bfr-id></bier-global>" {
		t.Errorf("rollback-on-error: %v %s", err, s.running)
	}
	if err := s.editDatastore(netconf.Running, bad, "merge", false); tagOf(err) != "unknown-element" || flat(s.running.Kids[0]) != "<bier-global><bfr-id>2</bfr-id></bier-global>" {
		t.Errorf("stop-on-error: %v %s", err, s.running)
	}
}

func TestConfirmedCommit(t *testing.T) {
	s := newStore(Draft00().Root)
	change := func(session uint32, timeout time.Duration) {
		t.Helper()
		if err := s.editDatastore(netconf.CandidateDS, tree(t, "<bier-global><bfr-id>1</bfr-id></bier-global>"), "merge", true); err != nil || !s.commitCandidate(session, timeout, func() {}) {
			t.Fatal(err)
		}
	}
	change(1, time.Hour)
	if !s.releaseSession(1) || len(s.running.Kids) != 0 {
		t.Error("the end of the session takes it back")
	}
	change(2, time.Hour)
	if s.releaseSession(1) || !s.cancelCommit() || len(s.running.Kids) != 0 {
		t.Error("only its own session's end; cancel-commit takes it back")
	}
	change(3, time.Hour)
	s.commitCandidate(3, 0, nil)
	if s.releaseSession(3) || s.cancelCommit() || len(s.running.Kids) != 1 {
		t.Error("confirmed, it stays")
	}
}
