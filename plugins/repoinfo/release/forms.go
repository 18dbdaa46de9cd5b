package release

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/sdk/commands"
)

// Text lays the answer out for a terminal.
func (n *News) Text() string { return n.document().text() }

// Markdown writes the answer as Markdown.
func (n *News) Markdown(w io.Writer) error {
	return n.document().markdown(w)
}

// HTML writes the answer as one self-contained page.
func (n *News) HTML(w io.Writer) error {
	return n.document().html(w)
}

// Text lays the answer out for a terminal.
func (b *Backports) Text() string { return b.document().text() }

// Markdown writes the answer as Markdown.
func (b *Backports) Markdown(w io.Writer) error {
	return b.document().markdown(w)
}

// HTML writes the answer as one self-contained page.
func (b *Backports) HTML(w io.Writer) error {
	return b.document().html(w)
}

// Text lays the answer out for a terminal.
func (n *Notes) Text() string { return n.document().text() }

// Markdown writes the answer as Markdown.
func (n *Notes) Markdown(w io.Writer) error {
	return n.document().markdown(w)
}

// HTML writes the answer as one self-contained page.
func (n *Notes) HTML(w io.Writer) error {
	return n.document().html(w)
}

// Text lays the answer out for a terminal.
func (c *Comparison) Text() string {
	return c.document().text()
}

// Markdown writes the answer as Markdown.
func (c *Comparison) Markdown(w io.Writer) error {
	return c.document().markdown(w)
}

// HTML writes the answer as one self-contained page.
func (c *Comparison) HTML(w io.Writer) error {
	return c.document().html(w)
}

// nameRef is how a reference is named that may be absent.
func nameRef(ref string) string {
	return cmp.Or(ref, "the default branch")
}

// commitCell is a commit with its link.
func (e Entry) commitCell() cell {
	return cell{Text: e.Short(), URL: e.URL}
}

func (n *News) document() *document {
	d := &document{
		Title: fmt.Sprintf("New in %s since %s", nameRef(n.Ref1), n.Ref2),
		Figures: []figure{
			{"Projects", len(n.Projects)},
			{"New commits", n.Commits},
			{"Left out", n.LeftOut},
		},
	}
	if n.LeftOut > 0 {
		d.Notes = append(
			d.Notes,
			fmt.Sprintf("%d commits are left out: %s has the same changes.", n.LeftOut, n.Ref2),
		)
	}
	if n.Uncompared > 0 {
		d.Notes = append(d.Notes, describeUncompared(n.Uncompared))
	}
	for _, p := range n.Projects {
		s := section{
			Title:   p.Project,
			Columns: []column{{Name: "Commit"}, {Name: "Date"}, {Name: "Subject"}, {Name: "By"}},
		}
		for _, e := range p.Commits {
			s.Rows = append(s.Rows, []cell{
				e.commitCell(),
				{Text: formatDay(e.When)},
				{Text: e.Subject},
				{Text: e.By()},
			})
		}
		out := section{
			Title:   p.Project + ": left out",
			Columns: []column{{Name: "Commit"}, {Name: "Same as"}, {Name: "By"}, {Name: "Subject"}},
		}
		for _, e := range p.LeftOut {
			out.Rows = append(out.Rows, []cell{
				e.commitCell(),
				{Text: shortenHash(e.SameAs), URL: e.SameURL},
				{Text: strings.ReplaceAll(string(e.Reason), "_", " ")},
				{Text: e.Subject},
			})
		}
		d.Sections = append(d.Sections, s, out)
	}
	d.Sections = append(d.Sections, failedSection(n.Failed))
	return d
}

func describeUncompared(n int) string {
	return fmt.Sprintf("The changes of %d commits could not be compared: objects are missing.", n)
}

