package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"text/template"

	"ctl.internal/sdk/fault"
)

// Templates are the site's own forms of release notes: files of one directory, in the language of Go's text/template.
type Templates struct {
	Dir string // absolute; empty = none
}

// Bounds of a template and of what it writes.
const (
	maxTemplate = 256 << 10
	maxWritten  = 64 << 20
)

// Template is a template that was read.
type Template struct {
	name string
	text string
}

// Read reads a template by the name of its file.
func (t Templates) Read(name string) (*Template, error) {
	if t.Dir == "" {
		return nil, fault.At(
			fault.Invalid,
			"template",
			"there are no templates: set templates in etc/repoinfo.yaml",
		)
	}
	if strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		return nil, fault.At(
			fault.Invalid,
			"template",
			"Parameter template is the name of a file, without directories.",
		)
	}
	root, err := os.OpenRoot(t.Dir) // a link out of the directory is not followed
	if err != nil {
		return nil, fault.Wrap(
			fault.Unavailable,
			err,
			"the directory of templates cannot be read: %v",
			err,
		)
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.At(
			fault.NotFound,
			"template",
			"there is no template %s%s",
			name,
			listTemplates(root),
		)
	}
	if err != nil {
		return nil, fault.Wrap(
			fault.Unavailable,
			err,
			"the template %s cannot be read: %v",
			name,
			err,
		)
	}
	if !info.Mode().IsRegular() || info.Size() > maxTemplate {
		return nil, fault.New(
			fault.Malformed,
			"the template %s is no file of at most %d KiB",
			name,
			maxTemplate>>10,
		)
	}
	text, err := root.ReadFile(name)
	if err != nil {
		return nil, fault.Wrap(
			fault.Unavailable,
			err,
			"the template %s cannot be read: %v",
			name,
			err,
		)
	}
	return &Template{name: name, text: string(text)}, nil
}

// listTemplates names the templates that there are.
func listTemplates(root *os.Root) string {
	entries, err := fs.ReadDir(root.FS(), ".")
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	if err != nil || len(names) == 0 {
		return ""
	}
	return ": there are " + strings.Join(names[:min(len(names), 10)], ", ")
}

// ContentType is that of what the template writes, by the ending of its name.
func (t *Template) ContentType() string {
	switch path.Ext(t.name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".md":
		return "text/markdown; charset=utf-8"
	}
	return "text/plain; charset=utf-8"
}

// Key is all that the template adds to what an answer depends on.
func (t *Template) Key() string {
	return t.name + "\x00" + t.text
}

// functions are those that a template can call besides Go's own.
var functions = map[string]any{
	"day":      formatDay,
	"short":    shortenHash,
	"markdown": escapeMarkdown,
	"join": func(separator string, list []string) string {
		return strings.Join(list, separator)
	},
	"limit": func(n int, list []Entry) []Entry {
		return slices.Clone(list[:min(max(n, 0), len(list))])
	},
}

// Execute writes notes with the template. Values in a template whose name ends in .html are escaped.
func (t *Template) Execute(ctx context.Context, w io.Writer, n *Notes) error {
	out := &boundedWriter{ctx: ctx}
	var err error
	if path.Ext(t.name) == ".html" {
		var parsed *htmltemplate.Template
		parsed, err = htmltemplate.New(t.name).Funcs(functions).Parse(t.text)
		if err == nil {
			err = parsed.Execute(out, n)
		}
	} else {
		var parsed *template.Template
		parsed, err = template.New(t.name).Funcs(functions).Parse(t.text)
		if err == nil {
			err = parsed.Execute(out, n)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fault.Wrap(fault.Malformed, err, "the template cannot be used: %v", err)
	}
	_, err = out.buffer.WriteTo(w)
	return err
}

// boundedWriter keeps what a template writes until it is complete: an error must not follow half an answer.
type boundedWriter struct {
	ctx    context.Context
	buffer bytes.Buffer
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if w.buffer.Len()+len(p) > maxWritten {
		return 0, fmt.Errorf("it writes more than %d MiB", maxWritten>>20)
	}
	return w.buffer.Write(p)
}
