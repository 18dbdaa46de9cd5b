package server

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ctl.internal/sdk/fault"
)

// Snapshots that save-snapshot wrote begin with savedPrefix, and the newest keptSnapshots of them stay. install.sh
// keeps its own beside them.
const (
	savedPrefix   = "saved-"
	keptSnapshots = 10
)

type (
	snapshotFile struct {
		Name string `json:"name"`
		Size uint64 `json:"size,string"`
		Time string `json:"time,omitempty"`
	}
	snapshotList struct {
		Directory string         `json:"directory"`
		Snapshot  []snapshotFile `json:"snapshot,omitempty"`
	}
)

func (s *Server) getSnapshots(context.Context, struct{}) (snapshotList, error) {
	out := snapshotList{Directory: s.home.Path("backups")}
	entries, err := os.ReadDir(out.Directory)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), ".tar") {
			out.Snapshot = append(out.Snapshot, snapshotFile{e.Name(), uint64(max(0, info.Size())), instant(info.ModTime())})
		}
	}
	return out, err
}

// saveSnapshot writes beside the file and puts it in place when it is whole.
func (s *Server) saveSnapshot(ctx context.Context, _ struct{}) (out snapshotFile, err error) {
	dir := s.home.Path("backups")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return out, err
	}
	out.Name = savedPrefix + time.Now().UTC().Format("20060102-150405.000") + ".tar"
	if _, err := os.Lstat(filepath.Join(dir, out.Name)); err == nil {
		return out, fault.New(fault.Exists, "%s exists already: save again", out.Name)
	}
	f, err := os.CreateTemp(dir, ".snapshot-*") // mode 0600
	if err != nil {
		return out, err
	}
	defer os.Remove(f.Name())
	if err = s.snapshot(ctx, f, nil); err == nil {
		err = f.Sync()
	}
	if info, serr := f.Stat(); serr == nil {
		out.Size = uint64(max(0, info.Size()))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, out.Name))
	}
	if err != nil {
		return out, err
	}
	own, err := filepath.Glob(filepath.Join(dir, savedPrefix+"*.tar")) // in the order of their times
	for _, old := range own[:max(0, len(own)-keptSnapshots)] {
		err = errors.Join(err, os.Remove(old))
	}
	return out, err
}
