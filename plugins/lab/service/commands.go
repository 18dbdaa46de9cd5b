package service

import (
	"context"
	"path/filepath"
	"time"

	"ctl.internal/plugins/lab/intent"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// Commands describes the console's commands of labs.
func Commands() []commands.Command {
	return (&Service{}).commandTable()
}

// commandTable is the table of commands; those of the zero Service describe themselves only.
func (s *Service) commandTable() []commands.Command {
	topology := commands.Option{
		Name: "topology",
		Help: "topology-id; all when absent",
	}
	return []commands.Command{
		{
			Name:    "lab:check",
			Summary: "Compare a lab, as a file says it, with the network",
			Safe:    true,
			Run:     s.runCheck,
			Help: "Reads a file that says which devices, cables and VLANs shall be there, and says what is not so: cables\n" +
				"missing, swapped, at a wrong port, more than intended, with a wrong speed, reported by one end only; devices\n" +
				"missing, silent, or another one at an address; VLANs that do not lead from port to port.\n" +
				"The file is lab.yaml, a topology of containerlab or netlab, or NetBox's list of cables in CSV:\n\n" +
				"  devices:\n    sw1: {address: 127.0.0.1}\n    sw2: {}\n  links:\n  - sw1:1 -- sw2:1\n" +
				"  - {a: 'sw1:2', b: 'sw2:2', speed: 1G, optional: true}\n  vlans:\n  - {id: 100, ports: ['sw1:5', 'sw2:5']}\n\n" +
				"A relative path is below the controller's home; - reads standard input. The command fails when something is\n" +
				"not as it shall be, so a job can wait for its bench: lab:check --wait 5m bench.yaml",
			Arguments: []commands.Argument{{
				Name:     "file",
				Help:     "the file, or -",
				Type:     commands.File,
				Required: true,
				Complete: commands.Files(s.home, ".yaml", ".yml", ".csv"),
			}},
			Options: []commands.Option{
				{
					Name:   "form",
					Help:   "form of the file; absent: found by its members",
					Values: []string{"lab", "containerlab", "netlab", "netbox"},
				},
				{
					Name: "wait",
					Help: "try again for so long, until all is as it shall be, for example 5m",
				},
				{
					Name: "junit",
					Help: "write a report of JUnit, in which each link is a test",
					Type: commands.Bool,
				},
				topology,
			},
		},
		{
			Name:    "lab:export",
			Summary: "Write the network that is found as a file",
			Safe:    true,
			Run:     s.runExport,
			Help: "Writes devices and cables as they are now. Inferred links are left out.\n\n" +
				"Example: lab:export --form mermaid",
			Options: []commands.Option{
				{
					Name:    "form",
					Help:    "form of the file",
					Default: "lab",
					Values:  []string{"lab", "containerlab", "netlab", "netbox", "graphviz", "mermaid"},
				},
				topology,
			},
		},
	}
}

// checkPause is how long lab:check --wait leaves the network alone between two comparisons.
const checkPause = time.Second

// maxWait is the longest time that lab:check waits.
const maxWait = 24 * time.Hour

func (s *Service) runCheck(ctx context.Context, in *commands.Invocation) error {
	text, err := in.ReadFile(s.home, in.Arg("file"), intent.MaxSize)
	if err != nil {
		return err
	}
	name := filepath.Base(in.Arg("file")) // the console may have sent its content, so the directory says nothing
	lab, _, err := intent.Read(text, intent.Form(in.Option("form")))
	if err != nil {
		return nameFile(name, err)
	}
	wait, err := parseWait(in.Option("wait"))
	if err != nil {
		return err
	}
	end := time.Now().Add(wait)
	out, err := waiter{
		compare:  func() (*checkOutput, error) { return s.compare(ctx, lab, in.Option("topology")) },
		over:     func() bool { return time.Now().After(end) },
		progress: in.Progress,
		pause:    func() { host.Pause(ctx, checkPause) },
	}.untilCorrect(ctx)
	if err != nil {
		return err
	}
	if err := writeReport(in, name, lab, out); err != nil {
		return err
	}
	if !out.Correct {
		return fault.New(fault.Downstream, "%d of %d links of %s are as they shall be; %d findings",
			out.Right, out.Links, name, len(out.Finding))
	}
	return nil
}

// waiter compares until all is as it shall be, or the time is over; the last result counts.
type waiter struct {
	compare  func() (*checkOutput, error)
	over     func() bool
	progress func(commands.Progress)
	pause    func()
}

// untilCorrect goes on while a source does not answer, too: it may just be starting.
func (w waiter) untilCorrect(ctx context.Context) (*checkOutput, error) {
	for {
		out, err := w.compare()
		kind := fault.KindOf(err)
		mayPass := err == nil || kind == fault.Unavailable || kind == fault.Timeout
		switch {
		case !mayPass || w.over():
			return out, err
		case err != nil:
			w.progress(commands.Progress{Text: err.Error()})
		case out.Correct:
			return out, nil
		default:
			w.progress(commands.Progress{
				Text:  "links that are as they shall be",
				Done:  int64(out.Right),
				Total: int64(out.Links),
			})
		}
		w.pause()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

func parseWait(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 || wait > maxWait {
		return 0, fault.New(fault.Invalid, "--wait %q: write a time up to 24h, for example 90s or 5m", text)
	}
	return wait, nil
}

func (s *Service) runExport(ctx context.Context, in *commands.Invocation) error {
	out, err := s.export(ctx, exportInput{
		Form:       intent.Form(in.Option("form")),
		TopologyID: in.Option("topology"),
	})
	if err != nil {
		return err
	}
	return in.Emit(out, func() string { return out.Document })
}

// nameFile names the file in each fault.
func nameFile(name string, err error) error {
	var list fault.List
	for _, f := range fault.All(err) {
		list = append(list, fault.New(f.Kind, "%s: %v", name, f))
	}
	return append(list, fault.New(fault.Invalid, "help lab:check shows the form"))
}
