package ctlclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"ctl.internal/internal/console"
)

// maxDesired bounds a file of ctl apply, in bytes.
const maxDesired = 16 << 20

func (o *options) applyCommand() *cobra.Command {
	var path string
	var check, prune bool
	var help strings.Builder
	for _, m := range listMembers() {
		fmt.Fprintf(&help, "  %-11s %s\n", m.name, m.help)
	}
	c := &cobra.Command{
		Use:   "apply -f FILE|DIR",
		Short: "bring the controller to what YAML files say",
		Args:  cobra.NoArgs,
		Long: "Shows what differs, then makes the changes, in the order of this table; applied again it changes nothing. What the files\n" +
			"do not name stays as it is. The controller checks everything, as it does for any other client.\n\n" + help.String() +
			"\nWith --check nothing is changed, and the exit code is 2 when something would be. With --prune the files are all there is to\n" +
			"be: topologies (but those of sources) and channels go when no file names them, where the files have that member at all. Features stay.",
		Example: "  ctl apply -f lab.yaml --check\n  ctl apply -f lab.d\n  ctl apply -f lab.d --prune --check",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return coded{console.Usage, errors.New("-f with the file or directory is required")}
			}
			desired, err := readDesired(path, o.std.In)
			if err != nil {
				return err
			}
			l, err := o.dialConsole(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			return applyDocuments(l, cmd.OutOrStdout(), desired, check, prune)
		},
	}
	c.Flags().StringVarP(
		&path,
		"file",
		"f",
		"",
		"file, directory of *.yaml, or - for standard input",
	)
	c.Flags().BoolVar(
		&check,
		"check",
		false,
		"only show what differs; exit code 2 when something does",
	)
	c.Flags().BoolVar(
		&prune,
		"prune",
		false,
		"remove the topologies and channels that no file names",
	)
	return c
}

// document is one YAML document and where it is from.
type document struct {
	place   string
	content map[string]any
}

func readDesired(path string, stdin io.Reader) ([]document, error) {
	files := []string{path}
	info, err := os.Stat(path)
	if path != "-" && err != nil {
		return nil, coded{console.NotFound, err}
	} else if err == nil && info.IsDir() {
		files = nil
		for _, pattern := range []string{"*.yaml", "*.yml"} {
			found, _ := filepath.Glob(filepath.Join(path, pattern)) // the pattern is well-formed
			files = append(files, found...)
		}
		if slices.Sort(files); len(files) == 0 {
			return nil, coded{console.NotFound, fmt.Errorf("%s has no file *.yaml", path)}
		}
	}
	var out []document
	for _, file := range files {
		text, err := readBounded(file, stdin)
		if err != nil {
			return nil, coded{console.NotFound, err}
		}
		dec := yaml.NewDecoder(bytes.NewReader(text))
		for {
			var node yaml.Node
			d := document{}
			err := dec.Decode(&node)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = node.Decode(&d.content)
			}
			if plan := memberNode(&node, memberPlan); err == nil && plan != nil {
				d.content[memberPlan], err = textOf(plan)
			}
			if err != nil {
				return nil, coded{console.Usage, fmt.Errorf(
					"%s: %s",
					file,
					strings.TrimPrefix(err.Error(), "yaml: "),
				)}
			}
			d.place = fmt.Sprintf("%s:%d", file, node.Line)
			out = append(out, d)
		}
	}
	return out, nil
}

func readBounded(file string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxDesired+1))
	if err == nil && len(b) > maxDesired {
		err = fmt.Errorf("%s is larger than %d MiB", file, maxDesired>>20)
	}
	return b, err
}

// applyDocuments shows and makes the changes, member by member: what one brings the next may need.
func applyDocuments(l *link, out io.Writer, desired []document, check, prune bool) error {
	all := listMembers()
	for _, d := range desired {
		for name := range d.content {
			if !slices.ContainsFunc(all, func(m member) bool { return m.name == name }) {
				return coded{console.Usage, fmt.Errorf(
					"%s: there is no member %q; ctl apply --help lists them",
					d.place,
					name,
				)}
			}
		}
	}
	changed, waits := 0, ""
	// step shows changes, and makes them.
	step := func(changes []change) error {
		for _, c := range changes {
			changed++
			fmt.Fprintln(out, console.Printable(c.what))
			for _, line := range c.diff {
				fmt.Fprintln(out, "    "+console.Printable(line))
			}
		}
		for _, c := range changes {
			if check || c.words == nil {
				continue
			}
			if _, err := l.callCommand(bytes.NewReader(c.body), c.words...); err != nil {
				return err
			}
		}
		return nil
	}
	for _, m := range all {
		for _, d := range desired {
			value, given := d.content[m.name]
			if !given {
				continue
			}
			changes, err := m.changes(l, value)
			if err != nil &&
				check &&
				changed > 0 { // features that are not there yet bring what this needs
				waits += fmt.Sprintf(
					"? %s: seen when the changes above are made (%v)\n",
					m.name,
					err,
				)
				continue
			}
			if err != nil {
				return errorAt(d.place+": "+m.name, err)
			}
			if err := step(changes); err != nil {
				return errorAt(d.place+": "+m.name, err)
			}
		}
	}
	for _, m := range slices.Backward(all) { // channels go before their topologies
		if !prune || m.others == nil {
			continue
		}
		var values []any
		for _, d := range desired {
			if value, given := d.content[m.name]; given {
				values = append(values, value)
			}
		}
		if values == nil {
			continue
		}
		changes, err := m.others(l, values)
		if err == nil {
			err = step(changes)
		}
		if err != nil {
			return errorAt("removing "+m.name, err)
		}
	}
	fmt.Fprint(out, waits)
	switch {
	case changed == 0:
		fmt.Fprintln(out, "nothing to change")
	case check:
		fmt.Fprintf(out, "changes that would be made: %d\n", changed)
		return exitError(console.Usage)
	default:
		fmt.Fprintf(out, "changes made: %d\n", changed)
	}
	return nil
}

// errorAt names the place of an error and keeps its code.
func errorAt(place string, err error) error {
	var c coded
	if errors.As(err, &c) {
		return coded{c.code, fmt.Errorf("%s: %w", place, c.err)}
	}
	return coded{console.Failed, fmt.Errorf("%s: %w", place, err)}
}