func (b *Backports) document() *document {
	d := &document{
		Title:   fmt.Sprintf("Commits of %s that %s lacks", nameRef(b.From), b.Branch),
		Figures: []figure{{"Projects", len(b.Projects)}, {"Missed backports", b.Missed}},
	}
	for _, p := range b.Projects {
		if p.Review != reviewAsked {
			d.Notes = append(
				d.Notes,
				fmt.Sprintf("%s: the review server was %s.", p.Project, p.Review),
			)
		}
		s := section{
			Title:   p.Project,
			Columns: []column{{Name: "Commit"}, {Name: "Date"}, {Name: "Subject"}, {Name: "Reason"}},
		}
		for _, m := range p.Missed {
			s.Rows = append(s.Rows, []cell{
				m.commitCell(),
				{Text: formatDay(m.When)},
				{Text: m.Subject},
				{Text: m.ReasonText()},
			})
		}
		d.Sections = append(d.Sections, s)
	}
	d.Sections = append(d.Sections, failedSection(b.Failed))
	return d
}

func (n *Notes) document() *document {
	d := &document{
		Title: n.Title,
		Figures: []figure{
			{"Projects", len(n.Projects)},
			{"Commits", n.Commits},
			{"People", len(n.People)},
			{"Organizations", len(n.Organizations)},
			{"First contributions", len(n.First)},
		},
	}
	if n.LeftOut > 0 {
		d.Notes = append(
			d.Notes,
			fmt.Sprintf("%d commits are left out: %s has the same changes.", n.LeftOut, n.Ref2),
		)
	}
	if n.Reverted > 0 {
		text := fmt.Sprintf(
			"%d commits are left out: they were reverted, or they revert.",
			n.Reverted,
		)
		d.Notes = append(d.Notes, text)
	}
	withProject := n.GroupedBy != GroupByProject && len(n.Projects) > 1
	for _, g := range n.Groups {
		s := section{Title: g.Name}
		for _, e := range g.Entries {
			s.Rows = append(s.Rows, e.noteRow(withProject))
		}
		d.Sections = append(d.Sections, s)
	}
	machines := section{Title: "By programs"}
	for _, e := range n.Machines {
		machines.Rows = append(machines.Rows, e.noteRow(len(n.Projects) > 1))
	}
	firsts := section{Title: "First contributions"}
	for _, f := range n.First {
		row := []cell{{Text: f.Name + ":"}, {Text: f.Entry.Subject}, {
			Text: f.Entry.Short(),
			URL:  f.Entry.URL,
		}}
		firsts.Rows = append(firsts.Rows, row)
	}
	d.Sections = append(d.Sections, machines, firsts, n.peopleSection(), failedSection(n.Failed))
	return d
}

// noteRow is a commit in a list of the notes.
func (e Entry) noteRow(withProject bool) []cell {
	var row []cell
	if withProject {
		row = append(row, cell{Text: e.Project + ":"})
	}
	row = append(row, cell{Text: e.Subject}, e.commitCell())
	if e.ChangeURL != "" {
		row = append(row, cell{
			Text: "review",
			URL:  e.ChangeURL,
		})
	}
	return append(row, cell{Text: "by " + e.By()})
}

func (n *Notes) peopleSection() section {
	s := section{Title: "Thanks to"}
	for _, p := range n.People {
		s.Rows = append(s.Rows, rowOf(p.Name))
	}
	return s
}

