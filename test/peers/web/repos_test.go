//go:build peers

package webpeers

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ctl.internal/plugins/repoinfo/gittest"
	"ctl.internal/test/harness"
)

// releasedProject is a repository with the releases v1, of the branch stable, and v2: one commit is picked to stable, one repairs what stable has.
func releasedProject(t *testing.T, dir string) (fix string) {
	t.Helper()
	g := gittest.New(t, dir)
	var s gittest.Stream
	base := s.Add(gittest.Commit{Author: "Ada <ada@corp.example>", Message: "Base\n", Files: map[string]string{"lib/base": "1\n"}})
	s.Add(gittest.Commit{Branch: "stable", Parents: []int{base}, Message: "Picked\n", Files: map[string]string{"a": "1\n"}})
	s.Add(gittest.Commit{Message: "Picked\n", Files: map[string]string{"a": "1\n"}})
	g.Import(s.String())
	g.Git("tag", "v1", "stable")
	var more gittest.Stream
	more.Raw("reset refs/heads/work\nfrom refs/heads/master\n\n")
	more.Add(gittest.Commit{Branch: "work", Author: "New <new@lab.example>", When: 1_600_000_000, Message: "Repairs base\n\nFixes: " + g.Head("master~1")[:12] + " (\"Base\")\n", Files: map[string]string{"lib/base": "2\n"}})
	g.Import(more.String())
	g.Git("update-ref", "refs/heads/master", "refs/heads/work")
	g.Git("update-ref", "-d", "refs/heads/work")
	g.Git("tag", "v2", "master")
	return g.Head("v2")
}

// figure waits until the page shows a number with its name.
func figure(text string) chromedp.Action {
	return until(fmt.Sprintf(`[...document.querySelectorAll('.numbers li')].some(l => l.textContent.trim() === %q)`, text))
}

// Each part of the page Repos: what it shows of a release, links to commits, pictures and texts that are saved, and an
// address that another browser opens.
func TestRepositoryPages(t *testing.T) {
	ctx, complaints := browser(t)
	c := harness.Start(t, bin, map[string]string{"repoinfo.yaml": "links: {commit: 'https://git.example/{project}/{hash}'}\n"})
	fix := releasedProject(t, filepath.Join(c.Home, "data", "repos", "p.git"))
	c.Ctl("feature:install --grant ctl-repoinfo")
	link := until(fmt.Sprintf(`document.querySelector('main a[href="https://git.example/p/%s"]')`, fix))
	var svg, notes, address string
	var size []int
	run(ctx, t, "login", chromedp.Navigate(c.HTTP+"/#/repos"), logIn("admin", "admin"), figure("3 commits"), shows("Commits by month"), until(`document.querySelectorAll('svg.picture text').length > 3`))
	run(ctx, t, "repos-picture", chromedp.Evaluate(`window.saved = []; { const f = URL.createObjectURL; URL.createObjectURL = b => { saved.push(b); return f.call(URL, b) } }`, nil),
		press("SVG"), until(`saved.length === 1`), evaluate(`saved[0].text()`, &svg), press("PNG"), until(`saved.length === 2`), evaluate(`createImageBitmap(saved[1]).then(b => [b.width, b.height])`, &size))
	if !strings.Contains(svg, "<title>2020-09: 1 commits</title>") || strings.Contains(svg, "var(") || len(size) != 2 || size[0] != 1920 {
		t.Errorf("the PNG has %v points, the SVG is\n%s", size, svg)
	}
	run(ctx, t, "repos-authors", press("Authors"), cell("new@lab.example"), cell("lab.example"))
	run(ctx, t, "repos-organizations", press("Organizations"), cell("corp.example"))
	run(ctx, t, "repos-files", press("Files"), cell("lib/base"))
	run(ctx, t, "repos-new", press("New in a release"), shows("Enter the release to compare with"), fill("Projects", "p"), fill("Release", "v2"), fill("Compared with", "v1"), shows("Repairs base"), figure("1 left out"), cell("patch id"), link)
	run(ctx, t, "repos-notes", press("Release notes"), shows("Release notes of v2"), shows("First contributions"), link)
	run(ctx, t, "repos-source", chromedp.Evaluate(`(() => { const s = [...document.querySelectorAll('main select')].at(-1); s.value = 'source'; s.dispatchEvent(new Event('change', {bubbles: true})) })()`, nil),
		shows("# Release notes of v2"), chromedp.Evaluate(`document.querySelector('main pre').textContent`, &notes), chromedp.Location(&address))
	if !strings.Contains(notes, "https://git.example/p/"+fix) {
		t.Errorf("the notes do not link the commit:\n%s", notes)
	}
	run(ctx, t, "repos-compare", press("Releases compared"), shows("Bus factor"), shows("Elephant factor"), shows("Commits by organization"), cell("New"), shows("newcomers"))
	run(ctx, t, "repos-backports", press("Missed backports"), shows("Enter a branch"), fill("Branch", "stable"), figure("1 missed backport"), shows(`("Base"), which stable has`), shows("no review server is configured"), link)
	run(ctx, t, "repos-shared", chromedp.Navigate("about:blank"), chromedp.Navigate(address), shows("# Release notes of v2"))
	noComplaints(t, complaints())
}
