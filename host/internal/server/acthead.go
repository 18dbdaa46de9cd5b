package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/logs"
)

// The head of the audit in the datastore, sealed: whoever cuts records off the end of the files does not change it.
const (
	headNamespace = "audit"
	headEvery     = 10 * time.Second
)

func headKey(node string) string     { return "head/" + node }
func headPurpose(node string) []byte { return []byte("audit/head/" + node) }

// sealHead keeps the number and the hash of the newest record in the datastore.
func (s *Server) sealHead(ctx context.Context) {
	if s.audit == nil || s.store == nil || s.secrets == nil {
		return
	}
	seq, hash := s.audit.Head()
	if seq == s.sealed.Load() {
		return
	}
	node := s.node()
	text, err := json.Marshal(logs.AuditHead{Seq: seq, Hash: hash})
	if err == nil {
		text, err = s.secrets.Seal(text, headPurpose(node))
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, storeLimit)
		defer cancel()
		_, err = s.store.Commit(ctx, datastore.Txn{By: "controller", Ops: []datastore.Op{datastore.Put(headNamespace, headKey(node), text)}})
	}
	if err != nil {
		s.log.Warn("the head of the audit could not be kept in the datastore; it is tried again", "error", err)
		return
	}
	s.sealed.Store(seq)
}

// sealHeads does so every few seconds, until ctx ends.
func (s *Server) sealHeads(ctx context.Context) error {
	t := time.NewTicker(headEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			s.sealHead(ctx)
		}
	}
}

// auditHead is the head that was sealed last; the zero one if none was.
func (s *Server) auditHead(ctx context.Context) (head logs.AuditHead, err error) {
	e, err := datastore.Get(ctx, s.store, headNamespace, headKey(s.node()))
	if errors.Is(err, datastore.ErrNotFound) {
		return head, nil
	}
	if err != nil {
		return head, err
	}
	text, err := s.secrets.Open(e.Value, headPurpose(s.node()))
	if err != nil {
		return head, fmt.Errorf("the head of the audit in the datastore is not as it was sealed: %w", err)
	}
	return head, json.Unmarshal(text, &head)
}

// recordStart writes down that the controller started, whether the audit ends before the head that was sealed, and
// which settings on the disk are others than at the last start.
func (s *Server) recordStart(ctx context.Context) {
	s.checkHead(ctx)
	s.note(logs.AuditRecord{What: "start", Object: "controller " + Version(), Outcome: passed}, true)
	if changed, err := s.changedSettings(); err != nil {
		s.log.Warn("it is not known which settings changed since the last start", "error", err)
	} else if len(changed) > 0 {
		s.note(logs.AuditRecord{What: "settings changed on the disk", Object: strings.Join(changed, ", "), Outcome: passed}, true)
	}
	s.background(ctx, "folded records of the audit", s.foldedRecords)
	s.background(ctx, "head of the audit", s.sealHeads)
}

// checkHead writes down, where it stays, that the end of the audit was removed while the controller did not run: the next
// head that is sealed would hide it.
func (s *Server) checkHead(ctx context.Context) {
	head, err := s.auditHead(ctx)
	opened := s.opened
	switch {
	case err == nil && (head.Seq < opened.Seq || head == opened):
		return
	case err == nil:
		err = fmt.Errorf("it ended with record %d, and the head that was sealed is record %d, which is not there as it was written", opened.Seq, head.Seq)
	}
	s.log.Error("the end of the audit was removed or changed while the controller did not run", "error", err)
	s.note(logs.AuditRecord{What: "audit cut", Object: err.Error(), Outcome: failed}, true)
}

// sumsName is the file of the digests of the settings at the last start.
const sumsName = "settings.sums"

// changedSettings names the files of etc/ that are new, others or gone since the last start; none at the first.
func (s *Server) changedSettings() ([]string, error) {
	now := map[string]string{}
	err := filepath.WalkDir(s.home.Etc(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := home.ReadBounded(path, 64<<20)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		now[strings.TrimPrefix(path, string(s.home)+"/")] = hex.EncodeToString(sum[:])
		return nil
	})
	if err != nil {
		return nil, err
	}
	before := map[string]string{}
	text, err := os.ReadFile(s.home.Data(sumsName))
	first := errors.Is(err, fs.ErrNotExist)
	if err == nil {
		err = json.Unmarshal(text, &before)
	}
	if err != nil && !first {
		s.log.Warn("the digests of the settings at the last start cannot be read", "error", err)
	}
	if text, err = json.Marshal(now); err != nil {
		return nil, err
	}
	if err := home.WriteFile(s.home.Data(sumsName), text, 0o600); err != nil || first {
		return nil, err
	}
	var changed []string
	for name, sum := range now {
		if before[name] != sum {
			changed = append(changed, name)
		}
	}
	for name := range before {
		if now[name] == "" {
			changed = append(changed, name+" (removed)")
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}
