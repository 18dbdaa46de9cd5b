package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ctl.internal/host/internal/home"
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
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), ".tar") {
			out.Snapshot = append(
				out.Snapshot,
				snapshotFile{e.Name(), uint64(max(0, info.Size())), formatInstant(info.ModTime())},
			)
		}
	}
	return out, err
}

// saveSnapshot writes a snapshot of now, and removes the oldest.
func (s *Server) saveSnapshot(ctx context.Context, _ struct{}) (out snapshotFile, err error) {
	dir := s.home.Path("backups")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return out, err
	}
	out.Name = savedPrefix + time.Now().UTC().Format("20060102-150405.000") + ".tar"
	path := filepath.Join(dir, out.Name)
	if _, err := os.Lstat(path); err == nil {
		return out, fault.New(fault.Exists, "%s exists already: save again", out.Name)
	}
	if err := home.Replace(path, 0o600, func(w io.Writer) error {
		return s.writeSnapshot(ctx, w, nil)
	}); err != nil {
		return out, err
	}
	if info, err := os.Stat(path); err == nil {
		out.Size = uint64(max(0, info.Size()))
	}
	own, err := filepath.Glob(filepath.Join(dir, savedPrefix+"*.tar")) // in the order of their times
	for _, old := range own[:max(0, len(own)-keptSnapshots)] {
		err = errors.Join(err, os.Remove(old))
	}
	return out, err
}
