package server

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What the outermost handler refuses has the form that clients of the path read.
func TestRefusalsHaveTheFormOfTheirPath(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		panic("oops")
	})
	front := outermostHandler(next, newIDs(), 10, &inFlight{}, 0, slog.New(slog.DiscardHandler))
	for _, row := range []struct {
		path, body string
		status     int
		kind, want string
	}{
		{"/rests/data", "longer than ten", 413, "application/yang-data+json", `{"ietf-restconf:errors":{"error":[{"error-message":"the body is larger than the limit of 10 bytes","error-tag":"too-big","error-type":"transport"}]}}`},
		{"/restconf/operations/a:b", "longer than ten", 413, "application/json", `{"errors":{"error":[{"error-message":"the body`},
		{"/auth/v1/users", "longer than ten", 413, "application/json", `{"code":413,"details":"the body is larger than the limit of 10 bytes","message":"Request Entity Too Large"}`},
		{"/restconfig", "longer than ten", 413, "application/json", `{"code":413,`},
		{"/restconf/modules", "", 500, "application/json", `"error-tag":"operation-failed"`},
		{"/", "", 500, "application/json", `{"code":500,"details":"internal error; the log has it under request`},
	} {
		w := httptest.NewRecorder()
		front.ServeHTTP(w, httptest.NewRequest(http.MethodPost, row.path, strings.NewReader(row.body)))
		if got := w.Body.String(); w.Code != row.status || w.Header().Get("Content-Type") != row.kind || !strings.Contains(got, row.want) || w.Header().Get("Content-Length") != "" {
			t.Errorf("%s: %d %v %s", row.path, w.Code, w.Header(), got)
		}
	}
}

// What access control cannot decide has the form of RFC 8040 below the roots of RESTCONF alone.
func TestUnusableRequestsHaveTheFormOfTheirPath(t *testing.T) {
	for path, want := range map[string]string{
		"/rests/data/x":   `{"ietf-restconf:errors":{"error":[{"error-message":"why","error-tag":"invalid-value","error-type":"transport"}]}}`,
		"/restconf/a":     `{"errors":{"error":[`,
		"/auth/v1/users":  "",
		"/restsomething/": "",
	} {
		w := httptest.NewRecorder()
		if did := answerUnusable(w, httptest.NewRequest(http.MethodGet, path, nil), 400, "why"); did != (want != "") || !strings.HasPrefix(w.Body.String(), want) {
			t.Errorf("%s: %v %s", path, did, w.Body)
		}
	}
}
