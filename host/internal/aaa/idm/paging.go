package idm

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/sdk/fault"
)

const maxLimit = 10_000

// page reads ?limit= and ?cursor=; without limit everything is answered.
func page(r *http.Request) (identity.Page, error) {
	var p identity.Page
	q := r.URL.Query()
	if s := q.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxLimit {
			return p, fault.At(fault.Invalid, "limit", "a number from 1 to %d is expected", maxLimit)
		}
		p.Limit = n
	}
	if s := q.Get("cursor"); s != "" {
		id, err := base64.RawURLEncoding.DecodeString(s)
		if err != nil || len(id) == 0 || len(id) > 2048 {
			return p, fault.At(fault.Invalid, "cursor", "take it from the Link header of the page before")
		}
		p.After = string(id)
	}
	return p, nil
}

// more asks for one entry beyond the page, to know whether another page follows.
func more(p identity.Page) identity.Page {
	if p.Limit > 0 {
		p.Limit++
	}
	return p
}

// link cuts the extra entry and announces the next page.
func link[T interface{ ID() string }](w http.ResponseWriter, r *http.Request, p identity.Page, list []T) []T {
	if p.Limit == 0 || len(list) <= p.Limit {
		return list
	}
	list = list[:p.Limit]
	q := url.Values{
		"limit":  {strconv.Itoa(p.Limit)},
		"cursor": {base64.RawURLEncoding.EncodeToString([]byte(list[len(list)-1].ID()))},
	}
	w.Header().Set("Link", "<"+r.URL.EscapedPath()+"?"+q.Encode()+`>; rel="next"`)
	return list
}
