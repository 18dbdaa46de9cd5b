package service

import (
	"encoding/xml"
	"fmt"
	"strings"

	"ctl.internal/plugins/lab/intent"
	"ctl.internal/sdk/commands"
)

// writeReport writes what a comparison found: a table and a sum, JSON, or JUnit.
func writeReport(in *commands.Invocation, file string, lab *intent.Lab, out *checkOutput) error {
	if in.Flag("junit") {
		text, err := formatJUnit(file, lab, out)
		if err != nil {
			return err
		}
		in.Printf("%s", text)
		return nil
	}
	return in.Emit(out, func() string { return formatText(out) })
}

// formatText is a line for each finding, and the sum.
func formatText(out *checkOutput) string {
	var b strings.Builder
	for _, n := range out.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	for _, f := range out.Finding {
		at := ""
		if f.Line > 0 {
			at = fmt.Sprintf("line %d: ", f.Line)
		}
		fmt.Fprintf(&b, "%s%s: %s: %s\n", at, f.Kind, f.Subject, f.Text)
	}
	fmt.Fprintf(&b, "%d of %d links are right", out.Right, out.Links)
	if out.Outside > 0 {
		fmt.Fprintf(&b, "; %d cables lead out of the lab", out.Outside)
	}
	b.WriteString("\n")
	return b.String()
}

// junitSuite is the report that tools of continuous integration read.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// formatJUnit makes a case of each link that is right and of each finding.
func formatJUnit(file string, lab *intent.Lab, out *checkOutput) ([]byte, error) {
	suite := junitSuite{Name: file}
	if lab.Name != "" {
		suite.Name = lab.Name
	}
	for _, l := range out.right {
		suite.Cases = append(suite.Cases, junitCase{
			Class: "link",
			Name:  l.String(),
		})
	}
	for _, f := range out.Finding {
		class, _, _ := strings.Cut(string(f.Kind), "-")
		suite.Cases = append(suite.Cases, junitCase{
			Class: class,
			Name:  f.Subject,
			Failure: &junitFailure{
				Type:    string(f.Kind),
				Message: f.Text,
				Text:    strings.Join(append(f.Intended, f.Found...), "\n"),
			},
		})
	}
	suite.Tests = len(suite.Cases)
	suite.Failures = len(out.Finding)
	text, err := xml.MarshalIndent(suite, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}
