// Command docsite makes the documentation site that ctld serves under /docs/: the pages of docs/, and a
// reference that is asked of a controller which it starts for it. Nothing is fetched.
package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

//go:embed static
var static embed.FS

// maxSite bounds the site, in bytes: it is part of every installation.
const maxSite = 15 << 20

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[0] == "site":
		err = buildSite(args[1], args[2])
	case len(args) == 3 && args[0] == "pictures":
		err = drawPictures(args[1], args[2])
	default:
		err = errors.New("usage: docsite site BIN OUT | docsite pictures BIN DIR, from the top of the tree")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "docsite:", err)
		os.Exit(1)
	}
}

// page is a page of the site: Markdown, and where it stands in the menu.
type page struct {
	Name, Title, Group string
	markdown           []byte
}

// groups of the menu, with their pages in order; what is not named here comes under the last.
var groups = []struct {
	title string
	pages []string
}{
	{"Begin", []string{"index", "tutorial-first-network", "tutorial-vendor-driver", "tutorial-bier", "from-opendaylight"}},
	{"Operate", []string{"operating", "console", "monitoring", "notifications", "packages", "cluster", "certificates"}},
	{"Access", []string{"access-control", "realms"}},
	{"Networks", []string{"switch-operations", "switch-discovery", "switch-vendor-xml", "switch-models", "openflow", "labs", "bier", "repoinfo", "restconf"}},
	{"Write plugins", []string{"plugin-author", "switch-driver", "bier-driver", "contract-changelog"}},
	{"Reference", []string{"reference-commands", "reference-settings", "reference-features", "reference-yang", "reference-metrics", "reference-errors"}},
	{"The project", []string{"changelog", "security"}},
	{"More", nil},
}

func buildSite(bin, out string) error {
	pages, err := readPages("docs")
	if err != nil {
		return err
	}
	reference, err := buildReference(bin)
	if err != nil {
		return fmt.Errorf("the reference: %w", err)
	}
	pages = append(pages, reference...)
	next := out + ".new"
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := os.MkdirAll(next, 0o755); err != nil {
		return err
	}
	if err := renderPages(pages, next); err != nil {
		return err
	}
	assets, err := fs.Sub(static, "static")
	if err != nil {
		return err
	}
	if err := os.CopyFS(next, assets); err != nil {
		return err
	}
	for _, dir := range []string{"pictures", "monitoring"} {
		err := os.CopyFS(filepath.Join(next, dir), os.DirFS(filepath.Join("docs", dir)))
		if err != nil {
			return err
		}
	}
	size := int64(0)
	err = filepath.WalkDir(next, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err == nil && size > maxSite {
		err = fmt.Errorf("the site has %d bytes, at most %d", size, maxSite)
	}
	if err != nil {
		return err
	}
	fmt.Printf("%d pages, %d KiB\n", len(pages), size>>10)
	return errors.Join(os.RemoveAll(out), os.Rename(next, out))
}

// readPages reads the pages of a directory, and those of the top of the tree that its users need, too.
func readPages(dir string) ([]page, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		return nil, err
	}
	files = append(files, "CHANGELOG.md", "SECURITY.md")
	var out []page
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		out = append(out, newPage(strings.ToLower(strings.TrimSuffix(filepath.Base(f), ".md")), b))
	}
	return out, nil
}

func newPage(name string, markdown []byte) page {
	p := page{
		Name:     name,
		Title:    name,
		Group:    groups[len(groups)-1].title,
		markdown: markdown,
	}
	if line, _, ok := bytes.Cut(markdown, []byte("\n")); ok {
		p.Title = strings.TrimSpace(strings.TrimPrefix(string(line), "# "))
	}
	for _, g := range groups {
		if slices.Contains(g.pages, name) {
			p.Group = g.title
		}
	}
	return p
}

// found is what the search looks through: one section of a page.
type found struct {
	URL   string `json:"u"`
	Title string `json:"t"`
	Text  string `json:"x"`
	// Kind is "task" for what somebody wants to do, "reference" for what is looked up, else empty.
	Kind string `json:"k,omitempty"`
}

