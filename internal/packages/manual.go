package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// writeManuals writes the manual pages of all programs into dir: those of ctl by itself, those of the others from their
// help.
func writeManuals(bin, dir string) error {
	out, err := exec.Command(filepath.Join(bin, "ctl"), "man", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ctl man: %w: %s", err, out)
	}
	for _, p := range []string{"ctld", "idmtool", "ctl-lab"} {
		if err := writeManualPage(bin, dir, p); err != nil {
			return err
		}
	}
	return nil
}

// writeManualPage writes the page of a program, or of a command of it, and those of the commands below.
func writeManualPage(bin, dir string, words ...string) error {
	help, err := exec.Command(filepath.Join(bin, words[0]), append(words[1:len(words):len(words)], "--help")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%q --help: %w: %s", words, err, help)
	}
	p := parseHelp(string(help))
	name := strings.Join(words, "-")
	see := []string{"ctl (1)"}
	if len(words) > 1 {
		see = []string{strings.Join(words[:len(words)-1], "-") + " (1)"}
	}
	var below error
	for _, command := range p.commands {
		if command != "completion" && command != "help" {
			see = append(see, name+"-"+command+" (1)")
			below = errors.Join(
				below,
				writeManualPage(bin, dir, append(words[:len(words):len(words)], command)...),
			)
		}
	}
	return errors.Join(
		below,
		os.WriteFile(filepath.Join(dir, name+"."+manualSection(name)), p.formatRoff(name, see), 0o644),
	)
}

// manualSection is where the page of a program belongs: daemons in 8, commands in 1 (man-pages(7)).
func manualSection(name string) string {
	if name == "ctld" {
		return "8"
	}
	return "1"
}

// section is one of a manual page, in roff.
type section struct {
	title string
	text  strings.Builder
}

// parsed is the help of a program: its sections, and the commands that have a help of their own.
type parsed struct {
	sections []*section
	commands []string
}

// titles are the sections of a manual page by the titles of helps.
var titles = map[string]string{
	"Usage":              "SYNOPSIS",
	"Flags":              "OPTIONS",
	"Global Flags":       "GLOBAL OPTIONS",
	"Available Commands": "COMMANDS",
	"commands":           "COMMANDS",
	"Exit codes":         "EXIT STATUS",
	"Examples":           "EXAMPLES",
}

var (
	title  = regexp.MustCompile(`^([A-Za-z ]+):( .*|)$`)
	listed = regexp.MustCompile(`^ {2,8}(\S.*?)(?: {2,}(\S.*))?$`)
)

func parseHelp(help string) parsed {
	var p parsed
	in := p.sectionWithTitle("DESCRIPTION")
	own := false // whether the section has commands with helps of their own
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n ")
		usage, isUsage := strings.CutPrefix(line, "usage: ")
		t := title.FindStringSubmatch(line)
		e := listed.FindStringSubmatch(line)
		switch {
		case isUsage:
			fmt.Fprintf(&p.sectionWithTitle("SYNOPSIS").text, ".B %s\n", escapeRoff(usage))
		case t != nil && titles[t[1]] != "":
			in, own = p.sectionWithTitle(titles[t[1]]), t[1] == "Available Commands"
			in.text.WriteString(formatTextLine(strings.TrimSpace(t[2])))
		case line == "":
			if in.title == "DESCRIPTION" && in.text.Len() > 0 {
				in.text.WriteString(".PP\n")
			}
		case e != nil && in.title == "SYNOPSIS":
			fmt.Fprintf(&in.text, ".B %s\n.br\n", escapeRoff(e[1]))
		case e != nil && (in.title != "DESCRIPTION" || strings.HasPrefix(e[1], "-")):
			if strings.HasPrefix(e[1], "-") && in.title == "DESCRIPTION" {
				in = p.sectionWithTitle("OPTIONS")
			}
			if own {
				p.commands = append(p.commands, e[1])
			}
			fmt.Fprintf(&in.text, ".TP\n.B %s\n%s", escapeRoff(e[1]), formatTextLine(e[2]))
		default:
			in.text.WriteString(formatTextLine(strings.TrimSpace(line)))
		}
	}
	return p
}

// sectionWithTitle is that with a title, made where it is not there yet.
func (p *parsed) sectionWithTitle(title string) *section {
	for _, s := range p.sections {
		if s.title == title {
			return s
		}
	}
	s := &section{title: title}
	p.sections = append(p.sections, s)
	return s
}

func (p *parsed) formatRoff(name string, see []string) []byte {
	about := p.sectionWithTitle("DESCRIPTION").text.String()
	summary, _, _ := strings.Cut(strings.ReplaceAll(about, "\n", " "), ". ")
	summary = strings.TrimPrefix(
		strings.TrimSuffix(strings.TrimSpace(strings.TrimSuffix(summary, ".PP ")), "."),
		name+" ",
	)
	out := fmt.Sprintf(
		".TH %q %q \"\" \"ctl\" \"ctl\"\n.SH NAME\n%s \\- %s\n",
		strings.ToUpper(name),
		manualSection(name),
		escapeRoff(name),
		summary,
	)
	first := []*section{p.sectionWithTitle("SYNOPSIS"), p.sectionWithTitle("DESCRIPTION")}
	for _, s := range append(first, p.sections...) {
		if !strings.Contains(out, "\n.SH "+s.title+"\n") && s.text.Len() > 0 {
			out += ".SH " + s.title + "\n" + s.text.String()
		}
	}
	return []byte(out + ".SH SEE ALSO\n.BR " + strings.Join(see, " ,\n.BR ") + "\n")
}

// formatTextLine is a line of running text, if there is one.
func formatTextLine(line string) string {
	if line == "" {
		return ""
	}
	escaped := escapeRoff(line)
	if escaped[0] != '.' && escaped[0] != '\'' {
		return escaped + "\n"
	} else {
		return `\&` + escaped + "\n"
	}
}

func escapeRoff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
}
