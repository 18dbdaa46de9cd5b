// Package history keeps the lines that users typed, one file a user. What must not
// be kept (engine's Session.Sensitive) is left out by the one who adds.
package history

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// maxFile bounds what is read of a file, in bytes; a longer one is cut from its
// beginning.
const maxFile = 4 << 20

// Store gives every user a List.
type Store struct {
	dir string
	max int

	mu    sync.Mutex
	lists map[string]*List
}

// New makes a Store on a directory, which is made 0700 when first needed. Each user
// has at most max lines; 0 keeps none.
func New(dir string, max int) *Store {
	return &Store{dir: dir, max: max, lists: map[string]*List{}}
}

// For returns the list of a user; all sessions of the user share it. When the file
// cannot be read the list is empty and the error says why.
func (s *Store) For(user string) (*List, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.lists[user]; ok {
		return l, nil
	}
	l := &List{
		max:  s.max,
		file: filepath.Join(s.dir, url.PathEscape(user)+".history"),
	}
	s.lists[user] = l
	return l, l.loadFile()
}

// List is the lines of one user, oldest first.
type List struct {
	file string
	max  int

	mu    sync.Mutex
	lines []string
}

func (l *List) loadFile() error {
	b, err := os.ReadFile(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the history cannot be read: %w", err)
	}
	if len(b) > maxFile {
		b = b[len(b)-maxFile:]
		b = b[bytes.IndexByte(b, '\n')+1:]
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		if line != "" {
			l.lines = append(l.lines, line)
		}
	}
	if len(l.lines) > l.max {
		l.lines = l.lines[len(l.lines)-l.max:]
		return l.writeFile(os.O_TRUNC, strings.Join(l.lines, "\n")+"\n")
	}
	return nil
}

func (l *List) writeFile(flag int, text string) error {
	if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(l.file, os.O_CREATE|os.O_WRONLY|flag, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Add keeps a line, unless it is empty or the same as the one before.
func (l *List) Add(line string) error {
	line = strings.TrimSpace(strings.ReplaceAll(line, "\n", " "))
	l.mu.Lock()
	defer l.mu.Unlock()
	if line == "" || l.max <= 0 || len(l.lines) > 0 && l.lines[len(l.lines)-1] == line {
		return nil
	}
	if l.lines = append(l.lines, line); len(l.lines) > l.max {
		l.lines = append(l.lines[:0], l.lines[1:]...)
	}
	return l.writeFile(os.O_APPEND, line+"\n")
}

// Lines returns all lines, oldest first.
func (l *List) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.lines...)
}

// Clear forgets everything, in memory and on disk.
func (l *List) Clear() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = nil
	err := os.Remove(l.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the history cannot be removed: %w", err)
	}
	return nil
}
