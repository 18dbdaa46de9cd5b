package settings

import (
	"strings"
	"testing"
	"time"

	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

func TestCheckFindsEveryFault(t *testing.T) {
	s := Settings{ReviewURL: "https://u:hidden@review/", Listen: "5000", Review: Review{Username: "u"}, Mirror: Mirror{Interval: sdk.Duration{Duration: time.Second},
		Sources: []Source{{Project: "../x", URL: "ext::sh -c id"}, {Project: "a", URL: "ssh://-oProxyCommand=x/y"}, {Project: "a", URL: "https://u:hidden@x/"},
			{Project: "b", URL: "/srv/b.git", Username: "u", Password: "hidden"}, {Project: "c", URL: "--upload-pack=x"}}}}
	err := s.Check()
	if err == nil {
		t.Fatal("nothing found")
	}
	for _, want := range []string{"review_url:", "listen:", "review:", "mirror.interval:", "limits.walk_timeout:", "mirror.sources[../x]:", "mirror.sources[a]: the project is listed twice",
		"mirror.sources[a]: url must", "mirror.sources[b]: username", "mirror.sources[c]: url must"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not reported in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hidden") {
		t.Error("a secret is in the text")
	}
	if err := (&Settings{Mirror: Mirror{Review: true}}).Check(); err == nil || !strings.Contains(err.Error(), "review_url") {
		t.Errorf("mirroring from nowhere: %v", err)
	}
}

func TestBadAddressesOfTheReviewServer(t *testing.T) {
	for _, u := range []string{"review.example.org", "ftp://x/", "https://user:pw@x/", "https://x/?q=1", "https://"} {
		err := (&Settings{ReviewURL: u}).Check()
		if all := fault.All(err); err == nil || all[0].Path != "review_url" || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: %v", u, err)
		}
	}
}

func TestGoodSettings(t *testing.T) {
	for _, u := range []string{"https://x/y.git", "http://x/", "ssh://git@host:29418/p", "git://h/p", "file:///srv/p.git", "/srv/p.git"} {
		second := sdk.Duration{Duration: time.Second}
		s := Settings{Mirror: Mirror{Timeout: second, Sources: []Source{{Project: "p", URL: u}}}, Limits: Limits{WalkTimeout: second}, Review: Review{Timeout: second, Budget: second}}
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
}
