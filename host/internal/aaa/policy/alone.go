package policy

import (
	"net/http"

	"ctl.internal/host/internal/aaa/reqpath"
)

// AllowsAlone is Allows without the policies about what is below the path.
func (e *Engine) AllowsAlone(method string, path reqpath.Path, roles []string) bool {
	x := e.now.Load()
	if x == nil || method == http.MethodOptions {
		return x != nil
	}
	a, known := actionOf(method)
	p := x.first(path.Segments())
	return p == nil || known && p.permits(a, roles)
}
