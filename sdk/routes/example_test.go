package routes_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"ctl.internal/sdk/caller"
)

// A plugin returns an http.Handler in sdk.Plugin.Routes. The paths have the prefix of the subtree in
// plugin.yaml, and the host has found out who calls before the first byte arrives.
func Example() {
	handler := http.NewServeMux()
	handler.HandleFunc("GET /greeter/hello", func(w http.ResponseWriter, r *http.Request) {
		who, _ := caller.From(r.Context())
		fmt.Fprintf(w, "hello %s\n", who.User)
	})

	r := httptest.NewRequest("GET", "/greeter/hello", nil)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r.WithContext(caller.With(r.Context(), caller.Caller{User: "ann"})))
	fmt.Print(w.Code, " ", w.Body)
	// Output: 200 hello ann
}
