package api

import (
	"io"
	"net/http"
)

const about = `Repository information

GET git/branches?project=P
GET git/commits?project=P[&branch=B]
GET git/commits_since_ref?project=P&ref1=R1&ref2=R2
GET git/project_info?project=P
GET review/branches?project=P
GET review/changes?project=P[&branch=B]
GET review/projects
GET review/tags?project=P
`

// status answers the root: what can be asked.
func status(w http.ResponseWriter, r *http.Request, _ params) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(w, about)
	}
	return nil
}
