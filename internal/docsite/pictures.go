package main

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"ctl.internal/test/harness"
)

// shot is a picture of the console: lines as they are typed, with what the program answers.
type shot struct {
	name  string
	lines []string
}

var shots = []shot{
	{"console", []string{"plugin:list", "switch:edges", "bundle:list"}},
	{"first-network", []string{"switch:TopoDiscover", "switch:PrintDB | cut -f 1,2,7,9", "switch:edges"}},
	{"log", []string{"log:display -n 6 --plugin switch"}},
	{"driver", []string{"switch:drivers", "switch:PrintDB | cut -f 1,2,7,8"}},
	{"bier", []string{"bier:topo-list", "bier:driver-list"}},
}

// drawPictures draws the console, and the map of the web page with a browser where there is one, from a
// controller with a simulated lab.
func drawPictures(bin, dir string) error {
	c, err := startController(bin)
	if err != nil {
		return err
	}
	defer c.stop()
	list := filepath.Join(filepath.Dir(c.Home), "switches.csv")
	lab, err := harness.Launch("ready", exec.Command(filepath.Join(c.bin, "ctl-lab"), "--topology", "ring:8,tree:3x2", "--csv", list,
		"--control", filepath.Join(filepath.Dir(c.Home), "lab.sock")))
	if err != nil {
		return err
	}
	defer lab.Stop()
	for _, line := range []string{"feature:install ctl-switch-all ctl-bier-all ctl-aaa-cli", "switch:ReadDB " + list, "switch:TopoDiscover"} {
		if _, err := c.runCtl(line); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := drawFlows(dir); err != nil {
		return err
	}
	for _, s := range shots {
		var screen strings.Builder
		for _, line := range s.lines {
			out, err := c.runTyped(line)
			if err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
			fmt.Fprintf(&screen, "admin@ctl> %s\n%s", line, out)
		}
		err := os.WriteFile(
			filepath.Join(dir, s.name+".svg"),
			[]byte(renderSVG(screen.String())),
			0o644,
		)
		if err != nil {
			return err
		}
	}
	return c.takeWebPictures(dir)
}

// columns of the terminal in the pictures.
const columns = 110

// runTyped runs a line in a terminal; that it fails is part of the picture.
func (c *controller) runTyped(line string) (string, error) {
	cmd := exec.CommandContext(
		c.ctx,
		"script",
		"-qec",
		fmt.Sprintf(
			"stty cols %d; %s --home %s %s",
			columns,
			shellQuote(filepath.Join(c.bin, "ctl")),
			shellQuote(c.Home),
			shellQuote(line),
		),
		"/dev/null",
	)
	out, err := cmd.Output()
	if len(out) == 0 && err != nil {
		return "", err
	}
	lines := strings.Split(strings.ReplaceAll(string(out), "\r\n", "\n"), "\n")
	for i, line := range lines { // what a status line showed before it was taken away is not seen
		if at := strings.LastIndex(line, erase); at >= 0 {
			line = line[at+len(erase):]
		}
		lines[i] = strings.ReplaceAll(line, "\t", "   ")
	}
	return strings.Join(lines, "\n"), nil
}

// erase clears the line that the cursor is in.
const erase = "\r\x1b[K"

func shellQuote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)[a-zA-Z]")

// renderSVG draws a screen: one text element a line, colours as classes.
func renderSVG(screen string) string {
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	const wide, high = 8.4, 19
	var b strings.Builder
	fmt.Fprintf(
		&b,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" role="img" font-family="ui-monospace,DejaVu Sans Mono,monospace" font-size="14">`+"\n",
		columns*wide+24,
		len(lines)*high+24,
	)
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#14181d"/>` + "\n")
	for i, line := range lines {
		colour := "#d7dde4"
		if strings.HasPrefix(line, "admin@ctl> ") {
			colour = "#7ee787"
		}
		if m := sgr.FindStringSubmatch(line); m != nil {
			c, ok := map[string]string{
				"31": "#ff7b72",
				"33": "#e3b341",
				"2":  "#8b949e",
			}[m[1]]
			if ok {
				colour = c
			}
		}
		line = sgr.ReplaceAllString(line, "")
		if line == "" {
			continue
		}
		fmt.Fprintf(
			&b,
			`<text x="12" y="%d" fill="%s" xml:space="preserve" textLength="%.1f">%s</text>`+"\n",
			26+i*high,
			colour,
			float64(len([]rune(line)))*wide,
			html.EscapeString(line),
		)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// takeWebPictures takes pictures of the web pages with a Chromium, when there is one.
func (c *controller) takeWebPictures(dir string) error {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		fmt.Println("no chromium here: the pictures of the web pages stay as they are")
		return nil
	}
	// A program of its own: what drives a browser takes longer to compile than all of this.
	cmd := exec.CommandContext(
		c.ctx,
		"go",
		"run",
		"./internal/docsite/webpictures",
		browser,
		"http://"+c.HTTP,
		dir,
	)
	cmd.WaitDelay = 10 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