var (
	toPage    = regexp.MustCompile(`href="(?:\.\./|docs/)?([A-Za-z0-9-]+)\.md(#[^"]*)?"`)
	outside   = regexp.MustCompile(`<a href="\.\./[^"]*">(.*?)</a>`)
	heading   = regexp.MustCompile(`(?s)<h[12] id="([^"]*)">(.*?)</h[12]>`)
	taskRow   = regexp.MustCompile(`(?s)<tr>\s*<td>(.*?)</td>\s*<td>(.*?)</td>\s*</tr>`)
	firstLink = regexp.MustCompile(`href="([^"]*)"`)
	tag       = regexp.MustCompile(`<[^>]*>`)
	blanks    = regexp.MustCompile(`\s+`)
)

// renderPages writes the pages and the index of the search.
func renderPages(pages []page, out string) error {
	layout, err := template.ParseFS(static, "static/page.tmpl")
	if err != nil {
		return err
	}
	md := goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	)
	type link struct {
		Name, Title string
	}
	type section struct {
		Title string
		Pages []link
	}
	var menu []section
	for _, g := range groups {
		s := section{Title: g.title}
		for _, p := range pages {
			if p.Group == g.title {
				s.Pages = append(s.Pages, link{p.Name, p.Title})
			}
		}
		slices.SortFunc(s.Pages, func(a, b link) int {
			return slices.Index(g.pages, a.Name) - slices.Index(g.pages, b.Name)
		})
		if len(s.Pages) > 0 {
			menu = append(menu, s)
		}
	}
	var index []found
	for _, p := range pages {
		var body bytes.Buffer
		if err := md.Convert(p.markdown, &body); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		text := linkPages(body.String(), pages)
		text = outside.ReplaceAllString(text, "<code>$1</code>") // of the source tree, which is not here
		if p.Name == "index" {
			index = append(index, splitTasks(text)...)
		}
		index = append(index, splitSections(p, text)...)
		var whole bytes.Buffer
		err := layout.Execute(
			&whole,
			map[string]any{
				"Title": p.Title,
				"Name":  p.Name,
				"Menu":  menu,
				"Body":  template.HTML(text),
			},
		)
		if err == nil {
			err = os.WriteFile(filepath.Join(out, p.Name+".html"), whole.Bytes(), 0o644)
		}
		if err != nil {
			return err
		}
	}
	b, err := json.Marshal(index)
	return errors.Join(err, os.WriteFile(filepath.Join(out, "search.json"), b, 0o644))
}

// linkPages turns links to files of the tree that are pages here into links to these pages.
func linkPages(text string, pages []page) string {
	return toPage.ReplaceAllStringFunc(text, func(link string) string {
		parts := toPage.FindStringSubmatch(link)
		name := strings.ToLower(parts[1])
		isThisPage := func(p page) bool {
			return p.Name == name
		}
		if !slices.ContainsFunc(pages, isThisPage) {
			return link
		}
		return `href="` + name + ".html" + parts[2] + `"`
	})
}

// splitTasks finds the tasks of the first page: the rows of its table, each with its first link.
func splitTasks(body string) []found {
	var out []found
	for _, row := range taskRow.FindAllStringSubmatch(body, -1) {
		link := firstLink.FindStringSubmatch(row[2])
		if link == nil {
			continue
		}
		out = append(out, found{
			URL:   link[1],
			Title: "I want to " + plainText(row[1]),
			Text:  plainText(row[2]),
			Kind:  "task",
		})
	}
	return out
}

// kindOf is what a section of a page is for the search.
func kindOf(p page) string {
	if strings.HasPrefix(p.Name, "reference-") || p.Name == "contract-changelog" {
		return "reference"
	}
	return ""
}

// splitSections divides a page at its headings.
func splitSections(p page, body string) []found {
	var out []found
	heads := heading.FindAllStringSubmatchIndex(body, -1)
	for i, h := range heads {
		end := len(body)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		title := plainText(body[h[4]:h[5]])
		if title != p.Title {
			title = p.Title + ": " + title
		}
		out = append(out, found{
			URL:   p.Name + ".html#" + body[h[2]:h[3]],
			Title: title,
			Text:  plainText(body[h[1]:end]),
			Kind:  kindOf(p),
		})
	}
	return out
}

func plainText(text string) string {
	return strings.TrimSpace(blanks.ReplaceAllString(
		html.UnescapeString(tag.ReplaceAllString(text, " ")),
		" ",
	))
}