func (c *Comparison) document() *document {
	later, earlier := c.Releases[0], c.Releases[1]
	d := &document{Title: fmt.Sprintf("%s beside %s", later.Ref, earlier.Ref)}
	for _, s := range c.Releases {
		since := "from the beginning"
		if s.Before != "" {
			since = "since " + s.Before
		}
		d.Notes = append(d.Notes, fmt.Sprintf("%s: what it has %s, without merges.", s.Ref, since))
		if s.Uncompared > 0 {
			d.Notes = append(d.Notes, s.Ref+": "+describeUncompared(s.Uncompared))
		}
	}
	number := func(name string, value func(*Side) int) []cell {
		return rowOf(name, strconv.Itoa(value(&later)), strconv.Itoa(value(&earlier)))
	}
	figures := section{Title: "Figures", Columns: c.columns("")}
	figures.Rows = [][]cell{
		number("Projects", func(s *Side) int { return s.Projects }),
		number("Commits", func(s *Side) int { return s.Commits }),
		number("of them by programs", func(s *Side) int { return s.MachineCommits }),
		number("Left out: the release before has them", func(s *Side) int {
			return s.Picked
		}),
		number("People", func(s *Side) int { return s.People }),
		number("Organizations", func(s *Side) int { return s.Organizations }),
		number("Newcomers", func(s *Side) int { return s.Newcomers }),
		number("Bus factor", func(s *Side) int { return s.BusFactor }),
		number("Elephant factor", func(s *Side) int { return s.ElephantFactor }),
		number("Commits by people without organization", func(s *Side) int {
			return s.UnaffiliatedCommits
		}),
		rowOf("First commit", formatDay(later.First), formatDay(earlier.First)),
		rowOf("Last commit", formatDay(later.Last), formatDay(earlier.Last)),
	}
	d.Sections = append(d.Sections, figures)
	for _, l := range c.lists() {
		s := section{Title: l.title, Columns: c.columns("Name")}
		if size := c.Sizes[l.name]; size > len(l.shares) {
			s.Title += fmt.Sprintf(" (%d of %d)", len(l.shares), size)
		}
		for _, share := range l.shares {
			counts := share.Commits
			s.Rows = append(
				s.Rows,
				rowOf(share.label(), strconv.Itoa(counts[0]), strconv.Itoa(counts[1])),
			)
		}
		d.Sections = append(d.Sections, s)
	}
	meaning := section{Title: "Definitions"}
	for _, name := range []string{"commits", "newcomers", "lost", "bus_factor", "elephant_factor"} {
		meaning.Rows = append(
			meaning.Rows,
			rowOf(strings.ReplaceAll(name, "_", " ")+": "+c.Definitions[name]),
		)
	}
	d.Sections = append(d.Sections, meaning, failedSection(c.Failed))
	return d
}

func (c *Comparison) columns(first string) []column {
	return []column{
		{Name: first},
		{Name: c.Releases[0].Ref, Right: true},
		{Name: c.Releases[1].Ref, Right: true},
	}
}

// label is how a person or an organization is shown.
func (s Share) label() string {
	text := s.Name
	if s.Organization != "" {
		text += ", " + s.Organization
	}
	return text
}

// shareList is one list of a comparison.
type shareList struct {
	name, title string
	shares      []Share
}

func (c *Comparison) lists() []shareList {
	return []shareList{
		{"newcomers", "Newcomers", c.Newcomers},
		{"lost", "Lost", c.Lost},
		{"new_organizations", "New organizations", c.NewOrganizations},
		{"lost_organizations", "Lost organizations", c.LostOrganizations},
		{"organizations", "Organizations", c.Organizations},
		{"people", "People", c.People},
	}
}

