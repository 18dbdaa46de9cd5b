//go:build peers

package webpeers

import (
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"ctl.internal/test/harness"
)

// Whatever a link to the login page says, the login leads to a page of this origin.
func TestALoginStaysAtItsOrigin(t *testing.T) {
	ctx, _ := browser(t) // a path that is none is an error of the page
	c := harness.Start(t, bin, nil)
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/#/access"), logIn("admin", "admin"))
	for next, path := range map[string]string{
		"/": "/", "/#/access": "/", "/docs/x?y=1": "/docs/x",
		"/\t/evil.example/": "/", "\t//evil.example": "/", "//evil.example": "/", `/\evil.example`: "/", `\\evil.example`: "/",
		"https://evil.example/": "/", "https:evil.example": "/", "javascript:document.title='evil'": "/", "data:text/html,evil": "/",
		"/.//evil.example": "//evil.example", "/x/..//evil.example": "//evil.example", "/\n/evil.example": "/",
		"blob:" + c.HTTP + "/x": "/", "http://127.0.0.1:1/": "/", "http://" + c.HTTP[len("http://"):] + "@evil.example/": "/", "//": "/",
	} {
		run(ctx, t, "next", chromedp.Navigate(c.HTTP+"/login?next="+url.QueryEscape(next)))
		var origin, got string
		for got == "" || got == "/login" { // while the page is being replaced there is an error
			if chromedp.Run(ctx, chromedp.Evaluate("location.pathname", &got), chromedp.Evaluate("location.origin", &origin)) != nil {
				got = ""
			}
			if ctx.Err() != nil {
				t.Fatalf("next=%q leads nowhere", next)
			}
		}
		if origin != c.HTTP || got != path {
			t.Errorf("next=%q leads to %s%s, want %s%s", next, origin, got, c.HTTP, path)
		}
	}
}
