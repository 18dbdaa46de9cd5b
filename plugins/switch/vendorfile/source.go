package vendorfile

import (
	"crypto/sha256"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"
)

// recheck is how old what was read of the file may be.
const recheck = time.Second

// Source is the vendor-specific configuration as it is at the moment: the first of its
// files that exists, read again when it has changed. It is safe for concurrent use.
type Source struct {
	paths []string
	log   *slog.Logger

	mu     sync.Mutex
	file   *File
	stamp  stamp
	looked time.Time
}

// stamp distinguishes one state of the file from another: by its content, as two changes may have the same time and
// size.
type stamp struct {
	path    string
	content [sha256.Size]byte
	failure string // why it could not be read
}

// NewSource makes a Source.
func NewSource(paths []string, log *slog.Logger) *Source {
	return &Source{paths: paths, log: log, file: &File{}}
}

// File returns the file; an empty one, without models, if it does not exist.
func (s *Source) File() *File {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.looked) < recheck {
		return s.file
	}
	s.looked = time.Now()
	now, text := s.readFirstFile()
	if now == s.stamp {
		return s.file
	}
	s.stamp = now
	switch {
	case now.path == "":
		s.file = &File{}
		s.log.Info("there is no vendor-specific configuration any more; switches are handled in the default way")
		return s.file
	case now.failure != "":
		s.log.Warn(
			"the vendor-specific configuration cannot be read; switches are handled in the default way",
			"err",
			now.failure,
		)
		s.file = &File{
			Path: now.path,
			Problems: []Problem{{
				Path: now.path,
				Line: 1,
				Text: now.failure,
			}},
		}
		return s.file
	}
	s.file = Parse(now.path, text)
	s.log.Info(
		"vendor-specific configuration read",
		"path",
		now.path,
		"models",
		len(s.file.Models),
		"problems",
		len(s.file.Problems),
	)
	for i, p := range s.file.Problems {
		if i == 100 {
			s.log.Warn(
				"more problems in the vendor-specific configuration are not logged",
				"left",
				len(s.file.Problems)-i,
			)
			break
		}
		s.log.Warn(p.Text, "file", p.Path, "line", p.Line)
	}
	return s.file
}

// readFirstFile reads the first of the files that exists.
func (s *Source) readFirstFile() (stamp, []byte) {
	for _, p := range s.paths {
		if st, err := os.Stat(p); err != nil || !st.Mode().IsRegular() {
			continue
		}
		text, err := readBounded(p)
		if err != nil {
			return stamp{path: p, failure: err.Error()}, nil
		}
		return stamp{
			path:    p,
			content: sha256.Sum256(text),
		}, text
	}
	return stamp{}, nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxFile+1))
}
