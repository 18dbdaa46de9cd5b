package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/spool"
	"ctl.internal/sdk/fault"
)

// list answers with a list of commits. span resolves the references of the
// request; it is not asked when a cursor says where the list goes on.
func (a *API) list(w http.ResponseWriter, r *http.Request, p params, l *listing,
	span func(context.Context, history.Repo) (tip, base string, err error)) error {
	q := &l.query
	shape := digest(canonical(r.URL.Path), p.values)
	repo, release, err := a.open(r.Context(), l.project)
	if err != nil {
		return err
	}
	defer release()
	if l.cursor != "" {
		c, err := decodeCursor(l.cursor, shape)
		if err != nil {
			return err
		}
		if _, err := repo.Resolve(r.Context(), "the cursor's commit", c.tip); err != nil {
			return err
		}
		q.Tip, q.Base, q.Offset = c.tip, c.base, c.offset
	} else if q.Tip, q.Base, err = span(r.Context(), repo); err != nil {
		return err
	}
	if q.Tip == q.Base {
		q.Base = "" // nothing lies between: an empty list, without a walk
		q.Limit, q.Offset, q.Tip = 0, 0, ""
	}

	key := l.key()
	gzip := quality(r.Header.Get("Accept-Encoding"), "gzip") > 0
	h := w.Header()
	h.Set("Vary", "Accept, Accept-Encoding")
	h.Set("Cache-Control", "private, no-cache")
	if !q.Stats || !a.incomplete(l) {
		if tag := etag(key, gzip); notModified(w, r, tag) {
			return nil
		}
	}
	h.Set("Content-Type", typeJSON)
	if l.ndjson {
		h.Set("Content-Type", typeLines)
	}
	if gzip {
		h.Set("Content-Encoding", "gzip")
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	release() // the maker opens the project for itself; a slow reader holds nothing up
	return a.send(w, r, l, key, shape, gzip)
}

// send joins or starts the making of the answer and copies it to the caller.
func (a *API) send(w http.ResponseWriter, r *http.Request, l *listing, key, shape string, gzip bool) error {
	produce := a.maker(*l)
	if gzip {
		key, produce = key+" gzip", a.Answers.Gzip(key, produce)
	}
	handle := a.Answers.Get(key, produce)
	defer handle.Close()
	paged := l.query.Limit > 0
	result, err := handle.Ready(r.Context(), paged)
	if err != nil {
		w.Header().Del("Content-Encoding")
		return err
	}
	if res, ok := result.(history.Result); ok && paged && res.More {
		w.Header().Set("Link", next(r.URL, cursor{tip: l.query.Tip, base: l.query.Base, offset: res.Next}.encode(shape)))
	}
	w.WriteHeader(http.StatusOK)
	out := patient{w, http.NewResponseController(w)}
	if err := handle.Copy(r.Context(), out, out.flush); err != nil {
		if r.Context().Err() == nil {
			a.Log.Warn("an answer broke off", "path", r.URL.Path, "project", l.project, "error", err)
		}
		panic(http.ErrAbortHandler) // the head is gone: only a broken transfer tells the caller
	}
	return nil
}

// open finds the project, and tells a clone that is on its way from none.
func (a *API) open(ctx context.Context, project string) (history.Repo, func(), error) {
	repo, release, err := a.Folder.Open(ctx, project)
	if err != nil && fault.KindOf(err) == fault.NotFound && a.Syncer != nil && a.Syncer.Cloning(project) {
		err = fault.New(fault.Unavailable, "project %s is being cloned: ask again later", project)
	}
	return repo, release, err
}

// incomplete reports whether counts of the project are known to be missing; its
// answers change when the objects come, and so carry no entity tag.
func (a *API) incomplete(l *listing) bool {
	if len(l.query.Tip) == 0 {
		return false
	}
	p, release := a.Lister.Counts.Use(l.project, l.query.Lines, len(l.query.Tip)/2)
	defer release()
	return p.Missing() > 0
}

// key names an answer: all that its bytes depend on.
func (l *listing) key() string { return fmt.Sprintf("%q %#v %v", l.project, l.query, l.ndjson) }

// format is raised when the bytes of an answer change their form.
const format = "1"

func etag(key string, gzip bool) string {
	sum := sha256.Sum256([]byte(format + " " + key))
	tag := hex.EncodeToString(sum[:16])
	if gzip {
		tag += "-gzip"
	}
	return `"` + tag + `"`
}

func next(u *url.URL, cursor string) string {
	values := u.Query()
	values.Set("cursor", cursor)
	return "<?" + values.Encode() + `>; rel="next"`
}

// maker produces the bytes of an answer. It opens the project by itself, for it
// may outlive the request it was started by.
func (a *API) maker(l listing) spool.Producer {
	return func(ctx context.Context, w io.Writer) (any, bool, error) {
		enc := encoder{w: w, project: l.project, lines: l.ndjson}
		if l.query.Tip == "" {
			return history.Result{}, true, enc.end()
		}
		select {
		case a.slots <- struct{}{}:
			defer func() { <-a.slots }()
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
		ctx, cancel := context.WithTimeout(ctx, a.Timeout)
		defer cancel()
		repo, release, err := a.Folder.Open(ctx, l.project)
		if err != nil {
			return nil, false, err
		}
		defer release()
		res, err := a.Lister.Walk(ctx, repo, l.query, enc.run)
		if err != nil {
			return nil, false, err
		}
		return res, res.Unknown == 0, enc.end()
	}
}

// encoder writes runs of commits as one JSON document or as lines.
type encoder struct {
	w       io.Writer
	project string
	lines   bool
	begun   bool
	buf     []byte
}

func (e *encoder) run(commits []commit.Commit) error {
	e.buf = e.buf[:0]
	for i := range commits {
		if !e.lines {
			e.separate()
		}
		e.buf = commits[i].AppendJSON(e.buf, e.project)
		if e.lines {
			e.buf = append(e.buf, '\n')
		}
	}
	_, err := e.w.Write(e.buf)
	return err
}

func (e *encoder) separate() {
	if e.begun {
		e.buf = append(e.buf, ",\n"...)
		return
	}
	e.begun = true
	e.buf = append(e.buf, `{"commits":[`...)
}

func (e *encoder) end() error {
	if e.lines {
		return nil
	}
	text := "]}\n"
	if !e.begun {
		text = `{"commits":[]}` + "\n"
	}
	_, err := io.WriteString(e.w, text)
	return err
}

// patient gives a caller a minute for every block, and not for ever.
type patient struct {
	w       io.Writer
	control *http.ResponseController
}

const blockTimeout = time.Minute

func (p patient) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(blockTimeout)) // the host's own listener has its limits
	return p.w.Write(b)
}

func (p patient) flush() { _ = p.control.Flush() }
