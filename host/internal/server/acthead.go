package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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

func headKey(node string) string { return "heads/" + node }
func headPurpose(node string) []byte {
	return []byte("audit/heads/" + node)
}

// sealHead keeps the numbers and hashes of the newest records in the datastore.
func (s *Server) sealHead(ctx context.Context) {
	if s.audit == nil || s.store == nil || s.secrets == nil {
		return
	}
	heads := s.audit.Heads()
	last := s.sealed.Load()
	if last != nil && maps.Equal(heads, *last) {
		return
	}
	node := s.nodeName()
	text, err := json.Marshal(heads)
	if err == nil {
		text, err = s.secrets.Seal(text, headPurpose(node))
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, storeLimit)
		defer cancel()
		_, err = s.store.Commit(
			ctx,
			datastore.Txn{
				By:  "controller",
				Ops: []datastore.Op{datastore.Put(headNamespace, headKey(node), text)},
			},
		)
	}
	if err != nil {
		s.log.Warn(
			"the head of the audit could not be kept in the datastore; it is tried again",
			"error",
			err,
		)
		return
	}
	s.sealed.Store(&heads)
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

// auditHeads are the heads that were sealed last; none if none were.
func (s *Server) auditHeads(ctx context.Context) (heads logs.AuditHeads, err error) {
	e, err := datastore.Get(ctx, s.store, headNamespace, headKey(s.nodeName()))
	if errors.Is(err, datastore.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := s.secrets.Open(e.Value, headPurpose(s.nodeName()))
	if err != nil {
		return nil, fmt.Errorf(
			"the head of the audit in the datastore is not as it was sealed: %w",
			err,
		)
	}
	return heads, json.Unmarshal(text, &heads)
}

// recordStart writes down that the controller started, whether the audit ends before the head that was sealed, and
// which settings on the disk are others than at the last start.
func (s *Server) recordStart(ctx context.Context) {
	s.checkHead(ctx)
	start := logs.AuditRecord{
		What:    "start",
		Object:  "controller " + Version(),
		Outcome: passed,
		Class:   logs.ClassAccess,
	}
	newest := s.audit.Newest()
	if newest.Class != "" && newest.What != "stop" { // earlier releases had neither
		start.Object += "; the one before did not end in order: its last record is of " + newest.Time.UTC().Format(time.RFC3339)
	}
	s.writeAudit(start, true)
	if changed, err := s.changedSettings(); err != nil {
		s.log.Warn("it is not known which settings changed since the last start", "error", err)
	} else if len(changed) > 0 {
		s.writeAudit(
			logs.AuditRecord{
				What:    "settings changed on the disk",
				Object:  strings.Join(changed, ", "),
				Outcome: passed,
				Class:   logs.ClassAccess,
			},
			true,
		)
	}
	s.runInBackground(ctx, "folded records of the audit", s.foldedRecords)
	s.runInBackground(ctx, "head of the audit", s.sealHeads)
}

// checkHead writes down, where it stays, that records of the audit were removed while the controller did not run: the next
// head that is sealed would hide it.
func (s *Server) checkHead(ctx context.Context) {
	kept, err := s.auditHeads(ctx)
	if err == nil {
		err = s.audit.Missing(kept)
	}
	if err == nil {
		return
	}
	s.log.Error(
		"records of the audit were removed or changed while the controller did not run",
		"error",
		err,
	)
	s.writeAudit(
		logs.AuditRecord{
			What:    "audit cut",
			Object:  err.Error(),
			Outcome: failed,
			Class:   logs.ClassAccess,
		},
		true,
	)
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
