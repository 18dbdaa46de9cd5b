package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/snapshot"
)

// Headers of clients and answers about the age of data.
const (
	readHeader     = "Ctl-Read"     // of a request: "local" = what this node knows, with its age
	revisionHeader = "Ctl-Revision" // of a request: not older than this; of the answer to a write: what it is in
	nodeHeader     = "Ctl-Node"     // of a local answer: which node it comes from
)

// revisionWait bounds the wait for the revision that a client names.
const revisionWait = 2 * time.Second

// serveReadHeaders serves the three headers. It runs after access control.
func (s *Server) serveReadHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if want := r.Header[revisionHeader]; len(want) > 0 {
			if status, err := s.waitFor(r.Context(), want[len(want)-1]); err != nil {
				if status == http.StatusServiceUnavailable {
					w.Header().Set("Retry-After", "1")
				}
				refuseRequest(w, r, status, "operation-failed", err.Error())
				return
			}
		}
		if how := r.Header[readHeader]; len(how) > 0 {
			if how[len(how)-1] != "local" {
				refuseRequest(
					w,
					r,
					http.StatusBadRequest,
					"invalid-value",
					fmt.Sprintf(
						"the header %s is %q; it can be \"local\" or absent",
						readHeader,
						how[len(how)-1],
					),
				)
				return
			}
			age, err := s.store.Local(func(datastore.Snapshot) error { return nil })
			if err != nil {
				refuseRequest(w, r, http.StatusServiceUnavailable, "operation-failed", err.Error())
				return
			}
			w.Header().Set("Age", strconv.Itoa(int(math.Ceil(age.Seconds()))))
			w.Header().Set(nodeHeader, s.nodeName())
			r = r.WithContext(datastore.AskLocal(r.Context()))
		}
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
			next.ServeHTTP(w, r)
		default:
			r = r.WithContext(datastore.WithBudget(r.Context(), storeLimit))
			rw := &revisionWriter{ResponseWriter: w, s: s}
			next.ServeHTTP(rw, r)
			if !rw.begun { // an answer without a body
				rw.WriteHeader(http.StatusOK)
			}
		}
	})
}

// askedLocally lets access control answer a read of what this node knows from that, too.
func askedLocally(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(readHeader) == "local" &&
			(r.Method == http.MethodGet || r.Method == http.MethodHead) {
			r = r.WithContext(datastore.AskLocal(r.Context()))
		}
		next.ServeHTTP(w, r)
	})
}

// nodeName names this node.
func (s *Server) nodeName() string {
	if s.identity.ID != "" {
		return s.identity.ID
	}
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// waitFor waits until this node has the revision of an earlier answer.
func (s *Server) waitFor(ctx context.Context, text string) (status int, err error) {
	cluster, number, _ := strings.Cut(text, ".")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || cluster == "" {
		return http.StatusBadRequest, fmt.Errorf(
			"the header %s is %.60q; send back the value from an answer of this controller",
			revisionHeader,
			text,
		)
	}
	if cluster != s.clusterID {
		return http.StatusPreconditionFailed, fmt.Errorf(
			"the revision %.60s belongs to another datastore: the data was restored or replaced since; read it again without the header %s",
			text,
			revisionHeader,
		)
	}
	back := s.back.Load()
	if back != nil && datastore.Revision(n) <= back.From {
		return http.StatusPreconditionFailed, fmt.Errorf("the revision %.60s may be lost: the etcd cluster was set back to an older state at %s; read the data again without the header %s",
			text, back.At.UTC().Format(time.RFC3339), revisionHeader)
	}
	if s.store.Revision() >= datastore.Revision(n) {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, revisionWait)
	defer cancel()
	if s.waitForRevision(ctx, datastore.Revision(n)) {
		return 0, nil
	}
	return http.StatusServiceUnavailable, fmt.Errorf(
		"this node has not received revision %s within %s; ask again, or another node",
		text,
		revisionWait,
	)
}

// waitForRevision waits until the projection holds a revision, and reports whether it does.
func (s *Server) waitForRevision(ctx context.Context, n datastore.Revision) bool {
	arrived := errors.New("it is here")
	// Whatever is written, the watch reports how far the projection is.
	err := s.store.Watch(ctx, max(s.store.Revision(), 1), []datastore.Prefix{{Namespace: snapshot.Namespace}}, func(b datastore.Batch) error {
		if b.Revision >= n {
			return arrived
		}
		return nil
	})
	return errors.Is(err, arrived) || s.store.Revision() >= n
}

// openStoreID reads the id of the store, or creates one.
func (s *Server) openStoreID(ctx context.Context) error {
	e, err := datastore.Get(ctx, s.store, snapshot.Namespace, snapshot.IDKey)
	if err == nil {
		s.clusterID = string(e.Value)
		return nil
	}
	if !errors.Is(err, datastore.ErrNotFound) {
		return err
	}
	b := make([]byte, 6)
	_, _ = rand.Read(b)
	_, err = s.store.Commit(ctx, datastore.Txn{By: "controller",
		Compares: []datastore.Compare{{
			Namespace: snapshot.Namespace,
			Key:       snapshot.IDKey,
		}},
		Ops: []datastore.Op{datastore.Put(
			snapshot.Namespace,
			snapshot.IDKey,
			[]byte(hex.EncodeToString(b)),
		)}})
	if err != nil && !errors.Is(err, datastore.ErrConflict) { // another node was faster
		return err
	}
	e, err = datastore.Get(ctx, s.store, snapshot.Namespace, snapshot.IDKey)
	s.clusterID = string(e.Value)
	return err
}

// revisionWriter adds the revision that holds what a request wrote to its answer, or to a
// refusal when to ask again.
type revisionWriter struct {
	http.ResponseWriter
	s     *Server
	begun bool
}

func (w *revisionWriter) WriteHeader(status int) {
	if !w.begun && status >= 200 && status < 400 {
		// The commits of this request are in the projection before it is answered.
		b := make([]byte, 0, 40)
		b = append(append(b, w.s.clusterID...), '.')
		w.Header()[revisionHeader] = []string{string(strconv.AppendUint(b, uint64(w.s.store.Revision()), 10))}
	}
	if status == http.StatusServiceUnavailable && len(w.Header()["Retry-After"]) == 0 {
		w.Header().Set("Retry-After", "1")
	}
	w.begun = w.begun || status >= 200
	w.ResponseWriter.WriteHeader(status)
}

func (w *revisionWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController the connection.
func (w *revisionWriter) Unwrap() http.ResponseWriter {
	return w.ResponseWriter
}

func (w *revisionWriter) Flush() {
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// storeLimit bounds each call that waits for the datastore, and all that a write waits for
// it, here and in plugins, so that a request is answered within 5 s whatever the disk or the cluster does.
const storeLimit = 4500 * time.Millisecond