// writeTable writes rows of CSV; no cell is run as a formula by a spreadsheet.
func writeTable(w io.Writer, rows [][]string) error {
	out := csv.NewWriter(w)
	for _, row := range rows {
		for i := range row {
			row[i] = commands.CSVCell(row[i])
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// failedRows are the projects that are missing, in rows of so many columns.
func failedRows(failed []report.Failed, columns int) (rows [][]string) {
	for _, f := range failed {
		row := make([]string, columns)
		row[0], row[1], row[2] = "failed", f.Project, f.Error
		rows = append(rows, row)
	}
	return rows
}

// row is a commit as the beginning of a row.
func (e Entry) row(kind string) []string {
	var email, organization string
	if len(e.Authors) > 0 {
		email, organization = e.Authors[0].Email, e.Authors[0].Organization
	}
	when := ""
	if e.When != 0 {
		when = time.Unix(e.When, 0).UTC().Format(time.RFC3339)
	}
	return []string{kind, e.Project, e.Subject, e.Hash, when, e.By(), email, organization, e.ChangeID, e.URL}
}

// entryColumns name the columns of Entry.row.
var entryColumns = []string{
	"section", "project", "subject", "hash", "committed", "by", "email", "organization", "change_id", "url",
}

// withColumns is the head of a table of commits.
func withColumns(more ...string) []string {
	return append(append([]string{}, entryColumns...), more...)
}

// CSV writes one row for each commit.
func (n *News) CSV(w io.Writer) error {
	rows := [][]string{withColumns("same_as", "reason")}
	for _, p := range n.Projects {
		for _, e := range p.Commits {
			rows = append(rows, append(e.row("new"), "", ""))
		}
		for _, e := range p.LeftOut {
			rows = append(rows, append(e.row("left_out"), e.SameAs, string(e.Reason)))
		}
	}
	return writeTable(w, append(rows, failedRows(n.Failed, len(rows[0]))...))
}

// CSV writes one row for each reason of each commit.
func (b *Backports) CSV(w io.Writer) error {
	rows := [][]string{withColumns("reason", "because_of", "text", "dropped_by")}
	for _, p := range b.Projects {
		for _, m := range p.Missed {
			for _, r := range m.Reasons {
				because := r.Commit
				if r.Change != 0 {
					because = strconv.Itoa(r.Change)
				}
				rows = append(rows, append(m.row("missed"), r.Kind, because, r.Text, m.DroppedBy))
			}
		}
	}
	return writeTable(w, append(rows, failedRows(b.Failed, len(rows[0]))...))
}

// CSV writes one row for each commit and each first contribution.
func (n *Notes) CSV(w io.Writer) error {
	rows := [][]string{withColumns("group")}
	for _, g := range n.Groups {
		for _, e := range g.Entries {
			rows = append(rows, append(e.row("commit"), g.Name))
		}
	}
	for _, e := range n.Machines {
		rows = append(rows, append(e.row("machine"), ""))
	}
	for _, f := range n.First {
		rows = append(rows, append(f.Entry.row("first_contribution"), f.Name))
	}
	return writeTable(w, append(rows, failedRows(n.Failed, len(rows[0]))...))
}

// CSV writes one row for each figure, person and organization.
func (c *Comparison) CSV(w io.Writer) error {
	later, earlier := c.Releases[0], c.Releases[1]
	rows := [][]string{{"section", "name", "email", "organization", later.Ref, earlier.Ref}}
	number := func(name string, a, b int) {
		rows = append(rows, []string{"figure", name, "", "", strconv.Itoa(a), strconv.Itoa(b)})
	}
	number("projects", later.Projects, earlier.Projects)
	number("commits", later.Commits, earlier.Commits)
	number("machine_commits", later.MachineCommits, earlier.MachineCommits)
	number("picked_commits", later.Picked, earlier.Picked)
	number("people", later.People, earlier.People)
	number("organizations", later.Organizations, earlier.Organizations)
	number("newcomers", later.Newcomers, earlier.Newcomers)
	number("bus_factor", later.BusFactor, earlier.BusFactor)
	number("elephant_factor", later.ElephantFactor, earlier.ElephantFactor)
	number("unaffiliated_commits", later.UnaffiliatedCommits, earlier.UnaffiliatedCommits)
	for _, l := range c.lists() {
		for _, s := range l.shares {
			counts := []string{strconv.Itoa(s.Commits[0]), strconv.Itoa(s.Commits[1])}
			rows = append(
				rows,
				append([]string{l.name, s.Name, s.Email, s.Organization}, counts...),
			)
		}
	}
	return writeTable(w, append(rows, failedRows(c.Failed, len(rows[0]))...))
}
