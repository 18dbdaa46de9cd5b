package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
)

// flow is the picture of one page of docs/dev: who takes part, and what passes between them in order.
type flow struct {
	name  string
	lanes []string
	steps []flowStep
}

// flowStep is an arrow between two lanes, or work in one lane where both are the same.
type flowStep struct {
	from, to int // indexes of lanes
	text     string
}

var flows = []flow{
	{
		name:  "flow-request",
		lanes: []string{"client", "server", "aaa", "restconf", "plugin", "process of the plugin"},
		steps: []flowStep{
			{0, 1, "request"},
			{1, 1, "limits, request id, act"},
			{1, 2, "canonical path"},
			{2, 2, "rules, realm, policies"},
			{2, 1, "caller, or 401 and 403"},
			{1, 3, "the mounted subtree"},
			{3, 3, "input against YANG"},
			{3, 4, "RPC, canonical JSON"},
			{4, 4, "place in the bulkhead"},
			{4, 5, "call with a deadline"},
			{5, 4, "output or fault"},
			{4, 3, "output"},
			{3, 3, "output against YANG"},
			{3, 1, "answer"},
			{1, 1, "record of the audit"},
			{1, 0, "status, body"},
		},
	},
	{
		name:  "flow-write",
		lanes: []string{"client", "restconf/tree", "owner of the tree", "makers of derived trees", "datastore", "projections"},
		steps: []flowStep{
			{0, 1, "PUT, PATCH, POST, DELETE"},
			{1, 1, "edit on a snapshot"},
			{1, 1, "result against YANG"},
			{1, 2, "Check: before, after"},
			{2, 1, "conditions, own keys"},
			{1, 3, "Check: the source"},
			{3, 1, "edits of their trees"},
			{1, 4, "one transaction"},
			{4, 4, "conditions, then commit"},
			{4, 5, "log of changes"},
			{5, 1, "revision is reached"},
			{1, 0, "204, Ctl-Revision"},
		},
	},
	{
		name:  "flow-plugin",
		lanes: []string{"operator", "feature", "plugin", "process", "process of the plugin"},
		steps: []flowStep{
			{0, 1, "feature:install NAME"},
			{1, 1, "dependencies, order"},
			{1, 0, "grants: asks first"},
			{1, 2, "wanted state"},
			{2, 3, "launch"},
			{3, 3, "user, Landlock, seccomp"},
			{3, 4, "start, handshake"},
			{4, 2, "manifest, link"},
			{2, 2, "modules, routes, commands"},
			{2, 4, "calls, health"},
			{4, 3, "crash"},
			{3, 2, "exit, last lines"},
			{2, 3, "restart, capped back-off"},
		},
	},
	{
		name:  "flow-cluster",
		lanes: []string{"client", "node A", "etcd", "node B, holds the role", "device"},
		steps: []flowStep{
			{3, 2, "lease, key of the role"},
			{0, 1, "request"},
			{1, 1, "decided and checked here"},
			{1, 3, "call, caller, epoch"},
			{3, 3, "term.Check"},
			{3, 4, "act"},
			{4, 3, "result"},
			{3, 2, "commit, if the key is ours"},
			{3, 1, "answer, revision"},
			{1, 2, "barrier: newest revision"},
			{2, 1, "log of changes"},
			{1, 0, "answer"},
		},
	},
	{
		name:  "flow-page",
		lanes: []string{"person", "page", "core/data", "core/events", "host"},
		steps: []flowStep{
			{0, 1, "opens an address"},
			{1, 2, "useData(path)"},
			{2, 4, "GET"},
			{4, 2, "JSON, revision"},
			{2, 1, "value or error"},
			{1, 0, "table, map, form"},
			{4, 3, "/web/events: a stream"},
			{3, 2, "what has changed"},
			{2, 4, "GET again"},
			{0, 1, "clicks"},
			{1, 4, "useAct: RPC or write"},
			{4, 1, "result or faults by path"},
		},
	},
}

const (
	flowLane = 190 // pixels between two lanes
	flowRow  = 34  // pixels between two steps
	flowHead = 64  // pixels above the first step
)

// drawFlows writes the pictures of docs/dev into a directory.
func drawFlows(dir string) error {
	for _, f := range flows {
		err := os.WriteFile(filepath.Join(dir, f.name+".svg"), []byte(f.svg()), 0o644)
		if err != nil {
			return err
		}
	}
	return nil
}

// svg draws the flow as a sequence diagram.
func (f flow) svg() string {
	width := flowLane * len(f.lanes)
	height := flowHead + flowRow*len(f.steps) + 24
	center := func(lane int) int { return flowLane*lane + flowLane/2 }
	var b strings.Builder
	fmt.Fprintf(
		&b,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" role="img" font-family="system-ui,DejaVu Sans,sans-serif" font-size="12">`+"\n",
		width,
		height,
	)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(f.describe()))
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#14181d"/>` + "\n")
	b.WriteString(`<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#7ee787"/></marker></defs>` + "\n")
	for i, name := range f.lanes {
		x := center(i)
		fmt.Fprintf(
			&b,
			`<rect x="%d" y="12" width="%d" height="28" rx="5" fill="#22303c" stroke="#4b5f70"/>`+"\n",
			x-flowLane/2+8,
			flowLane-16,
		)
		fmt.Fprintf(
			&b,
			`<text x="%d" y="30" fill="#e6edf3" text-anchor="middle">%s</text>`+"\n",
			x,
			html.EscapeString(name),
		)
		fmt.Fprintf(
			&b,
			`<line x1="%d" y1="40" x2="%d" y2="%d" stroke="#3a4550" stroke-dasharray="3 4"/>`+"\n",
			x,
			x,
			height-12,
		)
	}
	for i, s := range f.steps {
		y := flowHead + flowRow*i + 12
		text := fmt.Sprintf("%d  %s", i+1, html.EscapeString(s.text))
		if s.from == s.to {
			x := center(s.from)
			fmt.Fprintf(
				&b,
				`<rect x="%d" y="%d" width="%d" height="22" rx="4" fill="#1c232b" stroke="#7d8b99"/>`+"\n",
				x-flowLane/2+6,
				y-15,
				flowLane-12,
			)
			fmt.Fprintf(
				&b,
				`<text x="%d" y="%d" fill="#d7dde4" text-anchor="middle">%s</text>`+"\n",
				x,
				y,
				text,
			)
			continue
		}
		fmt.Fprintf(
			&b,
			`<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#7ee787" marker-end="url(#arrow)"/>`+"\n",
			center(s.from),
			y,
			center(s.to),
			y,
		)
		fmt.Fprintf(
			&b,
			`<text x="%d" y="%d" fill="#d7dde4" text-anchor="middle" paint-order="stroke" stroke="#14181d" stroke-width="4">%s</text>`+"\n",
			(center(s.from)+center(s.to))/2,
			y-5,
			text,
		)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// describe is the flow as text, for readers that cannot see the picture.
func (f flow) describe() string {
	var b strings.Builder
	for i, s := range f.steps {
		fmt.Fprintf(&b, "%d. %s", i+1, f.lanes[s.from])
		if s.to != s.from {
			b.WriteString(" to " + f.lanes[s.to])
		}
		b.WriteString(": " + s.text + "\n")
	}
	return b.String()
}
