package api

import (
	"context"
	"net/http"

	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/refname"
)

// gitCommitsSinceRef answers /git/commits_since_ref: the commits of ref1 down to
// the common parent of ref1 and ref2, which itself is left out.
func (a *API) gitCommitsSinceRef(w http.ResponseWriter, r *http.Request, p params) error {
	l, err := a.listing(p, r.Header.Get("Accept"))
	if err != nil {
		return err
	}
	refs := make([]string, 2)
	for i, name := range []string{"ref1", "ref2"} {
		if refs[i], err = p.required(name); err != nil {
			return err
		}
		if err := refname.Ref(name, refs[i]); err != nil {
			return err
		}
	}
	return a.list(w, r, p, &l, func(ctx context.Context, repo history.Repo) (tip, base string, err error) {
		return repo.Since(ctx, refs[0], refs[1])
	})
}
