package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/jobs"
	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/plugins/repoinfo/turns"
)

// commits is a list of commits that a request asks for.
type commits struct {
	project string
	query   history.Query
	cursor  string
	lines   bool
}

// readListParams reads the parameters that all lists of commits have.
func (a *API) readListParams(p *params, accept string) (l commits) {
	l.project = p.requiredValue("project")
	p.keepError(refname.Project(l.project))
	q := &l.query
	a.readSelection(p, q)
	switch p.singleValue("merges") {
	case "", "true", "1":
		q.Merges = history.WithMerges
	case "false", "0":
		q.Merges = history.NoMerges
	case "only":
		q.Merges = history.OnlyMerges
	default:
		p.keepError(invalidParameter("merges", "Parameter merges must be true, false or only."))
	}
	q.Stats, q.Limit, l.cursor = p.boolValue("stats", true), p.numberValue("limit", a.MaxPage), p.singleValue("cursor")
	l.lines = wantsLines(p, accept)
	return l
}

// answerCommitList answers with a list of commits. span resolves the references of the
// request; it is not called if a cursor says where the list continues.
func (a *API) answerCommitList(w http.ResponseWriter, r *http.Request, p *params,
	span func(context.Context, history.Repo) (tip, base string, err error)) error {
	l := a.readListParams(p, r.Header.Get("Accept"))
	if p.err != nil {
		return p.err
	}
	q := &l.query
	path, _, _ := canonicalPath(r.URL)
	shape := digestParameters(path, p.values)
	repo, release, err := a.openProject(r.Context(), l.project)
	if err != nil {
		return err
	}
	defer release()
	if q.View, err = repo.View(r.Context()); err != nil {
		return err
	}
	if l.cursor != "" {
		c, err := decodeCursor(l.cursor, shape, a.Secret)
		if err != nil {
			return err
		}
		q.Tip, q.Base, q.Offset = c.tip, c.base, c.offset
	} else if q.Tip, q.Base, err = span(r.Context(), repo); err != nil {
		return err
	}
	release() // the maker opens the project for itself; a slow reader does not delay others
	empty := q.Tip == q.Base
	ans := answer{
		key:      fmt.Sprintf("%q %#v %v", l.project, l.query, l.lines),
		kind:     typeJSON,
		project:  l.project,
		paged:    q.Limit > 0,
		changing: q.Stats && a.Lister.Incomplete(l.project),
	}
	if l.lines {
		ans.kind = typeLines
	}
	ans.link = func(result any) string {
		res, ok := result.(history.Result)
		if ok && res.More {
			values := r.URL.Query()
			values.Set(
				"cursor",
				cursor{
					tip:    q.Tip,
					base:   q.Base,
					offset: res.Next,
				}.encodeCursor(shape, a.Secret),
			)
			return "<?" + values.Encode() + `>; rel="next"`
		}
		return ""
	}
	turn := a.Turns.New(callerName(r), l.project)
	return a.writeAnswer(w, r, ans, turn, func(ctx context.Context, out io.Writer) (any, bool, error) {
		enc := encoder{
			w:     out,
			json:  commit.NewEncoder(l.project),
			lines: l.lines,
		}
		if empty {
			return history.Result{}, true, enc.writeEnd()
		}
		defer turn.End()
		if err := turn.Begin(ctx); err != nil {
			return nil, false, err
		}
		ctx, cancel := context.WithTimeout(ctx, a.Timeout)
		defer cancel()
		repo, release, err := a.Folder.Open(ctx, l.project)
		if err != nil {
			return nil, false, err
		}
		defer release()
		res, err := a.Lister.Walk(ctx, repo, *q, turn, enc.encodeRun)
		if err != nil {
			return nil, false, err
		}
		return res, res.Unknown == 0, enc.writeEnd()
	})
}

// answer is shared by all equal requests; it is created once and stored.
type answer struct {
	key      string // all that its bytes depend on
	kind     string // Content-Type
	project  string // for the log
	paged    bool   // its end is to be known before its head is sent
	changing bool   // it may change under the same key: no entity tag
	link     func(result any) string
}

// writeAnswer joins or starts the making of an answer and copies it to the caller.
func (a *API) writeAnswer(w http.ResponseWriter, r *http.Request, ans answer, turn *turns.Turn,
	produce jobs.Producer) error {
	gzip := acceptQuality(r.Header.Get("Accept-Encoding"), "gzip") > 0
	h := w.Header()
	h.Set("Vary", "Accept, Accept-Encoding")
	h.Set("Cache-Control", "private, no-cache")
	if !ans.changing && notModified(w, r, entityTag([]byte(format+" "+ans.key), gzip)) {
		return nil
	}
	h.Set("Content-Type", ans.kind)
	if gzip {
		h.Set("Content-Encoding", "gzip")
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	key := ans.key
	if gzip {
		key, produce = key+" gzip", a.Jobs.Gzip(key, turn, produce)
	}
	handle := a.Jobs.Get(key, turn, produce)
	defer handle.Close()
	handle.Share().(*turns.Turn).Join(callerName(r))
	result, err := handle.Ready(r.Context(), ans.paged)
	if err != nil {
		h.Del("Content-Encoding")
		return err
	}
	if ans.paged && ans.link != nil {
		if link := ans.link(result); link != "" {
			h.Set("Link", link)
		}
	}
	w.WriteHeader(http.StatusOK)
	out := patient{w, http.NewResponseController(w)}
	if err := handle.Copy(r.Context(), out, 0, out.flush); err != nil {
		if r.Context().Err() == nil {
			a.Log.Warn(
				"an answer broke off",
				"path",
				r.URL.Path,
				"project",
				ans.project,
				"error",
				err,
			)
		}
		panic(http.ErrAbortHandler) // the head is sent: only an aborted transfer reports the error
	}
	return nil
}

// encoder writes runs of commits as one JSON document or as lines.
type encoder struct {
	w     io.Writer
	json  *commit.Encoder
	lines bool
	begun bool
	buf   []byte
}

func (e *encoder) encodeRun(run []commit.Commit) error {
	e.buf = e.buf[:0]
	for i := range run {
		b, err := e.json.Encode(&run[i])
		if err != nil {
			return err
		}
		if !e.lines {
			e.buf = append(e.buf, e.separator()...)
			b = b[:len(b)-1]
		}
		e.buf = append(e.buf, b...)
	}
	_, err := e.w.Write(e.buf)
	return err
}

func (e *encoder) separator() string {
	if e.begun {
		return ",\n"
	}
	e.begun = true
	return `{"commits":[`
}

func (e *encoder) writeEnd() error {
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

// patient gives a client one minute for each block.
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
