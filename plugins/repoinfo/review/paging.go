package review

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"ctl.internal/sdk/fault"
)

// step is what the paging needs to know of a page.
type step struct {
	objects int
	more    bool // by the server's own mark
	news    bool // objects that no page before had
	overlap bool // objects that a page before had
}

// maxWalks bounds how often a list is read that changes all the time; what the last
// walk saw is taken as it is.
const maxWalks = 3

// readPages reads a list whole. The server counts its pages by offset, so when
// something goes, comes or moves between two of them, objects are repeated, or
// left out. The first is put right by l; to notice the second, each page begins
// with the last object of the one before.
func (c *Client) readPages(ctx context.Context, path string, l *list) error {
	for try := range maxWalks {
		l.reset()
		whole, err := c.walkPages(ctx, path, l, try == 0)
		if whole || err != nil {
			return err
		}
	}
	return nil
}

// walkPages reads all pages, either all from the cache or none: pages of different
// times do not fit together.
func (c *Client) walkPages(
	ctx context.Context,
	path string,
	l *list,
	cached bool,
) (whole bool, err error) {
	var total int64
	var before step
	for start := 0; ; {
		body, kept, err := c.getPage(ctx, path+c.pageWindow(start), cached)
		if err != nil {
			return false, err
		}
		if total += int64(len(body)); total > c.o.MaxBytes {
			return false, tooLong(c.o.MaxBytes)
		}
		s, err := l.addPage(body)
		if err != nil {
			return false, err
		}
		if start > 0 && (kept != cached || (before.objects > 1 && !s.overlap)) {
			return false, nil
		}
		cached, before = kept, s
		// A page without anything new ends it too: there are servers that ignore S.
		if !s.news || (!s.more && s.objects < c.o.Pages) {
			if start == 0 || cached {
				return true, nil
			}
			break
		}
		start += max(1, s.objects-1)
	}
	body, _, err := c.getPage(ctx, path+c.pageWindow(0), false)
	if err != nil {
		return false, err
	}
	return l.completeList(body)
}

func (c *Client) pageWindow(start int) string {
	w := "n=" + strconv.Itoa(c.o.Pages)
	if start > 0 {
		w += "&S=" + strconv.Itoa(start)
	}
	return w
}

func notExpected(err error) error {
	return &fault.Error{
		Kind:   fault.Downstream,
		Source: fault.SourceDevice,
		Cause:  err,
		Text:   "the review server's answer is JSON of another shape than its REST API has",
	}
}

// projectPage reads a map of projects.
func projectPage(body []byte) ([]object, error) {
	var page map[string]struct {
		More bool `json:"_more_projects"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, notExpected(err)
	}
	var out []object
	for name, p := range page {
		out = append(out, object{key: name, more: p.More})
	}
	return out, nil
}

// member is what must be known of an object of an array.
type member struct {
	Ref     string      `json:"ref"`
	Number  json.Number `json:"_number"`
	Updated string      `json:"updated"`
	More    bool        `json:"_more_changes"`
}

// arrayPage reads arrays of objects and leaves them as they are, but for the mark of the paging.
func arrayPage(key func(*member) string) func([]byte) ([]object, error) {
	return func(body []byte) ([]object, error) {
		var page []json.RawMessage
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, notExpected(err)
		}
		out := make([]object, len(page))
		for i, raw := range page {
			var m member
			if len(raw) == 0 || raw[0] != '{' {
				return nil, notExpected(nil)
			}
			err := json.Unmarshal(raw, &m)
			if err == nil && bytes.Contains(raw, []byte("_more_changes")) {
				raw, err = withoutMember(raw, "_more_changes")
			}
			if err != nil {
				return nil, notExpected(err)
			}
			out[i] = object{raw, key(&m), m.Updated, m.More}
		}
		return out, nil
	}
}

// withoutMember copies an object and leaves one member out; all else keeps its order
// and its spelling.
func withoutMember(raw json.RawMessage, name string) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if key == name {
			continue
		}
		quoted, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted...), ':'), value...)
	}
	return append(out, '}'), nil
}
