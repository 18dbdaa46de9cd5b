package service

import (
	"cmp"
	"context"
	"net/url"
	"sync"

	"ctl.internal/plugins/repoinfo/report"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// sections that repoinfo:report can show, by the names of the HTTP paths.
var sections = map[string][]string{
	"projects":      {report.Projects},
	"authors":       {report.Authors},
	"organizations": {report.Organizations},
	"timeline":      {report.TimelineOf},
	"contributors":  {report.Contributing},
	"activity":      {report.ActivityOf, report.Zones},
	"files":         {report.Files},
}

// reportCommand is repoinfo:report: what happened between two references, or in a time.
func (s *Service) reportCommand() commands.Command {
	return commands.Command{
		Name:    "repoinfo:report",
		Summary: "Sum up the commits of REF1 since REF2, or of a time",
		Help: "Counts commits, lines, authors, organizations and time zones of REF1 down to the common parent of REF1 and REF2, or of a branch, in all projects or in those named. " +
			"Lines of merges are left out unless --merge-lines is given. Lines Co-Authored-By: and Also-By: count for their authors and organizations too. " +
			"Projects that cannot be compared are listed, with the reason; when none can, the command fails.\n" +
			"Example: repoinfo:report stable/boron stable/beryllium --project netconf,mdsal --format json\n" +
			"Example: repoinfo:report --since 2016-01-01 --until 2016-12-31 --show timeline,authors --form csv",
		Arguments: []commands.Argument{
			{
				Name: "ref1",
				Help: "branch, tag or hash to report on",
			},
			{
				Name: "ref2",
				Help: "branch, tag or hash to compare with",
			},
		},
		Options: []commands.Option{
			{
				Name:     "project",
				Short:    "p",
				Help:     "projects, separated by commas; all when absent",
				Complete: s.completeProjects,
			},
			{
				Name: "branch",
				Help: "instead of REF1 and REF2; each project's default when absent",
			},
			{
				Name: "since",
				Help: "committed not before this day (UTC) or time",
			},
			{
				Name: "until",
				Help: "committed not after this day (UTC) or time",
			},
			{
				Name:   "interval",
				Help:   "of the timeline: day, week, month, quarter, year or release",
				Values: report.Intervals,
			},
			{
				Name: "author",
				Help: "name or address as the report shows it",
			},
			{
				Name: "organization",
				Help: "as the report shows it",
			},
			{
				Name:   "new",
				Help:   "who is new: not in the whole history before, or not in the selection",
				Values: []string{report.NewInHistory, report.NewInSelection},
			},
			{
				Name: "machines",
				Help: "patterns of names and addresses of programs, separated by commas; none: everybody is a person",
			},
			{
				Name:   "picks",
				Help:   "false: without the commits that REF2 has, be it under another hash",
				Values: []string{"true", "false"},
			},
			{
				Name: "show",
				Help: "some of projects, authors, organizations, contributors, timeline, activity, files",
			},
			{
				Name: "top",
				Help: "entries of each list; all when absent",
			},
			{
				Name: "merge-lines",
				Type: commands.Bool,
				Help: "count the lines of merges too",
			},
			{
				Name:   "form",
				Help:   "text, csv or html",
				Values: []string{"text", "csv", "html"},
			},
		},
		Safe: true,
		Run:  s.showSummary,
	}
}

// reportRequest reads the arguments, by the rules of the HTTP parameters.
func (s *Service) reportRequest(in *commands.Invocation) (q report.Request, err error) {
	values := url.Values{}
	for _, name := range []string{"ref1", "ref2", "project", "branch", "since", "until", "interval", "author", "organization", "new", "machines", "picks"} {
		if v := cmp.Or(in.Arg(name), in.Option(name)); v != "" {
			values.Set(name, v)
		}
	}
	if in.Flag("merge-lines") {
		values.Set("merge_lines", "true")
	}
	var show []string
	for name := range splitWords(in.Option("show")) {
		if sections[name] == nil {
			return q, fault.New(fault.Invalid, "--show %s is not a section", name)
		}
		show = append(show, sections[name]...)
	}
	if show == nil {
		show = []string{report.Projects, report.Authors, report.Organizations, report.Zones}
	}
	if q, err = s.api.Request(values, show); err != nil {
		return q, err
	}
	q.Limit, err = parseNumber(in.Option("top"))
	return q, err
}

func (s *Service) showSummary(ctx context.Context, in *commands.Invocation) error {
	q, err := s.reportRequest(in)
	if err != nil {
		return err
	}
	show, stop := showProgress(in)
	r, err := s.api.Report(ctx, q, askedBy(in), show)
	stop()
	if err != nil {
		return err
	}
	switch in.Option("form") {
	case "csv":
		return r.CSV(in.Stdout)
	case "html":
		return r.HTML(in.Stdout)
	}
	return in.Emit(r, r.Text)
}

// askedBy is who runs a command.
func askedBy(in *commands.Invocation) string {
	return in.Caller.User + "@" + in.Caller.Domain
}

// showProgress returns a function that shows how far a job is, until stop is called: the job may go on for others.
func showProgress(in *commands.Invocation) (show func(done, total int), stop func()) {
	var mu sync.Mutex
	stopped := false
	show = func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if !stopped {
			in.Progress(commands.Progress{
				Text:  "comparing",
				Done:  int64(done),
				Total: int64(total),
			})
		}
	}
	return show, func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		in.Progress(commands.Progress{})
	}
}
