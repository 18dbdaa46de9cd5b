// Package settings is etc/repoinfo.yaml in Go. Form and defaults are in the
// schema of plugin.yaml, which the host applies; what a schema cannot say is
// checked here.
package settings

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"ctl.internal/plugins/repoinfo/refname"
	"ctl.internal/sdk"
	"ctl.internal/sdk/fault"
)

// Settings are all of them.
type Settings struct {
	Clones            string   `json:"clones"`
	ReviewURL         string   `json:"review_url"`
	Review            Review   `json:"review"`
	Mirror            Mirror   `json:"mirror"`
	Listen            string   `json:"listen"`
	Renames           bool     `json:"renames"`
	SkipReviewCommits bool     `json:"skip_review_commits"`
	AllRefs           bool     `json:"all_refs"`
	PathsOnly         bool     `json:"paths_only"`
	Mailmap           string   `json:"mailmap"`
	Affiliations      string   `json:"affiliations"`
	Machines          []string `json:"machines"`
	Alternates        []string `json:"alternates"` // not read here: the host grants these directories
	Templates         string   `json:"templates"`
	Links             Links    `json:"links"`
	Limits            Limits   `json:"limits"`
	Git               string   `json:"git"`
}

// Review is how the review server is asked.
type Review struct {
	Username string       `json:"username"`
	Password string       `json:"password"`
	Timeout  sdk.Duration `json:"timeout"`
	Budget   sdk.Duration `json:"budget"`
	Fresh    sdk.Duration `json:"fresh"`
}

// Mirror is what is mirrored.
type Mirror struct {
	Review   bool         `json:"review"`
	Sources  []Source     `json:"sources"`
	Interval sdk.Duration `json:"interval"`
	Parallel int          `json:"parallel"`
	Timeout  sdk.Duration `json:"timeout"`
}

// Source is one repository to mirror.
type Source struct {
	Project  string `json:"project"`
	URL      string `json:"url"`
	Username string `json:"username"`
	Password string `json:"password"`
}

// Links are the addresses of web pages of commits and changes.
type Links struct {
	Commit string `json:"commit"`
	Change string `json:"change"`
}

// Limits bound what requests may cost.
type Limits struct {
	Page         int          `json:"page"`
	Walks        int          `json:"walks"`
	Queue        int          `json:"queue"`
	WalkTimeout  sdk.Duration `json:"walk_timeout"`
	MessageBytes int          `json:"message_bytes"`
	AnswerBytes  int64        `json:"answer_bytes"`
	ReviewBytes  int64        `json:"review_bytes"`
}

// Check finds every fault that the schema lets through.
func (s *Settings) Check() error {
	var faults fault.List
	add := func(path, text string, args ...any) {
		faults = append(faults, fault.At(fault.Invalid, path, text, args...))
	}
	if s.ReviewURL == "" && s.Mirror.Review {
		add("mirror.review", "there is no review server to mirror from: set review_url")
	}
	if s.ReviewURL != "" && !plainHTTP(s.ReviewURL) {
		add(
			"review_url",
			"it must be an http or https address without credentials, query and fragment",
		)
	}
	if (s.Review.Username == "") != (s.Review.Password == "") {
		add("review", "username and password go together")
	}
	checkLink := func(path, address, value string) {
		if address != "" && (!webAddress(address) || !strings.Contains(address, value)) {
			add(path, "it must be an http or https address that contains %s", value)
		}
	}
	checkLink("links.commit", s.Links.Commit, "{hash}")
	checkLink("links.change", s.Links.Change, "{change_id}")
	if s.Listen != "" {
		if _, _, err := net.SplitHostPort(s.Listen); err != nil {
			add("listen", "it must be ADDRESS:PORT, such as 127.0.0.1:5000")
		}
	}
	i := s.Mirror.Interval.Duration
	if i > 0 && i < 10*time.Second {
		add("mirror.interval", "it must be at least 10s, or 0s for never")
	}
	for _, d := range []struct {
		path  string
		value sdk.Duration
	}{{"limits.walk_timeout", s.Limits.WalkTimeout}, {"mirror.timeout", s.Mirror.Timeout}, {"review.timeout",
		s.Review.Timeout}, {"review.budget", s.Review.Budget}} {
		if d.value.Duration <= 0 {
			add(d.path, "it must be longer than nothing")
		}
	}
	seen := map[string]bool{}
	for _, src := range s.Mirror.Sources {
		path := "mirror.sources[" + src.Project + "]"
		if err := refname.Project(src.Project); err != nil {
			add(path, "%s", fault.All(err)[0].Text)
		}
		if seen[src.Project] {
			add(path, "the project is listed twice")
		}
		seen[src.Project] = true
		if !gitAddress(src.URL) {
			add(
				path,
				"url must be a http, https, ssh, git or file address without a password, or an absolute path (ssh://git@host/path, not git@host:path); credentials go into username and password",
			)
		}
		if src.Username != "" && !plainHTTP(src.URL) {
			add(path, "username and password are for http and https only")
		}
	}
	return faults.Err()
}

func plainHTTP(address string) bool {
	u, err := url.Parse(address)
	return err == nil &&
		(u.Scheme == "http" || u.Scheme == "https") &&
		u.Host != "" &&
		u.User == nil &&
		u.RawQuery == "" &&
		u.Fragment == ""
}

// webAddress reports whether an address of a web page can be linked; it may have placeholders, a query and a fragment.
func webAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil &&
		(u.Scheme == "http" || u.Scheme == "https") &&
		u.Host != "" &&
		u.User == nil
}

func gitAddress(address string) bool {
	if strings.ContainsAny(address, "\x00\n") {
		return false
	}
	if filepath.IsAbs(address) {
		return true
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return plainHTTP(address)
	case "file":
		return u.Host == "" && u.Path != ""
	case "git", "ssh":
		_, password := u.User.Password()
		return u.Host != "" && !strings.HasPrefix(u.Host, "-") && !password && !strings.HasPrefix(u.User.Username(),
			"-")
	}
	return false
}
