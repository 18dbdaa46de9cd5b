package restconf

import (
	"context"
	"net/http"

	"ctl.internal/host/internal/aaa/reqpath"
	"ctl.internal/sdk/fault"
)

// onlyKey marks requests of a listener that serves /restconf and nothing else.
type onlyKey struct{}

// Only hands on what lies below /restconf, and where that is found: it is for clients of
// RESTCONF whose root is /restconf at a port of its own. Rules hold by resource, so next
// decides about a request as on the other listeners.
func Only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, err := reqpath.Parse(r)
		below := err == nil && len(path.Segments()) > 0
		if !below || !servesAlone(path.Segments()[0].Decoded) {
			x := &exchange{Handler: &Handler{}, w: w, r: r, env: legacy}
			const text = "this address serves /restconf alone; the rest is at listeners.http or listeners.https"
			x.answerError(fault.New(fault.NotFound, text))
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), onlyKey{}, true)))
	})
}

// servesAlone reports whether a first segment is served where RESTCONF is served alone.
func servesAlone(first string) bool {
	return first == "restconf" || first == "subscriptions" || first == ".well-known"
}

// discoveredRoot is the root of RFC 8040 that is returned to a client of this listener.
func (x *exchange) discoveredRoot() string {
	if alone, _ := x.r.Context().Value(onlyKey{}).(bool); alone {
		return legacy.root
	}
	return rfc8040.root
}
